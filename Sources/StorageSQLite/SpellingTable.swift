import ByteCoding
import ContentKeys

/// Keeps ids apart that one asset id may mean (`SpelledName`). All calls run within a transaction.
struct SpellingTable: ~Copyable {
    private var contentsOfKey: SQLiteStatement
    private var keysOfContent: SQLiteStatement
    private var insertPair: SQLiteStatement
    private var anyKey: SQLiteStatement
    private var anyLiveKey: SQLiteStatement
    private var contentOfKey: SQLiteStatement

    init(_ connection: inout SQLiteConnection) throws(StoreError) {
        let contentsOfKey = try connection.prepare("SELECT content_id FROM key_spelling WHERE kid = ?1")
        let keysOfContent = try connection.prepare("SELECT kid FROM key_spelling WHERE content_id = ?1")
        let insertPair = try connection.prepare(
            "INSERT INTO key_spelling (kid, content_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING")
        let anyKey = try connection.prepare("SELECT 1 FROM content_key WHERE content_id = ?1 LIMIT 1")
        let anyLiveKey = try connection.prepare(
            "SELECT 1 FROM content_key WHERE content_id = ?1 AND state = 'live' LIMIT 1")
        let contentOfKey = try connection.prepare("SELECT content_id, state FROM content_key WHERE kid = ?1")
        self.contentsOfKey = contentsOfKey
        self.keysOfContent = keysOfContent
        self.insertPair = insertPair
        self.anyKey = anyKey
        self.anyLiveKey = anyLiveKey
        self.contentOfKey = contentOfKey
    }

    /// Notes the ids of a key that is about to be stored. Throws `keyIDSpellsContent` if one of them is new and its
    /// other meaning exists. A content that has a key already may get further ones.
    mutating func claim(_ key: ContentKeyAttributes) throws(StoreError) {
        let isNewContent = try !Self.exists(key.contentID, &anyKey)
        let pairs = isNewContent ? SpelledName.names(of: key) : SpelledName.names(of: key.keyID)
        for pair in pairs { try insert(pair) }
        for contentID in try contents(spelledBy: key.keyID) where contentID != key.contentID {
            if try Self.exists(contentID, &anyKey) { throw .keyIDSpellsContent(key.keyID, contentID) }
        }
        guard isNewContent else { return }
        for keyID in try keyIDs(spelledBy: key.contentID) {
            if let owner = try owner(of: keyID), owner.contentID != key.contentID {
                throw .keyIDSpellsContent(keyID, key.contentID)
            }
        }
    }

    /// Checks a withdrawn key that is about to be live again. Throws `keyIDSpellsContent` if a live key has the other
    /// meaning of one of its ids.
    mutating func checkRestored(_ key: ContentKeyAttributes) throws(StoreError) {
        for contentID in try contents(spelledBy: key.keyID) where contentID != key.contentID {
            if try Self.exists(contentID, &anyLiveKey) { throw .keyIDSpellsContent(key.keyID, contentID) }
        }
        if try Self.exists(key.contentID, &anyLiveKey) { return }
        for keyID in try keyIDs(spelledBy: key.contentID) {
            if let owner = try owner(of: keyID), owner.contentID != key.contentID, owner.isLive {
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
                if let owner = try owner(of: keyID), owner.contentID != contentID {
                    throw .aliasNamesContent(owner.contentID)
                }
            case .contentID(let other):
                if other != contentID, try Self.exists(other, &anyKey) { throw .aliasNamesContent(other) }
            }
        }
    }

    mutating func insert(_ pair: SpelledName) throws(StoreError) {
        defer { insertPair.reset() }
        try insertPair.bind(pair.keyID.bytes, at: 1)
        try insertPair.bind(pair.contentID.text, at: 2)
        _ = try insertPair.step()
    }

    private static func exists(
        _ contentID: ContentID, _ statement: inout SQLiteStatement
    ) throws(StoreError) -> Bool {
        defer { statement.reset() }
        try statement.bind(contentID.text, at: 1)
        return try statement.step()
    }

    private mutating func contents(spelledBy keyID: KeyID) throws(StoreError) -> [ContentID] {
        defer { contentsOfKey.reset() }
        try contentsOfKey.bind(keyID.bytes, at: 1)
        var found: [ContentID] = []
        while try contentsOfKey.step() {
            guard let contentID = try? ContentID(contentsOfKey.text(at: 0)) else { throw .recordMalformed }
            found.append(contentID)
        }
        return found
    }

    private mutating func keyIDs(spelledBy contentID: ContentID) throws(StoreError) -> [KeyID] {
        defer { keysOfContent.reset() }
        try keysOfContent.bind(contentID.text, at: 1)
        var found: [KeyID] = []
        while try keysOfContent.step() {
            guard let keyID = KeyID(bytes: try keysOfContent.bytes(at: 0)) else { throw .recordMalformed }
            found.append(keyID)
        }
        return found
    }

    /// The content of a stored key; nil if no key has this id.
    private mutating func owner(of keyID: KeyID) throws(StoreError) -> (contentID: ContentID, isLive: Bool)? {
        defer { contentOfKey.reset() }
        try contentOfKey.bind(keyID.bytes, at: 1)
        guard try contentOfKey.step() else { return nil }
        guard let contentID = try? ContentID(contentOfKey.text(at: 0)) else { throw .recordMalformed }
        return (contentID, try contentOfKey.text(at: 1) == ContentKeyState.live.rawValue)
    }
}

extension SQLiteConnection {
    /// Notes the pairs of all keys and contents that an older version has stored. Runs within the migration.
    mutating func fillSpellings() throws(StoreError) {
        var pairs: [SpelledName] = []
        var keys = try prepare("SELECT kid FROM content_key")
        while try keys.step() {
            guard let keyID = KeyID(bytes: try keys.bytes(at: 0)) else { throw .recordMalformed }
            pairs += SpelledName.names(of: keyID)
        }
        var contents = try prepare("SELECT DISTINCT content_id FROM content_key")
        while try contents.step() {
            guard let contentID = try? ContentID(contents.text(at: 0)) else { throw .recordMalformed }
            pairs += SpelledName.names(of: contentID)
        }
        var table = try SpellingTable(&self)
        for pair in pairs { try table.insert(pair) }
    }
}
