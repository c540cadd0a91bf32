import ByteCoding
import ContentKeys
import Records

extension PostgreSQLSchemaConnection {
    /// Compares the secrets that all nodes share with the proofs in the database, and adds the proofs of new secrets.
    func establish(_ secrets: SharedSecrets) throws(PostgreSQLOpeningError) {
        var database = self
        do throws(SecretProofError<PostgreSQLOpeningError>) {
            try secrets.establish(in: &database)
        } catch {
            throw PostgreSQLOpeningError(error)
        }
    }

    /// Returns the secret that the database was used with and that is not configured; nil if there is none.
    func unconfigured(_ secrets: SharedSecrets) throws(PostgreSQLOpeningError) -> SecretProof.Name? {
        var database = self
        return try secrets.unconfigured(in: &database)
    }

    /// Stores the proofs of the new secrets of a reload.
    func replaceSecrets(_ secrets: SharedSecrets) throws(PostgreSQLOpeningError) {
        var database = self
        try secrets.replace(in: &database)
    }

    /// Compares the configuration with all proofs in the database. Changes nothing. A schema that does not exist yet is
    /// accepted if the role could make it.
    ///
    /// Returns the secret that the database was used with and that is not configured.
    func check(_ ring: KeyRing, _ secrets: SharedSecrets) throws(PostgreSQLOpeningError) -> SecretProof.Name? {
        var database = self
        switch try schemaState() {
        case .empty:
            try checkRights()
            return nil
        case .foreign: throw .foreignSchema(schema)
        case .retired: throw .retiredSchema(schema)
        case .migrated(let newest, let oldestProgram):
            let supported = Int64(PostgreSQLSchema.migrations.count)
            guard oldestProgram <= supported else { throw .schemaTooNew(found: newest, supported: supported) }
            if newest < supported { try checkRights() }
        }
        do throws(KeyProofError<PostgreSQLOpeningError>) {
            try ring.checkProof(in: &database)
        } catch {
            throw PostgreSQLOpeningError(error)
        }
        do throws(SecretProofError<PostgreSQLOpeningError>) {
            try secrets.check(in: &database)
        } catch {
            throw PostgreSQLOpeningError(error)
        }
        return try unconfigured(secrets)
    }

    /// Throws `insufficientPrivilege` if the role could not run the missing migrations.
    private func checkRights() throws(PostgreSQLOpeningError) {
        let found = try query(
            """
            SELECT count(*) FROM (
                SELECT has_schema_privilege(oid, 'CREATE') AND has_schema_privilege(oid, 'USAGE') AS may
                    FROM pg_namespace WHERE nspname = $1
                UNION ALL SELECT has_database_privilege(current_database(), 'CREATE')
                    WHERE NOT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)
                UNION ALL SELECT pg_has_role(relowner, 'USAGE')
                    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                    WHERE nspname = $1 AND relkind IN ('r', 'p')
            ) AS rights WHERE NOT may
            """, [.text(schema)])
        let missing = try read { () throws(StoreError) in try found[0].integer(at: 0) }
        if missing > 0 { throw .failed(.refused(.insufficientPrivilege)) }
    }
}

extension PostgreSQLSchemaConnection: SecretProofTable {
    func secretProofs() throws(PostgreSQLOpeningError) -> [SecretProof] {
        let found = try query("SELECT name, number, proof FROM secret_proof ORDER BY number")
        return try read { () throws(StoreError) in
            try found.rows { row throws(StoreError) in
                SecretProof(
                    storedName: try row.text(at: 0), number: try row.integer(at: 1), bytes: try row.bytes(at: 2))
            }.compactMap(\.self)
        }
    }

    func add(_ proof: SecretProof) throws(PostgreSQLOpeningError) {
        _ = try query(
            "INSERT INTO secret_proof (name, number, proof) VALUES ($1, $2, $3) ON CONFLICT (name, number) DO NOTHING",
            [.text(proof.name.rawValue), .integer(proof.number), .bytes(proof.bytes)])
    }

    func remove(_ proof: SecretProof) throws(PostgreSQLOpeningError) {
        _ = try query(
            "DELETE FROM secret_proof WHERE name = $1 AND number = $2",
            [.text(proof.name.rawValue), .integer(proof.number)])
    }
}

extension PostgreSQLOpeningError {
    fileprivate init(_ error: SecretProofError<PostgreSQLOpeningError>) {
        switch error {
        case .differs(let name): self = .secretDiffers(name)
        case .database(let error): self = error
        }
    }

    init(_ error: KeyProofError<PostgreSQLOpeningError>) {
        switch error {
        case .differs: self = .keyEncryptionKeyDiffers
        case .missing(let version): self = .keyEncryptionKeyMissing(version: version)
        case .cryptographyFailed: self = .cryptographyFailed
        case .database(let error): self = error
        }
    }
}
