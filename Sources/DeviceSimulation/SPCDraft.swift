import ByteCoding
package import FairPlay
package import KeyCrypto

/// An SPC before it is encrypted.
package struct SPCDraft {
    package let version: SPCVersion
    package let keys: ContainerKeys
    let certificateHash: [UInt8]
    package var blocks: [RawBlock]
    let secrets: RequestSecrets
    /// The bytes that are wrapped instead of the key, for a fault that needs another size.
    package var wrappedMessage: [UInt8]?

    /// Encrypts the payload, wraps its key and writes the container (protocol, sections 1.1 and 1.2).
    func seal(
        for certificate: Certificate, from randomness: DeviceRandomness, using crypto: CryptoContext
    ) throws(CryptoError) -> [UInt8] {
        let payload = blocks.flatMap(\.bytes)
        let padded = payload + [UInt8](repeating: 0, count: (16 - payload.count % 16) % 16)
        let encrypted = try crypto.encryptCBC(padded, key: keys.payload.bytes, iv: keys.iv)
        let wrapped = try randomness.wrap(
            wrappedMessage ?? keys.wrapped.bytes.revealed(), for: certificate.publicKey, padding: version.padding)
        var message = ByteWriter(capacity: 400 + encrypted.count)
        message.write(version.rawValue)
        message.write(UInt32(0))
        guard let authenticationKey = keys.authentication else {
            message.write(keys.iv)
            message.write(wrapped + certificateHash + bigEndian(UInt32(encrypted.count)) + encrypted)
            return message.bytes
        }
        message.write(Bytes16(high: 0x6644_ff2b_a87c_99b6, low: 0xff96_5527_0cd0_68a6))
        let authenticated =
            wrapped + certificateHash + bigEndian(UInt64(0)) + bigEndian(UInt64(encrypted.count)) + encrypted
        message.write(authenticated)
        message.write(try crypto.cmac(of: [authenticated[...]], key: authenticationKey.bytes))
        return message.bytes
    }
}

/// A block as bytes, so that its framing can have a fault.
package struct RawBlock {
    package let tag: UInt64
    package var bytes: [UInt8]

    package init(_ block: DeviceBlock, from randomness: DeviceRandomness) throws(CryptoError) {
        tag = block.tag
        let blockLength = (block.value.count + 15) & ~15 + block.extraBlocks * 16
        bytes = bigEndian(block.tag) + bigEndian(UInt32(blockLength)) + bigEndian(UInt32(block.value.count))
        bytes += try block.value + randomness.bytes(blockLength - block.value.count)
    }

    /// Takes the bytes of a whole block, or bytes that are not a block.
    package init(bytes: [UInt8], tag: UInt64 = 0) {
        self.tag = tag
        self.bytes = bytes
    }
}

/// The keys of one container: the one that RSA wraps, and those that encrypt and authenticate the payload.
///
/// In versions 1 and 2 the wrapped key encrypts the payload. In version 3 it is the master key. It encrypts three fixed
/// seeds, which become the payload's key, the vector and the key of the tag (protocol, section 1.2). The seeds are
/// written here independently of the server. Otherwise both sides could share the same mistake.
package struct ContainerKeys: Sendable {
    /// The wrapped key, 16 bytes.
    package let wrapped: SharedSecret
    /// The payload's key, 16 bytes.
    let payload: SharedSecret
    let iv: Bytes16
    /// The key of the authentication tag, 16 bytes; nil in versions 1 and 2.
    let authentication: SharedSecret?

    /// Makes random keys.
    init(
        _ version: SPCVersion, from randomness: DeviceRandomness, using crypto: CryptoContext
    ) throws(CryptoError) {
        let wrapped = SharedSecret(SecretBytes(copying: try randomness.bytes(16)))
        switch version {
        case .v1, .v2: self.init(payloadKey: wrapped, iv: try randomness.bytes16())
        case .v3: try self.init(masterKey: wrapped, using: crypto)
        }
    }

    init(payloadKey: SharedSecret, iv: Bytes16) {
        wrapped = payloadKey
        payload = payloadKey
        self.iv = iv
        authentication = nil
    }

    init(masterKey: SharedSecret, using crypto: CryptoContext) throws(CryptoError) {
        wrapped = masterKey
        payload = SharedSecret(
            try crypto.deriveKey(
                from: Bytes16(high: 0x70d1_e6c3_4f07_e849, low: 0xb3a6_2434_0f4f_176d), key: masterKey.bytes))
        iv = try crypto.deriveKey(
            from: Bytes16(high: 0xc11b_3ed1_a380_3f4e, low: 0x1322_a088_0314_5ac6), key: masterKey.bytes
        ).revealedBytes16()
        authentication = SharedSecret(
            try crypto.deriveKey(
                from: Bytes16(high: 0x96d3_435f_6ef0_8d7d, low: 0x121f_a86b_253e_4ac9), key: masterKey.bytes))
    }
}
