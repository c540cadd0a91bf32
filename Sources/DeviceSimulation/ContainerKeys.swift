import ByteCoding
import FairPlay
import KeyCrypto

/// The keys of one container: what RSA wraps, and what encrypts and authenticates the payload.
///
/// In versions 1 and 2 the wrapped key encrypts the payload. In version 3 it is the master key, which encrypts three
/// fixed seeds into the payload's key and vector and the key of the tag (protocol, section 1.2). The seeds are stated
/// here once more: a slip in the server's would else be answered by the same slip.
struct ContainerKeys: Sendable {
    /// 16 bytes.
    let wrapped: SharedSecret
    /// 16 bytes.
    let payload: SharedSecret
    let iv: Bytes16
    /// Version 3 alone; 16 bytes.
    let authentication: SharedSecret?

    /// Fresh keys.
    init(_ version: SPCVersion, using crypto: CryptoContext) throws(CryptoError) {
        let wrapped = SharedSecret(try SecretBytes.random(count: 16))
        switch version {
        case .v1, .v2: self.init(payloadKey: wrapped, iv: try crypto.randomBytes16())
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
