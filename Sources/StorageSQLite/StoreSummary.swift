import ByteCoding
package import ContentKeys
package import Records

/// What a database file of this program says of itself, without a secret. Read while a daemon may be writing to it.
package struct StoreSummary: Equatable, Sendable {
    /// The number of the last step of its schema.
    package var schema: Int64
    /// Programs that know fewer steps than this cannot work with it.
    package var oldestProgram: Int64
    /// The id of the node whose ledger it is.
    package var node: NodeID
    /// The first sequence of the ledger's rows; nil if there are none.
    package var firstSequence: Int64?
    /// To what the ledger's next batch is tied.
    package var link: LedgerLink
    /// When the last batch was sealed, in seconds since 1970; nil for an empty ledger.
    package var sealedAt: Int64?
    /// How many ledger entries there are.
    package var entryCount: Int64
    /// How many content keys there are.
    package var keyCount: Int64
    /// The highest time that was trusted, in seconds since 1970; nil if none was kept.
    package var settled: Int64?

    /// How many steps this program knows.
    package static var knownSchema: Int64 { Int64(SQLiteSchema.migrations.count) }

    /// Reads an existing file and changes nothing. Throws `foreignDatabase`, `retiredSchema`, and `ledgerMissing` for a
    /// file without tables.
    package static func read(path: String) throws(StorageOpeningError) -> StoreSummary {
        guard try DatabaseFile.exists(path) else { throw .fileNotUsable(path: path, errno: 2) }
        var connection = try wrap(
            StorageOpeningError.store, try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: 5000))
        let state = try wrap(StorageOpeningError.store) { () throws(StoreError) in
            try connection.execute("PRAGMA query_only = ON; BEGIN")
            return try connection.schemaState()
        }
        switch state {
        case .empty: throw .ledgerMissing(path: path)
        case .foreign: throw .foreignDatabase(path: path)
        case .retired: throw .retiredSchema(path: path)
        case .migrated(let newest, let oldestProgram):
            return try wrap(StorageOpeningError.store) { () throws(StoreError) in
                try StoreSummary(&connection, newest, oldestProgram)
            }
        }
    }

    private init(
        _ connection: inout SQLiteConnection, _ schema: Int64, _ oldestProgram: Int64
    ) throws(StoreError) {
        self.schema = schema
        self.oldestProgram = oldestProgram
        keyCount = try connection.readInteger("SELECT count(*) FROM content_key")
        var selects = try LedgerSelects.prepare(on: &connection)
        let last = try selects.batches(atOrBefore: .max, limit: 1).first
        (link, sealedAt) = (last?.link ?? .start, last?.at)
        entryCount = try connection.readInteger("SELECT count(*) FROM ledger_entry")
        firstSequence = entryCount > 0 ? try connection.readInteger("SELECT min(sequence) FROM ledger_entry") : nil
        node = try connection.nodeID()
        var clock = try connection.prepare("SELECT settled FROM clock WHERE id = 1")
        settled = try clock.first { row throws(StoreError) in try row.integer(at: 0) }
    }
}

/// Opens every sealed key of a copy, and changes nothing in it: neither its schema nor its proofs.
package enum SealedKeyCheck {
    /// Hands over what is wrong with the keys, page by page, with the number of keys looked at so far.
    ///
    /// Throws `keyEncryptionKeyDiffers` or `keyEncryptionKeyMissing` if the ring is not the file's.
    package static func run(
        path: String, keyRing ring: KeyRing, report: (Int, [KeyFinding]) -> Void
    ) throws(StorageOpeningError) {
        var connection = try wrap(
            StorageOpeningError.store, try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: 5000))
        try wrap(StorageOpeningError.store, try connection.execute("PRAGMA query_only = ON"))
        try connection.checkProof(of: ring)
        try wrap(StorageOpeningError.store) { () throws(StoreError) in
            var statement = try SQLiteKeyMaintenance.preparePages(on: &connection)
            var (count, last) = (0, [UInt8]())
            while true {
                let step = try statement.checkKeys(after: last, limit: 500, ring)
                count += step.count
                report(count, step.findings)
                guard let position = step.last else { return }
                last = position
            }
        }
    }
}

/// Compares secrets with the proofs in a copy, and changes nothing in it.
package enum SecretProofCheck {
    /// Throws `secretDiffers` if the copy was made with another secret.
    package static func run(path: String, secrets: SharedSecrets) throws(StorageOpeningError) {
        var connection = try wrap(
            StorageOpeningError.store, try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: 5000))
        try wrap(StorageOpeningError.store, try connection.execute("PRAGMA query_only = ON"))
        do throws(SecretProofError<StoreError>) {
            try secrets.check(in: &connection)
        } catch {
            throw StorageOpeningError(error)
        }
    }
}
