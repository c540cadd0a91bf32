package import ByteCoding

/// Thirty-two bytes that stand for a person or a thing without naming it: an HMAC or a digest.
///
/// Devices, subjects, tokens and requests are stored under pseudonyms only. As two halves, so that it costs no
/// allocation.
package struct Pseudonym: Hashable, Sendable {
    /// The size in bytes.
    package static let size = 32

    /// The first 16 bytes.
    package let firstHalf: Bytes16
    private let secondHalf: Bytes16

    /// Nil unless there are exactly 32 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        firstHalf = Bytes16(bytes, at: 0)
        secondHalf = Bytes16(bytes, at: 16)
    }

    /// What a ledger keeps of a pseudonym: its first 16 bytes, and zeros.
    package init(short bytes: Bytes16) {
        firstHalf = bytes
        secondHalf = .zero
    }

    package var shortened: Pseudonym { Pseudonym(short: firstHalf) }

    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.size)
        writer.write(firstHalf)
        writer.write(secondHalf)
        return writer.bytes
    }
}
