import ByteCoding
package import KeyCrypto

/// A sealed content key with its initialization vector, in the form that a store keeps.
package struct SealedContentKey: Hashable, Sendable {
    /// The version of the key-encryption key that sealed it.
    package let keyVersion: UInt32
    /// Nonce (12 bytes), ciphertext (32) and tag (16).
    package let bytes: [UInt8]

    package init(keyVersion: UInt32, bytes: [UInt8]) {
        self.keyVersion = keyVersion
        self.bytes = bytes
    }
}

/// Seals content keys with AES-256-GCM under one version of the key-encryption key. Each seal is bound to its record.
///
/// The sealed text is key (16 bytes) ‖ initialization vector (16 bytes). The associated data are
///
///     size  field
///        8  "LKCKEY01"
///        4  version of the key-encryption key
///       16  key id
///        1  1 when the key has a period, else 0
///        8  period index, 0 without a period
///      1+T  content id
///      1+T  track label
///      1+T  content type
///      1+T  scheme
///      1+T  state
///        8  time of creation, seconds since 1970
///      1+T  least HDCP
///      1+T  least security level
///
/// with big-endian integers. Each text is its size in one byte, followed by its UTF-8. One byte 0xFF stands for a
/// missing text. So a sealed key opens only in the record for which it was sealed, and a record that was altered in any
/// part does not open.
package struct KeySealing: Sendable {
    /// The version of the key-encryption key, which new seals contain.
    package let version: UInt32
    private let key: AES256GCMKey

    /// The caller must use each `version` for only one key-encryption key.
    package init(keyEncryptionKey: AES256GCMKey, version: UInt32) {
        self.key = keyEncryptionKey
        self.version = version
    }

    /// Seals the record's key and initialization vector. Two seals of one record differ.
    package func seal(_ record: ContentKeyRecord) throws(CryptoError) -> SealedContentKey {
        let secret = SecretBytes(joining: record.key.bytes, record.iv)
        let data = Self.associatedData(record.attributes, version: version)
        return SealedContentKey(keyVersion: version, bytes: try key.seal(secret, associatedData: data))
    }

    /// Opens a seal that `seal` made for a record with these attributes.
    ///
    /// Throws `authenticationFailed` for altered bytes, for another record's seal, or for another key-encryption key.
    package func open(
        _ sealed: SealedContentKey, attributes: ContentKeyAttributes
    ) throws(CryptoError) -> ContentKeyRecord {
        guard sealed.keyVersion == version else { throw .authenticationFailed }
        let data = Self.associatedData(attributes, version: version)
        let secret = try key.open(sealed.bytes, associatedData: data)
        guard secret.count == ContentKey.size + 16 else { throw .authenticationFailed }
        do {
            return try ContentKeyRecord(
                attributes: attributes, key: ContentKey(secret.copy(0..<ContentKey.size)),
                iv: secret.revealedBytes16(at: ContentKey.size))
        } catch {
            // This happens only if the record broke the rules when it was sealed.
            throw .authenticationFailed
        }
    }

    static func associatedData(_ attributes: ContentKeyAttributes, version: UInt32) -> [UInt8] {
        // A content id has at most 200 bytes.
        var writer = ByteWriter(capacity: 320)
        writer.write(Array("LKCKEY01".utf8))
        writer.write(version)
        writer.write(attributes.keyID.bytes)
        writer.write(UInt8(attributes.periodIndex == nil ? 0 : 1))
        writer.write(UInt64(attributes.periodIndex ?? 0))
        writer.write(optional: attributes.contentID.text)
        writer.write(optional: attributes.trackLabel?.text)
        writer.write(optional: attributes.contentType.rawValue)
        writer.write(optional: attributes.scheme.rawValue)
        writer.write(optional: attributes.state.rawValue)
        writer.write(UInt64(bitPattern: attributes.createdAt))
        writer.write(optional: attributes.leastHDCP?.rawValue)
        writer.write(optional: attributes.leastSecurityLevel?.rawValue)
        return writer.bytes
    }
}

extension ByteWriter {
    /// Writes the size in one byte and the text, which is shorter than 255 bytes. Writes 0xFF for nil.
    fileprivate mutating func write(optional text: String?) {
        guard let text else { return write(UInt8.max) }
        write(UInt8(text.utf8.count))
        write(Array(text.utf8))
    }
}

extension KeySealing {
    /// Makes a seal over data that is not secret. By it, a store recognises its key-encryption key when it is opened
    /// again.
    package func makeProof() throws(CryptoError) -> [UInt8] {
        try key.seal(SecretBytes(count: 1), associatedData: proofAssociatedData)
    }

    /// Whether a proof was made with this key-encryption key and version.
    package func accepts(proof: [UInt8]) -> Bool {
        do throws(CryptoError) {
            _ = try key.open(proof, associatedData: proofAssociatedData)
            return true
        } catch {
            return false
        }
    }

    private var proofAssociatedData: [UInt8] {
        var writer = ByteWriter(capacity: 12)
        writer.write(Array("LKPROOF1".utf8))
        writer.write(version)
        return writer.bytes
    }
}
