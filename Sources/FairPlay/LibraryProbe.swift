import ByteCoding
package import KeyCrypto

/// SPCs of this server's own making, with which it learns whether a library knows a certificate.
///
/// Container, certificate hash and wrapped key are right, and everything else is random. So a library that knows the
/// certificate opens the container and refuses what is in it, by any status but the one for an unknown certificate.
package enum LibraryProbe {
    /// Returns an SPC that names a certificate by its hash. `publicKey` is the key for this version and hash.
    package static func message(
        _ version: SPCVersion, naming hash: CertificateHash, for publicKey: RSAPublicKey, using crypto: CryptoContext
    ) throws(CryptoError) -> [UInt8] {
        let master = try crypto.randomSecret(count: 16)
        var payload = try DecoyPayload.make(using: crypto)
        payload += [UInt8](repeating: 0, count: (16 - payload.count % 16) % 16)
        let wrapped = try publicKey.encrypt(master, padding: version.padding)
        var message = ByteWriter(capacity: 512 + payload.count)
        message.write(version.rawValue)
        message.write(UInt32(0))
        guard version == .v3 else {
            let iv = try crypto.randomBytes16()
            message.write(iv)
            message.write(wrapped)
            message.write(hash.bytes)
            message.write(UInt32(payload.count))
            message.write(try crypto.encryptCBC(payload, key: master, iv: iv))
            return message.bytes
        }
        let keys = try AuthenticatedPayloadKeys(master: master, using: crypto)
        let encrypted = try crypto.encryptCBC(payload, key: keys.payload, iv: keys.iv)
        message.write(SPCEnvelope.transportIdentifier)
        message.write(wrapped)
        message.write(hash.bytes)
        message.write(Bytes16(high: 0, low: UInt64(encrypted.count)))
        message.write(encrypted)
        message.write(
            try keys.tag(
                wrappedKey: wrapped[...], certificateHash: hash.bytes, payload: encrypted[...], using: crypto))
        return message.bytes
    }
}
