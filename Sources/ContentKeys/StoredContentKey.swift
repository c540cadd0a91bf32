package import ByteCoding
import KeyCrypto

extension ContentKeyAttributes {
    /// Reads kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp and
    /// least_security_level.
    package init(reading row: borrowing some StoredRow & ~Copyable) throws(StoreError) {
        guard let scheme = EncryptionScheme(rawValue: try row.text(at: 4)),
            let state = ContentKeyState(rawValue: try row.text(at: 5))
        else { throw .recordMalformed }
        self.init(
            keyID: try row.keyID(at: 0), contentID: try row.contentID(at: 1),
            track: try Self.track(label: row.optionalText(at: 2), contentType: row.optionalText(at: 7)),
            periodIndex: try Self.periodIndex(row.optionalInteger(at: 3)), scheme: scheme,
            createdAt: try row.integer(at: 6))
        self.state = state
        leastHDCP = try Self.word(row.optionalText(at: 8))
        leastSecurityLevel = try Self.word(row.optionalText(at: 9))
    }

    private static func track(label text: String?, contentType: String?) throws(StoreError) -> Track {
        let contentType: ContentType? = try word(contentType)
        do {
            let label = try text.map { try TrackLabel($0) }
            return try Track(label: label, contentType: contentType ?? assumedType(of: label))
        } catch {
            throw .recordMalformed
        }
    }

    /// Returns the content type for a row of an older version, which stored none. A key with a packager's own label may
    /// be for any content, so it gets the strictest policy. Returns nil if the label or its absence determines the
    /// type.
    private static func assumedType(of label: TrackLabel?) -> ContentType? {
        guard let label, label.contentType == nil else { return nil }
        return .uhd
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

    /// Reads the columns of `ContentKeyAttributes`, then key_version, sealed and bound.
    package init(reading row: borrowing some StoredRow & ~Copyable) throws(StoreError) {
        guard let keyVersion = UInt32(exactly: try row.integer(at: 10)) else { throw .recordMalformed }
        attributes = try ContentKeyAttributes(reading: row)
        sealed = SealedContentKey(
            keyVersion: keyVersion, bytes: try row.bytes(at: 11), bound: try row.optionalBytes(at: 12))
    }

    /// Seals a record. Throws `cryptographyFailed` if that fails.
    package init(sealing record: ContentKeyRecord, with sealing: KeySealing) throws(StoreError) {
        attributes = record.attributes
        do { sealed = try sealing.seal(record) } catch { throw .cryptographyFailed }
    }

    /// Opens the seal. Throws `sealBroken` if it does not open for these attributes.
    package func open(with ring: KeyRing) throws(StoreError) -> ContentKeyRecord {
        try opened { () throws(CryptoError) in try ring.open(sealed, attributes: attributes) }
    }

    /// Opens both forms of the seal. Throws `sealBroken` if one does not open for these attributes, or if the forms
    /// contain different keys.
    package func check(with ring: KeyRing) throws(StoreError) {
        let record = try open(with: ring)
        let unbound = try opened { () throws(CryptoError) in try ring.openUnbound(sealed, attributes: attributes) }
        guard record == unbound else { throw .sealBroken(attributes.keyID) }
    }

    /// Whether the row must be sealed again: under the current key-encryption key, or in form 2.
    package func needsSealing(with ring: KeyRing) -> Bool {
        sealed.keyVersion != ring.current.version || !sealed.isBound
    }

    /// Returns the same key, sealed in another state. Returns nil if the seal is broken and the state is `withdrawn`,
    /// because a key that cannot be opened may still be withdrawn.
    package func sealed(
        in state: ContentKeyState, with ring: KeyRing
    ) throws(StoreError) -> StoredContentKey? {
        do throws(StoreError) {
            let record = try open(with: ring)
            var attributes = record.attributes
            attributes.state = state
            return StoredContentKey(attributes: attributes, sealed: try sealing(record, attributes, ring))
        } catch .sealBroken where state == .withdrawn {
            return nil
        }
    }

    private func sealing(
        _ record: ContentKeyRecord, _ attributes: ContentKeyAttributes, _ ring: KeyRing
    ) throws(StoreError) -> SealedContentKey {
        do {
            return try ring.current.seal(ContentKeyRecord(attributes: attributes, key: record.key, iv: record.iv))
        } catch {
            throw .cryptographyFailed
        }
    }

    private func opened(
        _ open: () throws(CryptoError) -> ContentKeyRecord
    ) throws(StoreError) -> ContentKeyRecord {
        do {
            return try open()
        } catch .authenticationFailed {
            throw .sealBroken(attributes.keyID)
        } catch {
            throw .cryptographyFailed
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
