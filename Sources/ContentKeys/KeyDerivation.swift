package import ByteCoding
package import KeyCrypto

/// Derives content keys from one master secret, so that a holder of the secret can make them again.
///
/// Key and initialization vector are each 16 bytes of HKDF-SHA256 (RFC 5869) over the master secret, without a salt,
/// with the info
///
///     size  field
///        8  "LKDKEY01" for the key, "LKDIV_01" for the vector
///        4  version of the master secret
///        1  size of the content id, N
///        N  content id
///       16  key id
///        1  1 when the key has a period, else 0
///        4  period index, 0 without a period
///
/// with big-endian integers.
package struct KeyDerivation: Sendable {
    /// The size of a master secret in bytes.
    package static let secretSize = 32
    /// The largest number of taken key ids to pass over for one key. Each costs a question to the store.
    package static let takenKeyIDsMaximum = 64

    package let version: UInt32
    private let secret: SharedSecret

    /// Makes a derivation. The caller must use each `version` for only one secret. Throws `wrongSize` unless the secret
    /// has 32 bytes.
    package init(masterSecret: SharedSecret, version: UInt32) throws(CryptoError) {
        let size = masterSecret.bytes.count
        guard size == Self.secretSize else { throw .wrongSize(expected: Self.secretSize, actual: size) }
        secret = masterSecret
        self.version = version
    }

    /// Returns the key and vector for these names, which are always the same.
    package func derive(
        contentID: ContentID, keyID: KeyID, periodIndex: UInt32?
    ) throws(CryptoError) -> (key: ContentKey, iv: Bytes16) {
        let names = names(contentID, keyID, periodIndex)
        let key = try HKDFSHA256.derive(
            from: secret.bytes, info: Array("LKDKEY01".utf8) + names, count: ContentKey.size)
        let iv = try HKDFSHA256.derive(from: secret.bytes, info: Array("LKDIV_01".utf8) + names, count: 16)
        do throws(ContentKeyError) {
            return (try ContentKey(key), iv.revealedBytes16())
        } catch {
            preconditionFailure("a derived key has the size of a key")
        }
    }

    /// Derives the key id of a key that is ordered without one: a UUID of version 8 (RFC 9562, section 5.8). It is
    /// always the same for the same content, track label and period. It is public, and reveals nothing about the key.
    ///
    /// A stored key keeps its id, also if it was withdrawn. So the result is the first id that is not in `taken`.
    ///
    ///     size  field
    ///        8  "LKDKID01"
    ///        4  version of the master secret
    ///        1  size of the content id, N
    ///        N  content id
    ///        1  size of the track label, 0 without one, M
    ///        M  track label
    ///        1  1 when the key has a period, else 0
    ///        4  period index, 0 without a period
    ///        4  attempt; missing for the first
    package func deriveKeyID(
        contentID: ContentID, trackLabel: TrackLabel?, periodIndex: UInt32?, taken: Set<KeyID> = []
    ) throws(CryptoError) -> KeyID {
        var attempt: UInt32 = 0
        while true {
            let keyID = try keyID(contentID, trackLabel, periodIndex, attempt: attempt)
            if !taken.contains(keyID) { return keyID }
            attempt += 1
        }
    }

    private func keyID(
        _ contentID: ContentID, _ trackLabel: TrackLabel?, _ periodIndex: UInt32?, attempt: UInt32
    ) throws(CryptoError) -> KeyID {
        let (content, label) = (Array(contentID.text.utf8), Array((trackLabel?.text ?? "").utf8))
        var writer = ByteWriter(capacity: 23 + content.count + label.count)
        writer.write(Array("LKDKID01".utf8))
        writer.write(version)
        // A content id has at most 200 bytes, and a label 64.
        writer.write(UInt8(content.count))
        writer.write(content)
        writer.write(UInt8(label.count))
        writer.write(label)
        writer.write(UInt8(periodIndex == nil ? 0 : 1))
        writer.write(periodIndex ?? 0)
        if attempt > 0 { writer.write(attempt) }
        var bytes = try HKDFSHA256.derive(from: secret.bytes, info: writer.bytes, count: KeyID.size).revealed()
        bytes[6] = 0x80 | bytes[6] & 0x0F
        bytes[8] = 0x80 | bytes[8] & 0x3F
        guard let keyID = KeyID(bytes: bytes) else { preconditionFailure("a key id has 16 bytes") }
        return keyID
    }

    private func names(_ contentID: ContentID, _ keyID: KeyID, _ periodIndex: UInt32?) -> [UInt8] {
        let content = Array(contentID.text.utf8)
        var writer = ByteWriter(capacity: 26 + content.count)
        writer.write(version)
        // A content id has at most 200 bytes.
        writer.write(UInt8(content.count))
        writer.write(content)
        writer.write(keyID.words)
        writer.write(UInt8(periodIndex == nil ? 0 : 1))
        writer.write(periodIndex ?? 0)
        return writer.bytes
    }
}
