import ByteCoding
package import ContentKeys
package import Records

/// Opens the file of a node's ledger, and checks that the ledger and the configured secrets belong together.
///
/// The id of a node is made with its ledger and kept in it. The name in the configuration is only for people, so a
/// renamed machine, or a new container with the same volume, continues the same ledger.
package struct LedgerFile {
    package let path: String
    private let keys: LedgerKeys
    private let busyTimeoutMilliseconds: Int32

    /// - Parameter busyTimeoutMilliseconds: How long a write waits for another process's write.
    package init(path: String, keys: LedgerKeys, busyTimeoutMilliseconds: Int32 = 5000) {
        self.path = path
        self.keys = keys
        self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    }

    /// Opens the file, or creates it with mode 0600, and migrates its schema. Compares the secrets with their stored
    /// proofs, and stores proofs of new secrets.
    ///
    /// Throws `secretDiffers` if a secret is not the one of the file. Throws `ledgerDiffers` if none of the keys has
    /// sealed the ledger's last batch.
    package func prepare(_ secrets: SharedSecrets) throws(StorageOpeningError) -> LedgerChain {
        try DatabaseFile.prepare(path)
        var connection = try connect()
        try connection.migrate(path: path)
        try DatabaseFile.checkPermissions(path)
        try wrap(StorageOpeningError.store, try connection.beginImmediate())
        do throws(StorageOpeningError) {
            try connection.establishSecrets(secrets, keys)
            let chain = try chain(of: &connection)
            try verifyEnd(chain, &connection)
            try wrap(StorageOpeningError.store, try connection.commit())
            return chain
        } catch {
            connection.rollBack()
            throw error
        }
    }

    /// Stores the proofs of the new secrets of a reload.
    package func replaceSecrets(_ secrets: SharedSecrets) throws(StorageOpeningError) {
        var connection = try connect()
        try wrap(StorageOpeningError.store, try connection.beginImmediate())
        do throws(StoreError) {
            try secrets.replace(in: &connection)
            try connection.commit()
        } catch {
            connection.rollBack()
            throw .store(error)
        }
    }

    /// Returns the chain that verifies the ledger; nil if the file does not exist or is empty. Changes nothing.
    package func chain() throws(StorageOpeningError) -> LedgerChain? {
        try DatabaseFile.checkPermissions(path)
        guard var connection = try existing() else { return nil }
        return try chain(of: &connection)
    }

    /// Returns the versions of ledger keys that have sealed batches, but are not configured.
    package func missingKeyVersions() throws(StorageOpeningError) -> [Int64] {
        guard var connection = try existing() else { return [] }
        return try wrap(StorageOpeningError.store) { () throws(StoreError) in
            keys.missingVersions(among: try connection.secretProofs())
        }
    }

    /// Returns the secret that an existing file was used with and that is not configured; nil if there is none.
    package func unconfigured(_ secrets: SharedSecrets) throws(StorageOpeningError) -> SecretProof.Name? {
        guard var connection = try existing() else { return nil }
        return try wrap(StorageOpeningError.store) { () throws(StoreError) in
            try secrets.unconfigured(in: &connection)
        }
    }

    /// Compares the configuration with all proofs in an existing file and with the ledger's last batch. Changes
    /// nothing. A file that does not exist yet is accepted if `prepare` could make it.
    package func check(_ secrets: SharedSecrets, _ ring: KeyRing?) throws(StorageOpeningError) {
        try DatabaseFile.checkAccess(path)
        try DatabaseFile.checkPermissions(path)
        guard var connection = try existing() else { return }
        if let ring { try connection.checkProof(of: ring) }
        try connection.checkSecrets(secrets, keys)
        try verifyEnd(chain(of: &connection), &connection)
    }

    /// Opens the file; nil if it does not exist or is empty.
    private func existing() throws(StorageOpeningError) -> SQLiteConnection? {
        guard try DatabaseFile.exists(path) else { return nil }
        var connection = try connect()
        guard try connection.isUsable(path: path) else { return nil }
        return connection
    }

    private func connect() throws(StorageOpeningError) -> SQLiteConnection {
        try wrap(
            StorageOpeningError.store,
            try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds))
    }

    private func chain(of connection: inout SQLiteConnection) throws(StorageOpeningError) -> LedgerChain {
        LedgerChain(keys: keys, node: try wrap(StorageOpeningError.store, try connection.nodeID()))
    }

    private func verifyEnd(_ chain: LedgerChain, _ connection: inout SQLiteConnection) throws(StorageOpeningError) {
        let isSealed = try wrap(StorageOpeningError.store) { () throws(StoreError) in
            var writer = try LedgerWriter.prepare(chain, on: &connection)
            return try writer.verifyEnd(known: .start)
        }
        guard isSealed else { throw .ledgerDiffers(path: path) }
    }
}

