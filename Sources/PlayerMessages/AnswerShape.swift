/// The shape in which an app wants its licenses (clients, section 2). The list is closed: every known player accepts
/// one of these shapes.
package enum AnswerShape: Equatable, Sendable {
    /// The bytes of the CKC.
    case raw
    /// The Base64 of the CKC, without a line end. react-native-video up to 6.4 accepts nothing else.
    case base64
    /// `<ckc>…</ckc>` around the Base64 of the CKC.
    case ckc
    /// `{"ckc": …}` with all facts about the license.
    case json
    /// `{"ckc": …, "persistence_duration": seconds}`, as Kaltura's players read it.
    case kaltura
    /// `{"CkcMessage": …, "sessionToken": …}` with all facts about the license.
    case nagra
    /// The object that belongs to a request object with this member.
    case object(RequestShape.ObjectMember)
    /// `{"getFairplayLicenseResponse": {"ckcResponse": …}}`.
    case getFairplayLicense
    /// `[{"keyID": …, "payload": …}]`, with `error` in place of `payload` for a key that is refused.
    case keyArray
    /// `{"fairplay-streaming-response": {"streaming-keys": […]}}`, with a status for each key.
    case streamingKeys

    /// Returns the shape with this name; nil for an unknown name. The other shapes have no names, because they only
    /// answer requests of their own shape.
    package init?(named name: String) {
        switch name {
        case "raw": self = .raw
        case "base64": self = .base64
        case "ckc": self = .ckc
        case "json": self = .json
        case "kaltura": self = .kaltura
        case "nagra": self = .nagra
        default: return nil  // The name is unknown.
        }
    }

    /// The names, in the order in which documents list them.
    package static let names = ["raw", "base64", "ckc", "json", "kaltura", "nagra"]

    /// The default shape of the answer to a request of this shape.
    package init(mirroring request: RequestShape) {
        switch request {
        case .raw: self = .raw
        case .base64: self = .kaltura
        case .form, .multipart: self = .ckc
        // Brightcove's apps send JSON and expect the bytes of the CKC.
        case .object(.serverPlaybackContext): self = .raw
        case .object(let member): self = .object(member)
        case .getFairplayLicense: self = .getFairplayLicense
        case .keyArray: self = .keyArray
        case .streamingKeys: self = .streamingKeys
        }
    }

    /// Whether the shape has a result for each of several keys. Then the HTTP status says nothing about a key: it is
    /// 200 even if all keys are refused.
    package var hasResultForEachKey: Bool {
        switch self {
        case .keyArray, .streamingKeys: true
        case .raw, .base64, .ckc, .json, .kaltura, .nagra, .object, .getFairplayLicense: false
        }
    }

    /// The `Content-Type` of an answer with a license.
    package var contentType: String {
        switch self {
        case .base64, .ckc: "text/plain; charset=utf-8"
        case .raw, .json, .kaltura, .nagra, .object, .getFairplayLicense, .keyArray, .streamingKeys: mediaType
        }
    }

    /// The type of an answer with a license, without parameters.
    var mediaType: String {
        switch self {
        case .raw: "application/octet-stream"
        case .base64, .ckc: "text/plain"
        case .json, .kaltura, .nagra, .object, .getFairplayLicense, .keyArray, .streamingKeys: "application/json"
        }
    }
}
