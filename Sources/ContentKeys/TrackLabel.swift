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
