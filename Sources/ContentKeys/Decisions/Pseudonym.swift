/// Thirty-two bytes that stand for somebody or something without saying who or what: an HMAC or a digest.
///
/// Devices, subjects, tokens and requests are stored under pseudonyms only. As four big-endian words, so that it costs no allocation.
package struct Pseudonym: Hashable, Sendable {
    /// The size in bytes.
    package static let size = 32

    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Nil unless there are exactly 32 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        var words = [UInt64](repeating: 0, count: 4)
        for (position, byte) in bytes.enumerated() { words[position / 8] = words[position / 8] << 8 | UInt64(byte) }
        self.words = (words[0], words[1], words[2], words[3])
    }

    package var bytes: [UInt8] {
        [words.0, words.1, words.2, words.3].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
        }
    }

    package static func == (one: Pseudonym, other: Pseudonym) -> Bool { one.words == other.words }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}
