import ByteCoding
import ContentKeys
import KeyCrypto

/// A row of `content_key` before its seal is opened.
struct ContentKeyRow: Sendable {
    let attributes: ContentKeyAttributes
    let sealed: SealedContentKey

    /// Seals a record. Throws `cryptographyFailed` when that is not possible.
    init(sealing record: ContentKeyRecord, with sealing: KeySealing) throws(StoreError) {
        attributes = record.attributes
        do { sealed = try sealing.seal(record) } catch { throw .cryptographyFailed }
    }

    /// Reads the columns of `ContentKeyAttributes.init(reading:)`, then key_version and sealed.
    init(reading row: borrowing SQLiteStatement) throws(StoreError) {
        attributes = try ContentKeyAttributes(reading: row)
        guard let keyVersion = UInt32(exactly: try row.integer(at: 10)) else { throw .recordMalformed }
        sealed = SealedContentKey(keyVersion: keyVersion, bytes: try row.bytes(at: 11))
    }

    /// Opens the seal. Throws `sealBroken` when it does not hold for these attributes.
    func open(with ring: KeyRing) throws(StoreError) -> ContentKeyRecord {
        do {
            return try ring.open(sealed, attributes: attributes)
        } catch .authenticationFailed {
            throw .sealBroken(attributes.keyID)
        } catch {
            throw .cryptographyFailed
        }
    }
}

extension ContentKeyAttributes {
    /// Reads kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp and
    /// least_security_level.
    init(reading row: borrowing SQLiteStatement) throws(StoreError) {
        guard let keyID = KeyID(bytes: try row.bytes(at: 0)),
            let scheme = EncryptionScheme(rawValue: try row.text(at: 4)),
            let state = KeyState(rawValue: try row.text(at: 5))
        else { throw .recordMalformed }
        self.init(
            keyID: keyID, contentID: try Self.contentID(row), track: try Self.track(row),
            periodIndex: try Self.periodIndex(row), scheme: scheme, state: state, createdAt: try row.integer(at: 6),
            leastHDCP: try Self.word(row, at: 8), leastSecurityLevel: try Self.word(row, at: 9))
    }

    private static func contentID(_ row: borrowing SQLiteStatement) throws(StoreError) -> ContentID {
        let text = try row.text(at: 1)
        do { return try ContentID(text) } catch { throw .recordMalformed }
    }

    private static func track(_ row: borrowing SQLiteStatement) throws(StoreError) -> Track {
        let label = try trackLabel(row)
        let contentType: ContentType? = try word(row, at: 7)
        do throws(TrackError) {
            return try Track(label: label, contentType: contentType ?? assumedType(of: label))
        } catch {
            throw .recordMalformed
        }
    }

    /// The type of a row of an older version, which knew none. Behind a packager's own label may be anything, so it has the strictest
    /// policy; nil where the label or its absence says the type.
    private static func assumedType(of label: TrackLabel?) -> ContentType? {
        guard let label, label.contentType == nil else { return nil }
        return .uhd
    }

    private static func trackLabel(_ row: borrowing SQLiteStatement) throws(StoreError) -> TrackLabel? {
        guard !row.isNull(at: 2) else { return nil }
        let text = try row.text(at: 2)
        do { return try TrackLabel(text) } catch { throw .recordMalformed }
    }

    private static func word<Word: RawRepresentable>(
        _ row: borrowing SQLiteStatement, at column: Int32
    ) throws(StoreError) -> Word? where Word.RawValue == String {
        guard !row.isNull(at: column) else { return nil }
        guard let word = Word(rawValue: try row.text(at: column)) else { throw .recordMalformed }
        return word
    }

    private static func periodIndex(_ row: borrowing SQLiteStatement) throws(StoreError) -> UInt32? {
        guard !row.isNull(at: 3) else { return nil }
        guard let index = UInt32(exactly: try row.integer(at: 3)) else { throw .recordMalformed }
        return index
    }
}
