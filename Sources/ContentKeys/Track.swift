/// Which tracks of its content a key is for, and the content type whose policy that means.
///
/// AUDIO, SD, HD and UHD mean their type. A packager's own label comes with a type, because it cannot be guessed. A
/// key without a label serves every track, and has SD's policy unless it says otherwise. So every key has a type, and
/// no label is contradicted.
package struct Track: Hashable, Sendable {
    /// Nil for a key that serves every track of its content.
    package let label: TrackLabel?
    package let contentType: ContentType

    /// Every track, with SD's policy.
    package static let unlabelled = Track(checked: nil, .sd)

    /// The tracks with this type's well-known label.
    package init(_ contentType: ContentType) {
        self.init(checked: contentType.label, contentType)
    }

    /// `contentType` is the type that was given explicitly; it may repeat what the label means. Throws
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

    /// The labels under which a policy may speak of these tracks: their own, and the one that means their type.
    package var policyLabels: [TrackLabel] {
        guard let label, label != contentType.label else { return [contentType.label] }
        return [label, contentType.label]
    }
}

/// Why a label and a content type make no track.
package enum TrackError: Error, Equatable, Sendable {
    /// A packager's own label says nothing of the type.
    case contentTypeMissing
    /// The label is a well-known one and means this other type.
    case contentTypeContradicted(by: ContentType)
}

/// The kind of track that a content key is for: a well-known label, or the packager's own.
///
/// 1 to 64 printable ASCII characters without space; case matters. A key without a label has no `TrackLabel`.
package struct TrackLabel: Hashable, Sendable {
    /// The sizes that a label may have, in bytes.
    package static let sizes = 1...64

    package static let audio = TrackLabel(wellKnown: "AUDIO")
    package static let sd = TrackLabel(wellKnown: "SD")
    package static let hd = TrackLabel(wellKnown: "HD")
    package static let uhd = TrackLabel(wellKnown: "UHD")

    /// The label's characters.
    package let text: String

    /// Throws `sizeOutOfRange` or `invalidCharacter` for anything that is not a label.
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
