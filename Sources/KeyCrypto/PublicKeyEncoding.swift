/// Encodes the numbers of a public key, which JSON Web Keys contain, as SubjectPublicKeyInfo (RFC 5280, section
/// 4.1.2.7).
///
/// OpenSSL parses the result and checks the numbers: it refuses a point that is not on its curve.
enum PublicKeyEncoding {
    /// RFC 5480: id-ecPublicKey with prime256v1, and an uncompressed point.
    private static let p256Prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE,
        0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]
    /// RFC 8410, section 4: id-Ed25519.
    private static let ed25519Prefix: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]
    /// RFC 8017, appendix A.1: rsaEncryption with NULL.
    private static let rsaAlgorithm: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]

    /// Encodes a P-256 point, whose coordinates have 32 bytes each.
    static func p256(x: [UInt8], y: [UInt8]) -> [UInt8] { p256Prefix + x + y }

    /// Encodes an Ed25519 point of 32 bytes.
    static func ed25519(_ point: [UInt8]) -> [UInt8] { ed25519Prefix + point }

    static func rsa(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
        let key = element(0x30, integer(modulus) + integer(exponent))
        return element(0x30, rsaAlgorithm + element(0x03, [0] + key))
    }

    /// Encodes a non-negative number in as few bytes as possible.
    private static func integer(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        guard let first = digits.first else { return element(0x02, [0]) }
        return element(0x02, first >= 0x80 ? [0] + digits : digits)
    }

    private static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        var size = contents.count
        guard size >= 0x80 else { return [tag, UInt8(size)] + contents }
        var digits: [UInt8] = []
        while size > 0 {
            digits.insert(UInt8(truncatingIfNeeded: size), at: 0)
            size >>= 8
        }
        return [tag, 0x80 | UInt8(digits.count)] + digits + contents
    }
}
