import ByteCoding
package import KeyCrypto

/// Opens SK..R1 blocks with what the server and the device share: the application secret key (ASk) that Apple issues
/// with a certificate.
///
/// DASk = AES-ECB(ASk, D(R2)); SK..R1 = AES-CBC(DASk) (protocol, sections 3.1 and 3.2). The published test vectors come
/// with a fixed DASk in place of an ASk; such a ladder is for tests and marked so.
package final class ApplicationSecretKeyLadder: Sendable {
    /// The size of ASk and DASk in bytes.
    package static let secretSize = 16

    package enum Kind: Sendable {
        case applicationSecret
        case fixedDASk
    }

    package let kind: Kind
    private let secret: SecretBytes

    /// Throws `wrongSize` unless the secret has 16 bytes.
    package init(_ kind: Kind, _ secret: consuming SecretBytes) throws(CryptoError) {
        let size = secret.count
        guard size == Self.secretSize else { throw .wrongSize(expected: Self.secretSize, actual: size) }
        self.kind = kind
        self.secret = secret
    }

    /// DASk for an R2 of 1 to 55 bytes.
    package func deriveDASk(r2: ArraySlice<UInt8>, using crypto: CryptoContext) throws(CryptoError) -> SecretBytes {
        switch kind {
        case .fixedDASk:
            return secret.copy()
        case .applicationSecret:
            return try crypto.deriveKey(from: Bytes16(try DFunction.hash(r2, using: crypto), at: 0), key: secret)
        }
    }

    /// Opens the SK..R1 value (112 bytes: a vector of 16 and six encrypted blocks) in `range` of `payload`.
    package func open(
        _ payload: [UInt8], sessionKeyBlock range: Range<Int>, r2: Range<Int>, using crypto: CryptoContext
    ) throws(CryptoError) -> SessionKeys {
        let dask = try deriveDASk(r2: payload[r2], using: crypto)
        let encrypted = range.lowerBound + 16..<range.upperBound
        return try SessionKeys(
            crypto.decryptCBCSecret(payload, in: encrypted, key: dask, iv: Bytes16(payload, at: range.lowerBound)))
    }
}
