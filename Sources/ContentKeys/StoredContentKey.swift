package import ByteCoding
import KeyCrypto

extension ContentKeyAttributes {
    /// Reads kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp and
    /// least_security_level.
    package init(reading row: borrowing some StoredRow & ~Copyable) throws(StoreError) {
        guard let scheme = EncryptionScheme(rawValue: try row.text(at: 4)),
            let state = ContentKeyState(rawValue: try row.text(at: 5)),
            let contentType = ContentType(rawValue: try row.text(at: 7))
        else { throw .recordMalformed }
        self.init(
            keyID: try row.keyID(at: 0), contentID: try row.contentID(at: 1),
            track: try Self.track(label: row.optionalText(at: 2), contentType: contentType),
            periodIndex: try Self.periodIndex(row.optionalInteger(at: 3)), scheme: scheme,
            createdAt: try row.integer(at: 6))
        self.state = state
        leastHDCP = try Self.word(row.optionalText(at: 8))
        leastSecurityLevel = try Self.word(row.optionalText(at: 9))
    }

    private static func track(label: String?, contentType: ContentType) throws(StoreError) -> Track {
        do {
            return try Track(label: label.map { try TrackLabel($0) }, contentType: contentType)
        } catch {
            throw .recordMalformed
        }
    }

    private static func word<Word: RawRepresentable>(
        _ text: String?
    ) throws(StoreError) -> Word? where Word.RawValue == String {
        guard let text else { return nil }
        guard let word = Word(rawValue: text) else { throw .recordMalformed }
        return word
    }

    private static func periodIndex(_ number: Int64?) throws(StoreError) -> UInt32? {
        guard let number else { return nil }
        guard let index = UInt32(exactly: number) else { throw .recordMalformed }
        return index
    }
}

/// A stored content key before its seal is opened.
package struct StoredContentKey: Sendable {
    package let attributes: ContentKeyAttributes
    package let sealed: SealedContentKey

    package init(attributes: ContentKeyAttributes, sealed: SealedContentKey) {
        self.attributes = attributes
        self.sealed = sealed
    }

    /// Reads the columns of `ContentKeyAttributes`, then key_version and sealed.
    package init(reading row: borrowing some StoredRow & ~Copyable) throws(StoreError) {
        guard let keyVersion = UInt32(exactly: try row.integer(at: 10)) else { throw .recordMalformed }
        attributes = try ContentKeyAttributes(reading: row)
        sealed = SealedContentKey(keyVersion: keyVersion, bytes: try row.bytes(at: 11))
    }

    /// Seals a record. Throws `cryptographyFailed` if that fails.
    package init(sealing record: ContentKeyRecord, with sealing: KeySealing) throws(StoreError) {
        attributes = record.attributes
        do { sealed = try sealing.seal(record) } catch { throw .cryptographyFailed }
    }

    /// Opens the seal. Throws `sealBroken` if it does not open for these attributes.
    package func open(with ring: KeyRing) throws(StoreError) -> ContentKeyRecord {
        do {
            return try ring.open(sealed, attributes: attributes)
        } catch .authenticationFailed {
            throw .sealBroken(attributes.keyID)
        } catch {
            throw .cryptographyFailed
        }
    }

    /// Returns the same key, sealed in another state. If its seal is broken and the state is `withdrawn`, the seal
    /// stays as it is, because a key that cannot be opened may still be withdrawn.
    package func sealed(in state: ContentKeyState, with ring: KeyRing) throws(StoreError) -> StoredContentKey {
        var attributes = attributes
        attributes.state = state
        do throws(StoreError) {
            let record = try open(with: ring)
            // A record was made with this key and vector before.
            guard let changed = try? ContentKeyRecord(attributes: attributes, key: record.key, iv: record.iv) else {
                throw .cryptographyFailed
            }
            return try StoredContentKey(sealing: changed, with: ring.current)
        } catch .sealBroken where state == .withdrawn {
            return StoredContentKey(attributes: attributes, sealed: sealed)
        }
    }
}

extension StoredContentKey {
    /// Whether a look-up ends with this key, which an alias or this key id has named. A withdrawn key that its own id
    /// has named does not count, so the next candidate is tried.
    package func decides(by keyID: KeyID) -> Bool {
        attributes.state == .live || attributes.keyID != keyID
    }
}