extension SQLiteConnection {
    /// Returns the id of the ledger.
    mutating func nodeID() throws(StoreError) -> NodeID {
        var select = try prepare("SELECT node FROM ledger_node WHERE id = 1")
        let text = try select.first { row throws(StoreError) in try row.text(at: 0) }
        guard let text, let id = try? NodeID(text) else { throw .recordMalformed }
        return id
    }

    /// Whether the file has this program's tables; false if it is empty.
    mutating func isUsable(path: String) throws(StorageOpeningError) -> Bool {
        switch try wrap(StorageOpeningError.store, try schemaState()) {
        case .empty: return false
        case .foreign: throw .foreignDatabase(path: path)
        case .retired: throw .retiredSchema(path: path)
        case .migrated(let newest, let oldestProgram):
            let supported = Int64(SQLiteSchema.migrations.count)
            guard oldestProgram <= supported else { throw .schemaTooNew(found: newest, supported: supported) }
            return true
        }
    }

    /// Compares the secrets with their proofs and stores new proofs. The caller has begun a transaction.
    mutating func establishSecrets(_ secrets: SharedSecrets, _ keys: LedgerKeys) throws(StorageOpeningError) {
        do throws(SecretProofError<StoreError>) {
            try secrets.establish(in: &self)
            try keys.establish(in: &self)
        } catch {
            throw StorageOpeningError(error)
        }
    }

    mutating func checkSecrets(_ secrets: SharedSecrets, _ keys: LedgerKeys) throws(StorageOpeningError) {
        do throws(SecretProofError<StoreError>) {
            try secrets.check(in: &self)
            _ = try keys.check(in: &self)
        } catch {
            throw StorageOpeningError(error)
        }
    }
}

extension StorageOpeningError {
    init(_ error: SecretProofError<StoreError>) {
        switch error {
        case .differs(let name): self = .secretDiffers(name)
        case .database(let error): self = .store(error)
        }
    }
}

extension SQLiteConnection: SecretProofTable {
    mutating func secretProofs() throws(StoreError) -> [SecretProof] {
        var select = try prepare("SELECT name, number, proof FROM secret_proof ORDER BY number")
        return try select.rows { row throws(StoreError) in
            SecretProof(storedName: try row.text(at: 0), number: try row.integer(at: 1), bytes: try row.bytes(at: 2))
        }.compactMap(\.self)
    }

    mutating func add(_ proof: SecretProof) throws(StoreError) {
        var insert = try prepare(
            "INSERT INTO secret_proof (name, number, proof) VALUES (?1, ?2, ?3) ON CONFLICT (name, number) DO NOTHING")
        try insert.run(proof.name.rawValue, proof.number, proof.bytes)
    }

    mutating func remove(_ proof: SecretProof) throws(StoreError) {
        var delete = try prepare("DELETE FROM secret_proof WHERE name = ?1 AND number = ?2")
        try delete.run(proof.name.rawValue, proof.number)
    }
}
