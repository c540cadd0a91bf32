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
    /// The type that a well-known label means; nil for a packager's own label. Case matters: "hd" is such an
    /// own label.
    package var contentType: ContentType? {
        ContentType.allCases.first { $0.label == self }
    }
}
