package import ByteCoding
package import KeyCrypto

/// The decrypted SK..R1 block: the secrets that a device and this server share for one request (protocol, section 3.2).
///
///     offset  size  field
///          0    16  SK, the session key that wraps the content key
///         16    20  HU, the anonymized device id
///         36    44  R1, which the CKC returns, and from whose hash the CKC's payload key is derived
///         80    16  integrity
package final class SessionKeys: Sendable {
    package static let size = 96
    /// The size of the encrypted block, which has an initialization vector before it.
    package static let encryptedSize = 112

    private static let deviceIDRange = 16..<36
    private static let r1Range = 36..<80
    private static let integrityOffset = 80

    let plain: SecretBytes

    init(_ plain: consuming SecretBytes) {
        precondition(plain.count == Self.size, "a plain SK..R1 block has 96 bytes")
        self.plain = plain
    }

    package var deviceID: DeviceID {
        DeviceID(plain.withBytes { bytes in bytes.extracting(Self.deviceIDRange).array })
    }

    /// R1, 44 bytes.
    package var r1: [UInt8] {
        plain.withBytes { bytes in bytes.extracting(Self.r1Range).array }
    }

    /// Whether the block ends with `integrity` (16 bytes), compared in constant time.
    func hasIntegrity(_ integrity: ArraySlice<UInt8>) -> Bool {
        let own = plain.withBytes { bytes in bytes.extracting(Self.integrityOffset..<Self.size).array }
        return ConstantTime.areEqual(own[...], integrity)
    }

    /// Wraps a content key for the device: AES-ECB(SK, key) (protocol, section 3.4).
    package func wrap(_ contentKey: borrowing SecretBytes, using crypto: CryptoContext) throws(CryptoError) -> Bytes16 {
        try crypto.encryptBlock(secret: contentKey, key: plain)
    }

    /// Returns the key of the CKC's payload: AES-ECB(SHA-1(R1)[0..<16], anti-replay seed) (protocol, section 3.3).
    package func payloadKey(seed: Bytes16, using crypto: CryptoContext) throws(CryptoError) -> SecretBytes {
        let antiReplayKey = try crypto.sha1Key(of: plain, in: Self.r1Range)
        return try crypto.deriveKey(from: seed, key: antiReplayKey)
    }
}

/// HU: the 20 bytes by which the server recognises a device without knowing its identity.
package struct DeviceID: Hashable, Sendable, CustomStringConvertible {
    package static let size = 20

    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        precondition(bytes.count == Self.size, "a HU has 20 bytes")
        self.bytes = bytes
    }

    /// The HU as forty upper-case hexadecimal digits, as Apple's tools print it.
    package var description: String {
        bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return byte < 16 ? "0" + digits : digits
        }.joined()
    }
}

extension RawSpan {
    fileprivate var array: [UInt8] {
        // Safe: the bytes are copied while the span exists.
        unsafe withUnsafeBytes { unsafe [UInt8]($0) }
    }
}
