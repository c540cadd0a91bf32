package import ByteCoding
package import ContentKeys

/// The operator's work on many stored content keys: import, sealing again, withdrawal, deletion.
///
/// Runs beside the daemon, in transactions of a few hundred rows, and blocks its thread.
package final class SQLiteKeyMaintenance: KeyMaintenance {
    private let ring: KeyRing
    private var writer: KeyWriter
    private var pageByVersion, replaceKey, deleteAlias, deleteAliases, deleteKey, aliases, deleteProof,
        countKeys: SQLiteStatement
    private(set) var connection: SQLiteConnection

    /// Opens the database as `SQLiteKeyStore.open` does.
    package static func open(
        path: String, keyRing: KeyRing, busyTimeoutMilliseconds: Int32 = 5000
    ) throws(StorageOpeningError) -> SQLiteKeyMaintenance {
        // This migrates the schema and checks the proofs of the key-encryption keys.
        _ = try SQLiteKeyStore.open(
            path: path, keyRing: keyRing, maximumReaders: 1, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
        return try wrap(StorageOpeningError.store) { () throws(StoreError) in
            try SQLiteKeyMaintenance(
                keyRing, SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds),
                KeyWriter.prepare(
                    on: SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)))
        }
    }

    private init(
        _ ring: KeyRing, _ connection: consuming SQLiteConnection, _ writer: consuming KeyWriter
    ) throws(StoreError) {
        pageByVersion = try Self.preparePages(on: &connection)
        replaceKey = try connection.prepare(
            "UPDATE content_key SET state = ?1, key_version = ?2, sealed = ?3 WHERE kid = ?4 AND sealed = ?5")
        deleteAlias = try connection.prepare("DELETE FROM asset_alias WHERE alias = ?1 AND kid = ?2")
        deleteAliases = try connection.prepare("DELETE FROM asset_alias WHERE kid = ?1")
        deleteKey = try connection.prepare("DELETE FROM content_key WHERE kid = ?1")
        aliases = try connection.prepare("SELECT alias FROM asset_alias WHERE kid = ?1 ORDER BY alias")
        deleteProof = try connection.prepare(
            """
            DELETE FROM key_encryption_key WHERE version <> ?1
                AND NOT EXISTS (SELECT 1 FROM content_key WHERE key_version = key_encryption_key.version)
            """)
        countKeys = try connection.prepare("SELECT count(*) FROM content_key")
        self.ring = ring
        self.writer = writer
        self.connection = connection
    }

    /// Prepares what reads keys in the order of their ids: those behind the first parameter, at most as many as the
    /// second.
    static func preparePages(on connection: inout SQLiteConnection) throws(StoreError) -> SQLiteStatement {
        try connection.prepare(
            "SELECT \(ContentKeyRow.columns) FROM content_key WHERE kid > ?1 ORDER BY kid LIMIT ?2")
    }

    package func count() throws(StoreError) -> Int { Int(try countKeys.readInteger()) }

    // MARK: Import

    package func store(_ imports: [KeyImport]) throws(StoreError) -> Int {
        var rows: [ContentKeyRow] = []
        for item in imports { rows.append(try ContentKeyRow(sealing: item.record, with: ring.current)) }
        var storedCount = 0
        try writer.transaction { writer throws(StoreError) in
            try writer.checkPeriods(of: rows.map(\.attributes))
            for (item, row) in zip(imports, rows) {
                if let present = try writer.insertWithinTransaction(row) {
                    guard try present.open(with: ring).isSameKey(as: item.record) else {
                        throw .keyIDTaken(item.record.keyID)
                    }
                } else {
                    storedCount += 1
                }
                for alias in item.aliases { try writer.addAliasWithinTransaction(alias, to: item.record.keyID) }
            }
        }
        return storedCount
    }

    // MARK: Sealing again

    package func rewrap(after keyID: KeyID?, limit: Int) throws(StoreError) -> KeyRewrapStep {
        let rows = try page(after: keyID, limit: limit)
        var changes: [(old: ContentKeyRow, new: ContentKeyRow)] = []
        for row in rows where row.sealed.keyVersion != ring.current.version {
            changes.append((row, try ContentKeyRow(sealing: row.open(with: ring), with: ring.current)))
        }
        if !changes.isEmpty {
            try connection.beginImmediate()
            do throws(StoreError) {
                for change in changes { try replace(change.old, with: change.new) }
                try connection.commit()
            } catch {
                connection.rollBack()
                throw error
            }
        }
        return KeyRewrapStep(
            last: rows.count < limit ? nil : rows.last?.attributes.keyID, count: rows.count, changed: changes.count)
    }

    package func forgetUnusedKeys() throws(StoreError) -> Int {
        try deleteProof.run(Int64(ring.current.version))
        return connection.changedRowCount
    }

    private func page(after keyID: KeyID?, limit: Int) throws(StoreError) -> [ContentKeyRow] {
        try pageByVersion.rows(keyID?.bytes ?? [], limit, read: ContentKeyRow.init(reading:))
    }

    /// Replaces a row's state and seal. A row that has changed in the meantime stays as it is.
    private func replace(_ old: ContentKeyRow, with new: ContentKeyRow) throws(StoreError) {
        try replaceKey.run(
            new.attributes.state.rawValue, new.sealed.keyVersion, new.sealed.bytes, new.attributes.keyID,
            old.sealed.bytes)
    }

    // MARK: Checking

    package func check(after keyID: [UInt8]?, limit: Int) throws(StoreError) -> KeyCheckStep {
        try pageByVersion.checkKeys(after: keyID ?? [], limit: limit, ring)
    }

    // MARK: One key

    package func key(_ keyID: KeyID) throws(StoreError) -> (record: ContentKeyRecord, aliases: [AssetID])? {
        guard let row = try writer.row(of: keyID) else { return nil }
        return (try row.open(with: ring), try aliases(of: keyID))
    }

    package func set(_ state: ContentKeyState, of keyID: KeyID) throws(StoreError) {
        try connection.beginImmediate()
        do throws(StoreError) {
            guard let row = try writer.row(of: keyID) else { throw .keyUnknown(keyID) }
            // This connection has the lock for writing, so what the other connection has read cannot change.
            try replace(row, with: row.sealed(in: state, with: ring))
            try connection.commit()
        } catch {
            connection.rollBack()
            throw error
        }
    }

    package func remove(alias: AssetID, of keyID: KeyID) throws(StoreError) -> Bool {
        try deleteAlias.run(alias.bytes, keyID)
        return connection.changedRowCount == 1
    }

    package func delete(_ keyID: KeyID) throws(StoreError) {
        try connection.beginImmediate()
        do throws(StoreError) {
            try deleteAliases.run(matching: keyID)
            try deleteKey.run(matching: keyID)
            guard connection.changedRowCount == 1 else { throw .keyUnknown(keyID) }
            try connection.commit()
        } catch {
            connection.rollBack()
            throw error
        }
    }

    private func aliases(of keyID: KeyID) throws(StoreError) -> [AssetID] {
        try aliases.rows(keyID) { row throws(StoreError) in
            let bytes = try row.bytes(at: 0)
            do throws(IdentifierError) { return try AssetID(bytes: bytes) } catch { throw .recordMalformed }
        }
    }
}

