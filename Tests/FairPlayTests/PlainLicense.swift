import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport

/// The blocks of a CKC in their order, decrypted by a second implementation (protocol, sections 1.3 and 3.3).
struct PlainLicense {
    struct Block: Equatable {
        let tag: UInt64
        let value: [UInt8]
        let paddingCount: Int
        /// The header, the value and the padding.
        let bytes: [UInt8]
    }

    let version: [UInt8]
    let reserved: [UInt8]
    let blocks: [Block]

    init(_ ckc: [UInt8], for request: DeviceRequest, using crypto: CryptoContext) throws {
        version = Array(ckc[0..<4])
        reserved = Array(ckc[4..<8])
        let antiReplayKey = Array(try crypto.sha1(request.secrets.r1, in: 0..<44).prefix(16))
        let key = try crypto.deriveKey(from: request.secrets.antiReplaySeed, key: SecretBytes(copying: antiReplayKey))
        let payload = try crypto.decryptCBC(ckc, in: 28..<ckc.count, key: key, iv: Bytes16(ckc, at: 8))
        var blocks: [Block] = []
        var offset = 0
        while offset < payload.count {
            let length = Self.word(payload, offset + 8)
            let valueLength = Self.word(payload, offset + 12)
            blocks.append(
                Block(
                    tag: UInt64(Self.word(payload, offset)) << 32 | UInt64(Self.word(payload, offset + 4)),
                    value: Array(payload[offset + 16..<offset + 16 + valueLength]), paddingCount: length - valueLength,
                    bytes: Array(payload[offset..<offset + 16 + length])))
            offset += 16 + length
        }
        self.blocks = blocks
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// The value of the only block with a tag, or nil.
    func value(of tag: UInt64) -> [UInt8]? {
        let values = blocks.filter { $0.tag == tag }.map(\.value)
        return values.count == 1 ? values[0] : nil
    }
}
