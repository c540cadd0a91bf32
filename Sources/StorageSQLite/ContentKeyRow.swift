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
        guard let keyVersion = UInt32(exactly: try row.integer(at: 7)) else { throw .recordMalformed }
        sealed = SealedContentKey(keyVersion: keyVersion, bytes: try row.bytes(at: 8))
    }

    /// Opens the seal. Throws `sealBroken` when it does not hold for these attributes.
    func open(with sealing: KeySealing) throws(StoreError) -> ContentKeyRecord {
        do {
            return try sealing.open(sealed, attributes: attributes)
        } catch .authenticationFailed {
            throw .sealBroken(attributes.keyID)
        } catch {
            throw .cryptographyFailed
        }
    }
}

extension ContentKeyAttributes {
    /// Reads kid, content_id, track_label, period_index, scheme, state and created_at.
    init(reading row: borrowing SQLiteStatement) throws(StoreError) {
        guard let keyID = KeyID(bytes: try row.bytes(at: 0)),
            let scheme = EncryptionScheme(rawValue: try row.text(at: 4)),
            let state = KeyState(rawValue: try row.text(at: 5))
        else { throw .recordMalformed }
        self.init(
            keyID: keyID, contentID: try Self.contentID(row), trackLabel: try Self.trackLabel(row),
            periodIndex: try Self.periodIndex(row), scheme: scheme, state: state, createdAt: try row.integer(at: 6))
    }

    private static func contentID(_ row: borrowing SQLiteStatement) throws(StoreError) -> ContentID {
        let text = try row.text(at: 1)
        do { return try ContentID(text) } catch { throw .recordMalformed }
    }

    private static func trackLabel(_ row: borrowing SQLiteStatement) throws(StoreError) -> TrackLabel? {
        guard !row.isNull(at: 2) else { return nil }
        let text = try row.text(at: 2)
        do { return try TrackLabel(text) } catch { throw .recordMalformed }
    }

    private static func periodIndex(_ row: borrowing SQLiteStatement) throws(StoreError) -> UInt32? {
        guard !row.isNull(at: 3) else { return nil }
        guard let index = UInt32(exactly: try row.integer(at: 3)) else { throw .recordMalformed }
        return index
    }
}
