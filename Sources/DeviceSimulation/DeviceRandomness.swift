import ByteCoding
package import KeyCrypto

/// The random bytes of a simulated device: OpenSSL's, or those of a seed.
///
/// With a seed, every SPC can be made again, byte for byte. A seed is for devices with published secrets.
package final class DeviceRandomness {
    private let crypto: CryptoContext
    /// Nil for OpenSSL's generator.
    private let seed: [UInt8]?
    private var blockCount: UInt64 = 0
    private var pool: ArraySlice<UInt8> = []

    package init(seed: [UInt8]? = nil, using crypto: CryptoContext) {
        self.seed = seed
        self.crypto = crypto
    }

    /// With a seed, the bytes are SHA-256 of the seed and a counter.
    package func bytes(_ count: Int) throws(CryptoError) -> [UInt8] {
        guard let seed else { return Array(try crypto.randomBytes(count: count)) }
        while pool.count < count {
            pool += try crypto.sha256(seed + bigEndian(blockCount))
            blockCount += 1
        }
        defer { pool = pool.dropFirst(count) }
        return Array(pool.prefix(count))
    }

    func bytes16() throws(CryptoError) -> Bytes16 { Bytes16(try bytes(16), at: 0) }

    /// Returns a number from 0 up to, but not including, `bound`, which is at most 256 and a power of two.
    func index(below bound: Int) throws(CryptoError) -> Int { Int(try bytes(1)[0]) & (bound - 1) }

    /// Wraps a key with RSA-OAEP (RFC 8017, section 7.1.1), whose random bytes come from here. The label is empty.
    func wrap(
        _ message: [UInt8], for key: RSAPublicKey, padding: OAEPDigest
    ) throws(CryptoError) -> [UInt8] {
        guard seed != nil else { return try key.encrypt(SecretBytes(copying: message), padding: padding) }
        let empty = try digest([], padding)
        let zeros = [UInt8](repeating: 0, count: key.modulusSize - message.count - 2 * empty.count - 2)
        let data = empty + zeros + [1] + message
        let seed = try bytes(empty.count)
        let maskedData = Self.xor(data, try mask(from: seed, count: data.count, padding))
        let maskedSeed = Self.xor(seed, try mask(from: maskedData, count: seed.count, padding))
        return try key.encryptUnpadded([0] + maskedSeed + maskedData)
    }

    /// MGF1 (RFC 8017, appendix B.2.1).
    private func mask(from seed: [UInt8], count: Int, _ padding: OAEPDigest) throws(CryptoError) -> [UInt8] {
        var mask: [UInt8] = []
        var number: UInt32 = 0
        while mask.count < count {
            mask += try digest(seed + bigEndian(number), padding)
            number += 1
        }
        return Array(mask.prefix(count))
    }

    private func digest(_ bytes: [UInt8], _ padding: OAEPDigest) throws(CryptoError) -> [UInt8] {
        switch padding {
        case .sha1: try crypto.sha1(bytes, in: bytes.indices)
        case .sha256: try crypto.sha256(bytes)
        }
    }

    private static func xor(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
        zip(one, other).map { $0 ^ $1 }
    }
}