extension KeyFinding {
    /// Returns nil if the row's seal opens.
    fileprivate init?(reading row: borrowing SQLiteStatement, keyID: [UInt8], _ ring: KeyRing) {
        do throws(StoreError) {
            _ = try ContentKeyRow(reading: row).open(with: ring)
            return nil
        } catch .recordMalformed {
            self = .malformed(keyID: keyID)
        } catch {
            self = .sealBroken(keyID: keyID)
        }
    }
}

extension SQLiteStatement {
    /// Opens the seals of the next keys. Of `SQLiteKeyMaintenance.pages`.
    mutating func checkKeys(after keyID: [UInt8], limit: Int, _ ring: KeyRing) throws(StoreError) -> KeyCheckStep {
        defer { reset() }
        try bind(keyID, limit)
        var (last, count, findings) = ([UInt8]?.none, 0, [KeyFinding]())
        while try step() {
            let stored = try bytes(at: 0)
            if let finding = KeyFinding(reading: self, keyID: stored, ring) { findings.append(finding) }
            (last, count) = (stored, count + 1)
        }
        return KeyCheckStep(last: count < limit ? nil : last, count: count, findings: findings)
    }

    fileprivate mutating func run(matching keyID: KeyID) throws(StoreError) {
        try run(keyID)
    }
}
