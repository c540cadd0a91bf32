package import ByteCoding

/// A player's request for licenses for one or more SPCs.
///
/// Only its form was read. The SPCs are not checked yet; `FairPlay` does that.
package struct PlayerRequest: Sendable {
    /// How many SPCs a request may have. A film has about six keys; Apple's own clients send up to eight.
    package static let keyCountMaximum = 16

    /// The size of the longest name of an SPC, in bytes of UTF-8. It keeps an answer from being much larger than its
    /// request. Players send ids of 16 to 36 bytes in Base64.
    package static let labelSizeMaximum = 1024

    package let shape: RequestShape
    /// The SPCs in the order of the request. There is at least one. Only shapes with a result for each key have
    /// several.
    package let keys: [RequestedKey]
    /// A token in the body; some players put it there.
    package let token: String?
    /// Whether a part of a form has no name. Players that send such a form accept only bare Base64.
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

/// One SPC, and the name by which the player recognizes its result.
package struct RequestedKey: Sendable {
    package let spc: [UInt8]
    /// The name of the asset in the body. Only the asset id within the SPC decides.
    package let assetHint: String?
    /// The name of the SPC as the player wrote it, which the result repeats unchanged; nil in shapes without such a
    /// name.
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

/// The content of a body that was posted to a license path.
package enum PlayerMessage: Sendable {
    case request(PlayerRequest)
    /// A property list of expired sessions ("secure stop"; clients, section 4d): binary, or XML.
    case sessionReport([UInt8])
}

/// The form in which a player sends its SPCs (clients, sections 1 and 2).
///
/// Only the body decides, because players send raw SPCs, forms and JSON with a wrong `Content-Type`.
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

    /// The name in the log and in metrics. The list of names is closed, so a client cannot add labels to the metrics.
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

    /// All names, so that the metrics exist before the first request.
    package static let names = [
        "raw", "base64", "form", "multipart", "json", "get_fairplay_license", "key_array", "streaming_keys",
    ]
}
