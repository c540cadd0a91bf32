import ByteCoding
import FairPlay
import KeyCrypto

/// One SK..R1 block that never changes, and the blocks of a payload that belong to it.
///
/// A random change hardly ever leaves a block with correct integrity bytes. So the blocks of a changed payload are
/// replaced by these if their sizes allow it, and the code after the integrity check is reached.
struct FixedSession: Sendable {
    /// SK 16, HU 20, R1 44, integrity 16.
    static let plain = [UInt8](0..<96)
    static let deviceID = DeviceID([UInt8](plain[16..<36]))
    static let r1 = [UInt8](plain[36..<80])
    static let integrity = [UInt8](plain[80..<96])
    static let r2 = [UInt8](0xC0..<0xD5)
    private static let applicationSecret = [UInt8](0x10...0x1F)
    private static let iv = Bytes16(high: 0x1111_2222_3333_4444, low: 0x5555_6666_7777_8888)

    /// The SK..R1 value: an IV and six encrypted blocks.
    let sessionKeyBlock: [UInt8]

    init(using crypto: CryptoContext) throws {
        let dask = try Self.ladder().deriveDASk(r2: Self.r2[...], using: crypto)
        sessionKeyBlock = Self.iv.bytes + (try crypto.encryptCBC(Self.plain, key: dask, iv: Self.iv))
    }

    static func ladder() throws -> ApplicationSecretKeyLadder {
        try ApplicationSecretKeyLadder(.applicationSecret, SecretBytes(copying: applicationSecret))
    }

    /// Replaces the values in an SPC's payload that have the right sizes by the session's values.
    func repair(_ payload: inout [UInt8]) {
        Self.replace(
            [
                TLLVTag.sessionKeyBlock: sessionKeyBlock, TLLVTag.r2: Self.r2,
                TLLVTag.sessionKeyIntegrity: Self.integrity,
            ], in: &payload)
    }

    /// Replaces R1 in a CKC's payload in the same way.
    static func repairR1(_ payload: inout [UInt8]) {
        replace([TLLVTag.r1: r1], in: &payload)
    }

    private static func replace(_ values: [UInt64: [UInt8]], in payload: inout [UInt8]) {
        for block in TLLVFraming(payload).blocks {
            guard let value = values[block.tag], value.count == block.value.count else { continue }
            payload.replaceSubrange(block.value, with: value)
        }
    }
}
