/// What a content key decrypts, as far as policy tells kinds apart (protocol, section 4.6). The raw values are stored,
/// and never change.
package enum ContentType: String, Hashable, Sendable, CaseIterable {
    case audio
    case sd
    case hd
    case uhd

    /// The well-known label that means this type.
    package var label: TrackLabel {
        switch self {
        case .audio: .audio
        case .sd: .sd
        case .hd: .hd
        case .uhd: .uhd
        }
    }
}

extension TrackLabel {
    /// The type that a well-known label means; nil for the packager's own. Case matters: "hd" is a label of somebody's
    /// own.
    package var contentType: ContentType? {
        ContentType.allCases.first { $0.label == self }
    }
}
