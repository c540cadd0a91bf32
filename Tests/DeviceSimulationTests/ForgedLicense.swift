import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport

/// A CKC that is made block by block, so that any block can be wrong.
struct ForgedLicense {
    static let iv = Bytes16([UInt8](0x40...0x4F), at: 0)

    var version: UInt32 = 1
    var reserved: UInt32 = 0
    var blocks: [DeviceBlock]
    /// Whole blocks, which come after the other blocks.
    var echoes: [[UInt8]]
    /// The session whose R1 and session key are used.
    private let session: SharedSecret

    /// Makes a valid license.
    init(for request: DeviceRequest, key: [UInt8], using crypto: CryptoContext, usesVideo: Bool = false) throws {
        let secrets = request.secrets
        session = usesVideo ? secrets.videoSessionBlock ?? secrets.sessionBlock : secrets.sessionBlock
        let wrapped = try crypto.encryptBlock(secret: SecretBytes(copying: key), key: session.bytes)
        blocks = [
            DeviceBlock(TLLVTag.contentKey, Self.iv.bytes + wrapped.bytes),
            DeviceBlock(TLLVTag.r1, session.bytes.copy(36..<80).revealed()),
        ]
        echoes = secrets.expectedEchoes
    }

    mutating func edit(_ tag: UInt64, _ change: (inout [UInt8]) -> Void) {
        for index in blocks.indices where blocks[index].tag == tag { change(&blocks[index].value) }
    }

    func seal(for request: DeviceRequest, using crypto: CryptoContext) throws(CryptoError) -> [UInt8] {
        var writer = TLLVWriter(using: crypto)
        for block in blocks { try writer.write(block.tag, block.value, extraBlocks: block.extraBlocks) }
        let payload = writer.payload.bytes + echoes.flatMap(\.self)
        let antiReplayKey = try crypto.sha1Key(of: session.bytes, in: 36..<80)
        let key = try crypto.deriveKey(from: request.secrets.antiReplaySeed, key: antiReplayKey)
        let iv = try crypto.randomBytes16()
        let encrypted = try crypto.encryptCBC(payload, key: key, iv: iv)
        return bigEndianBytes(version) + bigEndianBytes(reserved) + iv.bytes + bigEndianBytes(UInt32(encrypted.count))
            + encrypted
    }
}
