import ByteCoding
package import KeyCrypto

/// A content key and its initialization vector as a store keeps them.
package struct SealedContentKey: Hashable, Sendable {
    /// Which key-encryption key sealed it.
    package let keyVersion: UInt32
    /// Nonce (12 bytes), ciphertext (32) and tag (16).
    package let bytes: [UInt8]

    package init(keyVersion: UInt32, bytes: [UInt8]) {
        self.keyVersion = keyVersion
        self.bytes = bytes
    }
}

/// Seals content keys with AES-256-GCM, each bound to its record, under one version of the key-encryption key.
///
/// The secret is key (16 bytes) ‖ initialization vector (16 bytes). Bound to it, as associated data in this one
/// encoding, are
///
///     offset  size  field
///          0     8  "LKCKEY01"
///          8     4  version of the key-encryption key
///         12    16  key id
///         28     1  1 when the key has a period, else 0
///         29     8  period index, 0 without a period
///         37     1  size of the content id, N
///         38     N  content id
///
/// with big-endian integers. So a sealed key opens only in the record for which it was sealed.
package struct KeySealing: Sendable {
    /// The version that new seals get.
    package let version: UInt32
    private let key: AES256GCMKey

    /// The caller keeps `version` unique for each key-encryption key.
    package init(keyEncryptionKey: AES256GCMKey, version: UInt32) {
        self.key = keyEncryptionKey
        self.version = version
    }

    /// Seals the record's key and initialization vector; two seals of one record differ.
    package func seal(_ record: ContentKeyRecord) throws(CryptoError) -> SealedContentKey {
        let secret = SecretBytes(joining: record.key.bytes, record.iv)
        let bytes = try key.seal(secret, associatedData: Self.associatedData(record.attributes, version: version))
        return SealedContentKey(keyVersion: version, bytes: bytes)
    }

    /// Opens what `seal` made for a record with these attributes.
    ///
    /// Throws `authenticationFailed` for altered bytes, another record's seal, or another key-encryption key.
    package func open(
        _ sealed: SealedContentKey, attributes: ContentKeyAttributes
    ) throws(CryptoError) -> ContentKeyRecord {
        guard sealed.keyVersion == version else { throw .authenticationFailed }
        let secret = try key.open(sealed.bytes, associatedData: Self.associatedData(attributes, version: version))
        guard secret.count == ContentKey.size + 16 else { throw .authenticationFailed }
        do {
            return try ContentKeyRecord(
                attributes: attributes, key: ContentKey(secret.copy(0..<ContentKey.size)),
                iv: secret.revealedBytes16(at: ContentKey.size))
        } catch {
            // Only a record that broke the rules when it was sealed comes here.
            throw .authenticationFailed
        }
    }

    static func associatedData(_ attributes: ContentKeyAttributes, version: UInt32) -> [UInt8] {
        let contentID = Array(attributes.contentID.text.utf8)
        var writer = ByteWriter(capacity: 38 + contentID.count)
        writer.write(Array("LKCKEY01".utf8))
        writer.write(version)
        writer.write(attributes.keyID.bytes)
        writer.write(UInt8(attributes.periodIndex == nil ? 0 : 1))
        writer.write(UInt64(attributes.periodIndex ?? 0))
        // A content id has at most 200 bytes.
        writer.write(UInt8(contentID.count))
        writer.write(contentID)
        return writer.bytes
    }
}

extension KeySealing {
    /// A seal over nothing secret, by which a store recognises its key-encryption key when it is opened again.
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
