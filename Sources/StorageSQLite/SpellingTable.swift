import ByteCoding
import ContentKeys

/// Keeps ids apart that one asset id may mean (`SpelledName`). All calls run within a transaction.
struct SpellingTable: ~Copyable {
    private var contentsOfKey, keysOfContent, insertPair, anyKey, contentOfKey: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> SpellingTable {
        try SpellingTable(
            contentsOfKey: connection.prepare("SELECT content_id FROM key_spelling WHERE kid = ?1"),
            keysOfContent: connection.prepare("SELECT kid FROM key_spelling WHERE content_id = ?1"),
            insertPair: connection.prepare(
                "INSERT INTO key_spelling (kid, content_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING"),
            anyKey: connection.prepare("SELECT 1 FROM content_key WHERE content_id = ?1 LIMIT 1"),
            contentOfKey: connection.prepare("SELECT content_id FROM content_key WHERE kid = ?1"))
    }

    /// Notes the ids of a key that is about to be stored. Throws `keyIDSpellsContent` if one of them is new and its
    /// other meaning exists. A content that has a key already may get further ones.
    mutating func claim(_ key: ContentKeyAttributes) throws(StoreError) {
        let isNewContent = try anyKey.run(key.contentID) == 0
        let pairs = isNewContent ? SpelledName.names(of: key) : SpelledName.names(of: key.keyID)
        for pair in pairs { try insertPair.run(pair.keyID, pair.contentID) }
        for contentID in try contents(spelledBy: key.keyID) where contentID != key.contentID {
            if try anyKey.run(contentID) > 0 { throw .keyIDSpellsContent(key.keyID, contentID) }
        }
        guard isNewContent else { return }
        for keyID in try keyIDs(spelledBy: key.contentID) {
            if let owner = try owner(of: keyID), owner != key.contentID {
                throw .keyIDSpellsContent(keyID, key.contentID)
            }
        }
    }

    /// Checks a new alias of a content's key. Throws `aliasNamesContent` if it is the name of another content or key.
    mutating func check(_ alias: AssetID, of contentID: ContentID) throws(StoreError) {
        for name in AssetReference(alias).ownNames {
            switch name {
            case .alias, .track: break
            case .keyID(let keyID):
                if let owner = try owner(of: keyID), owner != contentID { throw .aliasNamesContent(owner) }
            case .contentID(let other):
                if other != contentID, try anyKey.run(other) > 0 { throw .aliasNamesContent(other) }
            }
        }
    }

    private mutating func contents(spelledBy keyID: KeyID) throws(StoreError) -> [ContentID] {
        try contentsOfKey.rows(keyID) { row throws(StoreError) in try row.contentID(at: 0) }
    }

    private mutating func keyIDs(spelledBy contentID: ContentID) throws(StoreError) -> [KeyID] {
        try keysOfContent.rows(contentID) { row throws(StoreError) in try row.keyID(at: 0) }
    }

    /// The content of a stored key; nil if no key has this id.
    private mutating func owner(of keyID: KeyID) throws(StoreError) -> ContentID? {
        try contentOfKey.first(keyID) { row throws(StoreError) in try row.contentID(at: 0) }
    }
}
