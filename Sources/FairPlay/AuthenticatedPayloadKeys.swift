package import ByteCoding
package import KeyCrypto

/// The keys of an SPC of version 3: AES-ECB under the master key makes each of them from a fixed seed (protocol,
/// section 1.2).
///
/// Unverified outside one source: no public vector of version 3 exists.
package struct AuthenticatedPayloadKeys: ~Copyable {
    package static let payloadSeed = Bytes16(high: 0x70d1_e6c3_4f07_e849, low: 0xb3a6_2434_0f4f_176d)
    package static let ivSeed = Bytes16(high: 0xc11b_3ed1_a380_3f4e, low: 0x1322_a088_0314_5ac6)
    package static let authenticationSeed = Bytes16(high: 0x96d3_435f_6ef0_8d7d, low: 0x121f_a86b_253e_4ac9)

    package let payload: SecretBytes
    package let iv: Bytes16
    private let authentication: SecretBytes

    /// `master` has 16 bytes.
    package init(master: borrowing SecretBytes, using crypto: CryptoContext) throws(CryptoError) {
        let payload = try crypto.deriveKey(from: Self.payloadSeed, key: master)
        let iv = try crypto.deriveKey(from: Self.ivSeed, key: master).revealedBytes16()
        let authentication = try crypto.deriveKey(from: Self.authenticationSeed, key: master)
        self.payload = payload
        self.iv = iv
        self.authentication = authentication
    }

    /// The tag: AES-CMAC over the wrapped key, the certificate hash, the payload's length in 16 bytes and the encrypted
    /// payload. Version, reserved word and transport identifier are not covered.
    package borrowing func tag(
        wrappedKey: ArraySlice<UInt8>, certificateHash: [UInt8], payload: ArraySlice<UInt8>,
        using crypto: CryptoContext
    ) throws(CryptoError) -> [UInt8] {
        let length = Bytes16(high: 0, low: UInt64(payload.count))
        return try crypto.cmac(
            of: [wrappedKey, certificateHash[...], length.bytes[...], payload], key: authentication)
    }

    /// Whether `tag` is the envelope's, compared in constant time.
    borrowing func authenticates(
        _ envelope: SPCEnvelope, by tag: Bytes16, using crypto: CryptoContext
    ) throws(CryptoError) -> Bool {
        let own = try self.tag(
            wrappedKey: envelope.message[envelope.wrappedKey], certificateHash: envelope.certificateHash.bytes,
            payload: envelope.message[envelope.payload], using: crypto)
        return ConstantTime.areEqual(own[...], tag.bytes[...])
    }
}
