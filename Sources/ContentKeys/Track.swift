/// The tracks of its content that a key is for, and the content type that decides its policy.
///
/// The labels AUDIO, SD, HD and UHD determine the type. A packager's own label needs an explicit type, because the
/// label does not determine one. A key without a label serves every track. Its type is SD unless another one is given.
/// Every key therefore has a type, and the type never contradicts the label.
package struct Track: Hashable, Sendable {
    /// The label; nil for a key that serves every track of its content.
    package let label: TrackLabel?
    package let contentType: ContentType

    /// Every track, with the policy of SD.
    package static let unlabelled = Track(checked: nil, .sd)

    /// The tracks with this type's well-known label.
    package init(_ contentType: ContentType) {
        self.init(checked: contentType.label, contentType)
    }

    /// Makes a track. `contentType` is the explicitly given type, which may repeat the type of the label. Throws
    /// `contentTypeMissing` and `contentTypeContradicted`.
    package init(label: TrackLabel?, contentType: ContentType? = nil) throws(TrackError) {
        guard let label else {
            self.init(checked: nil, contentType ?? .sd)
            return
        }
        let meant = label.contentType
        if let meant, let contentType, meant != contentType { throw .contentTypeContradicted(by: meant) }
        guard let type = meant ?? contentType else { throw .contentTypeMissing }
        self.init(checked: label, type)
    }

    private init(checked label: TrackLabel?, _ contentType: ContentType) {
        self.label = label
        self.contentType = contentType
    }

    /// The labels by which a policy can name these tracks: their own, and the well-known label of their type.
    package var policyLabels: [String] {
        let general = contentType.label
        guard let label, label != general else { return [general.text] }
        return [label.text, general.text]
    }
}

/// The reason why a label and a content type do not make a track.
package enum TrackError: Error, Equatable, Sendable {
    /// A packager's own label needs an explicit type.
    case contentTypeMissing
    /// The label is a well-known one of this other type.
    case contentTypeContradicted(by: ContentType)
}

/// The kind of track that a content key is for: a well-known label, or the packager's own.
///
/// A label has 1 to 64 printable ASCII characters without space, and is case-sensitive. A key without a label has no
/// `TrackLabel`.
package struct TrackLabel: Hashable, Sendable {
    /// The sizes of a label, in bytes.
    package static let sizes = 1...64

    package static let audio = TrackLabel(wellKnown: "AUDIO")
    package static let sd = TrackLabel(wellKnown: "SD")
    package static let hd = TrackLabel(wellKnown: "HD")
    package static let uhd = TrackLabel(wellKnown: "UHD")

    /// The label's characters.
    package let text: String

    /// Throws `sizeOutOfRange` or `invalidCharacter` if the text is not a label.
    package init(_ text: String) throws(IdentifierError) {
        try PrintableASCII.check(text.utf8, size: text.utf8.count, in: Self.sizes)
        self.text = text
    }

    private init(wellKnown text: StaticString) {
        self.text = text.description
    }
}

extension TrackLabel: CustomStringConvertible {
    package var description: String { text }
}

/// The kind of content that a key decrypts, as policies distinguish it (protocol, section 4.6). The raw values are
/// stored, and never change.
package enum ContentType: String, Hashable, Sendable, CaseIterable {
    case audio
    case sd
    case hd
    case uhd

    /// The well-known label of this type.
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
    /// The type of a well-known label; nil for a packager's own label. Labels are case-sensitive: "hd" is a packager's
    /// own label.
    package var contentType: ContentType? {
        ContentType.allCases.first { $0.label == self }
    }
}
