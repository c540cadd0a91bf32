package import ByteCoding

/// What a player asks in one request: licences for one or more SPCs.
///
/// Only the form was read. Each SPC is what the player sent as one, and `FairPlay` decides whether it is one.
package struct PlayerRequest: Sendable {
    /// The most SPCs in one request. A film has about six keys; Apple's own clients send up to eight.
    package static let keyCountMaximum = 16

    /// The largest name of an SPC in bytes of UTF-8, so that an answer is not much larger than its request. Players
    /// send ids of 16 to 36 bytes in Base64.
    package static let labelSizeMaximum = 1024

    package let shape: RequestShape
    /// In the order of the request; at least one. More than one only in shapes with a result for each key.
    package let keys: [RequestedKey]
    /// A token within the body, where some players put it.
    package let token: String?
    /// Whether a part of a form has no name. Players that send such a form take bare Base64 alone.
    package let hasUnnamedPart: Bool

    package init(
        shape: RequestShape, keys: [RequestedKey], token: String? = nil, hasUnnamedPart: Bool = false
    ) {
        self.shape = shape
        self.keys = keys
        self.token = token
        self.hasUnnamedPart = hasUnnamedPart
    }
}

/// One SPC, and the name by which the player knows its result.
package struct RequestedKey: Sendable {
    package let spc: [UInt8]
    /// What the body calls the asset beside the SPC. The asset id within the SPC decides.
    package let assetHint: String?
    /// As the player wrote it; its result repeats it unchanged. Nil in shapes with one SPC and no name for it.
    package let label: JSONNode?
    /// Apple's member `offline`: whether the player wants to keep this key.
    package let isOffline: Bool

    package init(spc: [UInt8], assetHint: String? = nil, label: JSONNode? = nil, isOffline: Bool = false) {
        self.spc = spc
        self.assetHint = assetHint
        self.label = label
        self.isOffline = isOffline
    }
}

/// What the body of a request for licences is.
package enum PlayerMessage: Sendable {
    case request(PlayerRequest)
    /// A property list of expired sessions ("secure stop"; clients, section 4d): binary, or XML.
    case sessionReport([UInt8])
}

/// The form in which a player sends its SPCs (clients, sections 1 and 2).
///
/// The body alone decides, because players send raw SPCs, forms and JSON under one another's `Content-Type`.
package enum RequestShape: Equatable, Sendable {
    /// The bytes of one SPC.
    case raw
    /// The Base64 text of one SPC, and nothing else.
    case base64
    /// `spc=…&assetId=…`, with any of the encodings in use.
    case form
    /// `multipart/form-data` with a part named `spc`.
    case multipart
    /// A JSON object with one of these members.
    case object(ObjectMember)
    /// `{"getFairplayLicense": {"spcMessage": …}}`.
    case getFairplayLicense
    /// The message of browsers for the init data type `cenc`: `[{"keyID": …, "payload": …}]`.
    case keyArray
    /// Apple's `{"fairplay-streaming-request": {"streaming-keys": […]}}`.
    case streamingKeys

    /// The member of a JSON object that has the SPC.
    package enum ObjectMember: String, CaseIterable, Sendable {
        case spc
        case spcMessage
        case capitalSpcMessage = "SpcMessage"
        case spcData
        case payload
        case licenseChallenge
        case serverPlaybackContext = "server_playback_context"
    }

    /// The name in the log and in metrics. There are few, and a client can make no new ones.
    package var name: String {
        switch self {
        case .raw: "raw"
        case .base64: "base64"
        case .form: "form"
        case .multipart: "multipart"
        case .object: "json"
        case .getFairplayLicense: "get_fairplay_license"
        case .keyArray: "key_array"
        case .streamingKeys: "streaming_keys"
        }
    }

    /// All names, for metrics that exist before the first request.
    package static let names = [
        "raw", "base64", "form", "multipart", "json", "get_fairplay_license", "key_array", "streaming_keys",
    ]
}
