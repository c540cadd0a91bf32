package import ByteCoding
import KeyCrypto

/// The columns of a stored content key without its seal, the same in every database, before they are checked.
package struct ContentKeyColumns: Sendable {
    package var keyID: [UInt8]
    package var contentID: String
    package var trackLabel: String?
    package var periodIndex: Int64?
    package var scheme: String
    package var state: String
    package var createdAt: Int64
    /// The content type; nil in rows of a version that had none.
    package var contentType: String?
    package var leastHDCP: String?
    package var leastSecurityLevel: String?

    /// Makes a value from the columns that are never NULL.
    package init(keyID: [UInt8], contentID: String, scheme: String, state: String, createdAt: Int64) {
        self.keyID = keyID
        self.contentID = contentID
        self.scheme = scheme
        self.state = state
        self.createdAt = createdAt
    }
}

extension ContentKeyAttributes {
    /// Reads the columns. Throws `recordMalformed` if they have a value that this program never writes.
    package init(stored columns: ContentKeyColumns) throws(StoreError) {
        guard let keyID = KeyID(bytes: columns.keyID), let scheme = EncryptionScheme(rawValue: columns.scheme),
            let state = ContentKeyState(rawValue: columns.state)
        else { throw .recordMalformed }
        self.init(
            keyID: keyID, contentID: try Self.contentID(columns), track: try Self.track(columns),
            periodIndex: try Self.periodIndex(columns), scheme: scheme, createdAt: columns.createdAt)
        self.state = state
        leastHDCP = try Self.word(columns.leastHDCP)
        leastSecurityLevel = try Self.word(columns.leastSecurityLevel)
    }

    private static func contentID(_ columns: ContentKeyColumns) throws(StoreError) -> ContentID {
        do { return try ContentID(columns.contentID) } catch { throw .recordMalformed }
    }

    private static func track(_ columns: ContentKeyColumns) throws(StoreError) -> Track {
        let label = try trackLabel(columns)
        let contentType: ContentType? = try word(columns.contentType)
        do throws(TrackError) {
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

    private static func trackLabel(_ columns: ContentKeyColumns) throws(StoreError) -> TrackLabel? {
        guard let text = columns.trackLabel else { return nil }
        do { return try TrackLabel(text) } catch { throw .recordMalformed }
    }

    private static func word<Word: RawRepresentable>(
        _ text: String?
    ) throws(StoreError) -> Word? where Word.RawValue == String {
        guard let text else { return nil }
        guard let word = Word(rawValue: text) else { throw .recordMalformed }
        return word
    }

    private static func periodIndex(_ columns: ContentKeyColumns) throws(StoreError) -> UInt32? {
        guard let number = columns.periodIndex else { return nil }
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
