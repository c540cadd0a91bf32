package import ByteCoding
package import KeyCrypto

/// Makes content keys.
package enum KeyGeneration {
    /// A random key and a random initialization vector, independent of one another and of every identifier.
    ///
    /// The two are never equal. Throws `randomnessUnavailable` when the system has none.
    package static func generate() throws(CryptoError) -> (key: ContentKey, iv: Bytes16) {
        let secret = try SecretBytes.random(count: ContentKey.size)
        var iv = try RandomBytes.generate16()
        while iv == secret.revealedBytes16() { iv = try RandomBytes.generate16() }
        do {
            return (try ContentKey(secret), iv)
        } catch {
            preconditionFailure("a generated key has the size of a key")
        }
    }

    /// A random key id: a UUID of version 4 (RFC 9562 section 5.4).
    package static func generateKeyID() throws(CryptoError) -> KeyID {
        var bytes = try RandomBytes.generate(count: KeyID.size)
        bytes[6] = 0x40 | bytes[6] & 0x0F
        bytes[8] = 0x80 | bytes[8] & 0x3F
        guard let keyID = KeyID(bytes: bytes) else { preconditionFailure("a key id has 16 bytes") }
        return keyID
    }
}
