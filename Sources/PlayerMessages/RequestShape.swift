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
