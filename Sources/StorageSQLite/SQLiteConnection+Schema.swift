import ByteCoding
import ContentKeys

extension SQLiteConnection {
    /// Migrates a file to this program's schema, and turns its write-ahead log on.
    ///
    /// Runs all missing steps or none. A file that is refused is not changed.
    mutating func migrate(
        _ steps: [SQLiteSchema.Migration] = SQLiteSchema.migrations, path: String
    ) throws(StorageOpeningError) {
        do throws(SchemaError<StoreError>) {
            try SchemaMigrator(steps).run(on: &self)
        } catch {
            switch error {
            case .foreign: throw .foreignDatabase(path: path)
            case .retired: throw .retiredSchema(path: path)
            case .tooNew(let found, let supported): throw .schemaTooNew(found: found, supported: supported)
            case .database(let error): throw .store(error)
            }
        }
        // If no step was missing, the write-ahead log has not been turned on yet.
        try wrap(StorageOpeningError.store, try useWriteAheadLog())
    }

    /// Compares the key-encryption keys with the proofs in the file, and adds the proofs of new keys.
    mutating func establishProof(of ring: KeyRing) throws(StorageOpeningError) {
        do throws(KeyProofError<StoreError>) {
            try ring.establishProof(in: &self)
        } catch {
            throw StorageOpeningError(error)
        }
    }

    /// Compares the key-encryption keys with the proofs in the file, and adds no proof.
    mutating func checkProof(of ring: KeyRing) throws(StorageOpeningError) {
        do throws(KeyProofError<StoreError>) {
            try ring.checkProof(in: &self)
        } catch {
            throw StorageOpeningError(error)
        }
    }

    /// Returns the first column of the first row of a statement that always gives a row.
    mutating func readInteger(_ sql: SQL) throws(StoreError) -> Int64 {
        var statement = try prepare(sql)
        return try statement.readInteger()
    }
}

extension StorageOpeningError {
    fileprivate init(_ error: KeyProofError<StoreError>) {
        switch error {
        case .differs: self = .keyEncryptionKeyDiffers
        case .missing(let version): self = .keyEncryptionKeyMissing(version: version)
        case .cryptographyFailed: self = .store(.cryptographyFailed)
        case .database(let error): self = .store(error)
        }
    }
}

extension SQLiteConnection: MigratedDatabase {
    mutating func schemaState() throws(StoreError) -> SchemaState {
        var owner = try readInteger("PRAGMA application_id")
        if owner == 0 {
            guard try readInteger("SELECT count(*) FROM sqlite_schema") > 0 else { return .empty }
            // Tables and owner are written in one transaction. If the tables exist now, another process may have
            // written both since the first query.
            owner = try readInteger("PRAGMA application_id")
        }
        guard owner == SQLiteSchema.applicationID else { return .foreign }
        guard try readInteger("SELECT count(*) FROM sqlite_schema WHERE name = 'schema_version'") > 0 else {
            return .retired
        }
        return .migrated(
            newest: try readInteger("SELECT max(number) FROM schema_version"),
            oldestProgram: try readInteger("SELECT max(oldest_program) FROM schema_version"))
    }

    mutating func beginMigration() throws(StoreError) {
        // The journal mode of a file cannot change within a transaction.
        try useWriteAheadLog()
        try beginImmediate()
    }

    mutating func apply(_ step: SQLiteSchema.Migration) throws(StoreError) {
        try run(step.script)
        var record = try prepare("INSERT INTO schema_version (number, oldest_program) VALUES (?1, ?2)")
        try record.run(step.number, step.oldestProgram)
    }
}

extension SQLiteConnection: KeyProofTable {
    mutating func keyProofs() throws(StoreError) -> [KeyEncryptionKeyProof] {
        var statement = try prepare("SELECT version, proof FROM key_encryption_key ORDER BY version")
        return try statement.rows { row throws(StoreError) in
            try KeyEncryptionKeyProof(version: try row.integer(at: 0), bytes: try row.bytes(at: 1))
        }
    }

    mutating func add(_ proof: KeyEncryptionKeyProof) throws(StoreError) {
        var statement = try prepare(
            "INSERT INTO key_encryption_key (version, proof) VALUES (?1, ?2) ON CONFLICT (version) DO NOTHING")
        try statement.run(proof.version, proof.bytes)
    }
}
