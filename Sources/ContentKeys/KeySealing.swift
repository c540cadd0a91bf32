import ByteCoding
package import KeyCrypto

/// A sealed content key with its initialization vector, in the form that a store keeps.
package struct SealedContentKey: Hashable, Sendable {
    /// The version of the key-encryption key that sealed it.
    package let keyVersion: UInt32
    /// The seal of form 1: nonce (12 bytes), ciphertext (32) and tag (16).
    package let bytes: [UInt8]
    /// The seal of form 2: the version of its key-encryption key in 4 bytes, followed by nonce, ciphertext and tag. Nil
    /// if a version without form 2 wrote the row.
    package let bound: [UInt8]?

    package init(keyVersion: UInt32, bytes: [UInt8], bound: [UInt8]? = nil) {
        self.keyVersion = keyVersion
        self.bytes = bytes
        self.bound = bound
    }

    /// Whether the same key-encryption key made both forms. If a version without form 2 has sealed a row again, its
    /// form 2 is out of date.
    package var isBound: Bool { bound.flatMap(Self.version) == keyVersion }

    private static func version(of bound: [UInt8]) -> UInt32? {
        guard bound.count > 4 else { return nil }
        return bound.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Form 2 without the version.
    fileprivate var boundBytes: [UInt8] { Array((bound ?? []).dropFirst(4)) }
}

/// Seals content keys with AES-256-GCM under one version of the key-encryption key. Each seal is bound to its record.
///
/// The sealed text is key (16 bytes) ‖ initialization vector (16 bytes). The associated data of form 1 are
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
/// with big-endian integers. A sealed key therefore opens only in the record for which it was sealed.
///
/// Every version opens form 1. Each record is also sealed in form 2. Its associated data are those of form 1 with
/// "LKCKEY02" instead of "LKCKEY01", followed by
///
///     size  field
///      1+T  track label
///      1+T  content type
///      1+T  scheme
///      1+T  state
///        8  time of creation, seconds since 1970
///      1+T  least HDCP
///      1+T  least security level
///        S  the seal of form 1
///
/// Each of these texts is its size in one byte, followed by its UTF-8. One byte 0xFF stands for a missing text. With
/// form 2, no part of a record can be altered without notice, and neither can its seal of form 1. A record that has
/// both forms is opened by form 2.
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
        let bytes = try key.seal(secret, associatedData: Self.associatedData(record.attributes, version: version))
        var bound = ByteWriter(capacity: 64)
        bound.write(version)
        let data = Self.boundData(record.attributes, version: version, besides: bytes)
        bound.write(try key.seal(secret, associatedData: data))
        return SealedContentKey(keyVersion: version, bytes: bytes, bound: bound.bytes)
    }

    /// Opens a seal that `seal` made for a record with these attributes.
    ///
    /// Throws `authenticationFailed` for altered bytes, for another record's seal, or for another key-encryption key.
    package func open(
        _ sealed: SealedContentKey, attributes: ContentKeyAttributes
    ) throws(CryptoError) -> ContentKeyRecord {
        guard sealed.isBound else { return try openUnbound(sealed, attributes: attributes) }
        guard sealed.keyVersion == version else { throw .authenticationFailed }
        let data = Self.boundData(attributes, version: version, besides: sealed.bytes)
        return try record(attributes, try key.open(sealed.boundBytes, associatedData: data))
    }

    /// Opens form 1, as programs of versions without form 2 do.
    package func openUnbound(
        _ sealed: SealedContentKey, attributes: ContentKeyAttributes
    ) throws(CryptoError) -> ContentKeyRecord {
        guard sealed.keyVersion == version else { throw .authenticationFailed }
        let data = Self.associatedData(attributes, version: version)
        return try record(attributes, try key.open(sealed.bytes, associatedData: data))
    }

    private func record(
        _ attributes: ContentKeyAttributes, _ secret: consuming SecretBytes
    ) throws(CryptoError) -> ContentKeyRecord {
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
        associatedData(attributes, version: version, form: "LKCKEY01").bytes
    }

    static func boundData(
        _ attributes: ContentKeyAttributes, version: UInt32, besides sealed: [UInt8]
    ) -> [UInt8] {
        var writer = associatedData(attributes, version: version, form: "LKCKEY02")
        writer.write(optional: attributes.trackLabel?.text)
        writer.write(optional: attributes.contentType.rawValue)
        writer.write(optional: attributes.scheme.rawValue)
        writer.write(optional: attributes.state.rawValue)
        writer.write(UInt64(bitPattern: attributes.createdAt))
        writer.write(optional: attributes.leastHDCP?.rawValue)
        writer.write(optional: attributes.leastSecurityLevel?.rawValue)
        writer.write(sealed)
        return writer.bytes
    }

    private static func associatedData(
        _ attributes: ContentKeyAttributes, version: UInt32, form: String
    ) -> ByteWriter {
        let contentID = Array(attributes.contentID.text.utf8)
        var writer = ByteWriter(capacity: 160 + contentID.count)
        writer.write(Array(form.utf8))
        writer.write(version)
        writer.write(attributes.keyID.bytes)
        writer.write(UInt8(attributes.periodIndex == nil ? 0 : 1))
        writer.write(UInt64(attributes.periodIndex ?? 0))
        // A content id has at most 200 bytes.
        writer.write(UInt8(contentID.count))
        writer.write(contentID)
        return writer
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
