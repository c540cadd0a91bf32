import ByteCoding
package import KeyCrypto

/// A sealed token, parsed but not yet decrypted (entitlement, section 1.1.4).
///
/// It is this server's own format and replaces ExpressPlay's tokens.
///
///     offset  size  field
///          0     1  version, 2
///          1     1  type, 0 for FairPlay
///          2     4  number of the sealing key, big-endian
///          6    12  nonce
///         18     N  AES-256-GCM ciphertext of the fields
///     18 + N    16  tag
///
/// The first 18 bytes are the associated data. The token is written as canonical base64url without padding, so that it
/// has exactly one encoding.
struct SealedToken {
    static let version: UInt8 = 2
    static let type: UInt8 = 0
    private static let headerSize = 6
    /// The size of a sealed token with one byte of fields.
    private static let sizeMinimum = headerSize + 12 + 1 + 16

    let keyID: UInt32
    private let message: [UInt8]

    /// Whether bytes look like a sealed token.
    ///
    /// A sealed token begins with the base64url letters of its version and type, and has no dots. A compact token has
    /// dots.
    static func looksSealed(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 4 && !bytes.contains(UInt8(ascii: ".")) && bytes[0] == UInt8(ascii: "A")
            && (UInt8(ascii: "g")...UInt8(ascii: "v")).contains(bytes[1])
    }

    /// Throws `tokenMalformed`.
    init(parsing bytes: [UInt8]) throws(EntitlementError) {
        guard bytes.count <= Token.sizeMaximum else { throw .tokenMalformed(.tooLarge(size: bytes.count)) }
        message = try wrap({ EntitlementError.tokenMalformed(.notBase64URL($0)) }, try Base64URL.decode(bytes))
        guard message.count >= Self.sizeMinimum else {
            throw .tokenMalformed(
                .fieldsMalformed(
                    .truncated(field: "sealed token", needed: Self.sizeMinimum, available: message.count)))
        }
        guard message[0] == Self.version, message[1] == Self.type else {
            throw .tokenMalformed(.headerInvalid("version"))
        }
        keyID = message[2..<6].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Decrypts the token. Throws `signatureInvalid` if the tag is wrong, and the errors of reading the fields.
    func open(with key: TokenSealingKey) throws(EntitlementError) -> SealedTokenContents {
        let payload: SecretBytes
        do throws(CryptoError) {
            payload = try key.key.openMessage(message, headerSize: Self.headerSize)
        } catch {
            throw .signatureInvalid
        }
        return try SealedTokenContents(reading: SealedFields(payload))
    }
}

/// Seals tokens with one key.
package struct TokenSealer: Sendable {
    private let key: TokenSealingKey

    package init(_ key: TokenSealingKey) {
        self.key = key
    }

    /// Returns the text of a token, ready for use in a URL. Throws `operationFailed` and `randomnessUnavailable`.
    package func seal(_ contents: SealedTokenContents) throws(CryptoError) -> String {
        var header = ByteWriter(capacity: 6)
        header.write(SealedToken.version)
        header.write(SealedToken.type)
        header.write(key.id)
        return Base64URL.encode(try key.key.sealMessage(contents.fields(), header: header.bytes))
    }
}
