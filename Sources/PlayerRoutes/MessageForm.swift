import PlayerMessages

/// The name of a request's shape in the log and the metrics.
package enum MessageForm: String, CaseIterable, Sendable {
    case raw
    case base64
    case form
    case multipart
    case json
    case getFairplayLicense = "get_fairplay_license"
    case keyArray = "key_array"
    case streamingKeys = "streaming_keys"
    /// The request was refused before its body was read, or its body has no known shape.
    case unread

    init(_ shape: RequestShape) {
        self =
            switch shape {
            case .raw: .raw
            case .base64: .base64
            case .form: .form
            case .multipart: .multipart
            case .object: .json
            case .getFairplayLicense: .getFairplayLicense
            case .keyArray: .keyArray
            case .streamingKeys: .streamingKeys
            }
    }
}
