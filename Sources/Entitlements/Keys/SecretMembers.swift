import ByteCoding
import KeyCrypto

/// A JSON text whose members `k` (RFC 7518, section 6.4.1) were taken out before any reader makes strings of them.
///
/// In `bytes` zeros stand in place of each such value, so that every other place stays where it was.
struct SecretMembers {
    private(set) var bytes: [UInt8]
    private var secrets: [Int: SharedSecret] = [:]

    init(hiding text: borrowing SecretBytes) {
        bytes = text.revealed()
        for member in JSONMemberScanner.members(in: bytes, named: ["k"]) { take(member.value) }
    }

    /// The secret of a string that begins, with its quote, at this place; nil if it was no canonical base64url.
    func secret(at position: TextPosition) -> SharedSecret? {
        secrets[position.byteOffset]
    }

    private mutating func take(_ value: Range<Int>) {
        var decoded = (try? Base64URL.decode(bytes[value])) ?? []
        if !decoded.isEmpty { secrets[value.lowerBound - 1] = SharedSecret(SecretBytes(copying: decoded)) }
        decoded.wipe()
        for offset in value { bytes[offset] = UInt8(ascii: "0") }
    }
}
