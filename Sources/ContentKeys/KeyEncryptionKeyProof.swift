import ByteCoding
import KeyCrypto

/// Proves in a database which key-encryption key seals its content keys.
///
/// A wrong key file is therefore noticed when the store is opened, and not at the first license.
package struct KeyEncryptionKeyProof: Equatable, Sendable {
    package let version: UInt32
    /// A seal over data that is not secret (`KeySealing.makeProof`).
    package let bytes: [UInt8]

    /// Reads a row. Throws `recordMalformed` for a version that no program writes.
    package init(version: Int64, bytes: [UInt8]) throws(StoreError) {
        guard let version = UInt32(exactly: version) else { throw .recordMalformed }
        self.version = version
        self.bytes = bytes
    }

    fileprivate init(of sealing: KeySealing) throws(CryptoError) {
        version = sealing.version
        bytes = try sealing.makeProof()
    }
}

/// The table `key_encryption_key` of a database. Each store reads and writes it with its own SQL.
package protocol KeyProofTable: ~Copyable {
    associatedtype Failure: Error

    /// Returns all proofs in the order of their versions.
    mutating func keyProofs() throws(Failure) -> [KeyEncryptionKeyProof]
    /// Adds a proof in one statement, which is one transaction. An existing proof of the same version stays.
    mutating func add(_ proof: KeyEncryptionKeyProof) throws(Failure)
}

extension KeyRing {
    /// Compares the keys with the proofs in a database. Adds the proof of the current key if it is missing.
    package func establishProof<Table: KeyProofTable & ~Copyable>(
        in table: inout Table
    ) throws(KeyProofError<Table.Failure>) {
        // Nothing is written for a key that does not belong here, because its proof would make all other programs
        // refuse the database.
        let proofs = try acceptedProofs(of: &table)
        guard !proofs.contains(where: { $0.version == current.version }) else { return }
        let proof: KeyEncryptionKeyProof
        do { proof = try KeyEncryptionKeyProof(of: current) } catch { throw .cryptographyFailed }
        try wrap(KeyProofError<Table.Failure>.database, try table.add(proof))
        // Another program may have added another proof of the same version first.
        _ = try acceptedProofs(of: &table)
    }

    /// Compares the keys with the proofs in a database, and changes nothing.
    package func checkProof<Table: KeyProofTable & ~Copyable>(
        in table: inout Table
    ) throws(KeyProofError<Table.Failure>) {
        _ = try acceptedProofs(of: &table)
    }

    /// Returns the proofs. Throws unless the ring has the key of each proof.
    private func acceptedProofs<Table: KeyProofTable & ~Copyable>(
        of table: inout Table
    ) throws(KeyProofError<Table.Failure>) -> [KeyEncryptionKeyProof] {
        let proofs = try wrap(KeyProofError<Table.Failure>.database, try table.keyProofs())
        for proof in proofs {
            guard let sealing = all.first(where: { $0.version == proof.version }) else {
                throw .missing(version: proof.version)
            }
            guard sealing.accepts(proof: proof.bytes) else { throw .differs }
        }
        return proofs
    }
}

/// The reason why a database's content keys cannot be read with the keys of a ring.
package enum KeyProofError<Failure: Error>: Error {
    /// A key of the ring differs from the one that the database was used with under its version.
    case differs
    /// The database may have keys that were sealed under this version, which the ring lacks.
    case missing(version: UInt32)
    case cryptographyFailed
    case database(Failure)
}

extension KeyProofError: Equatable where Failure: Equatable {}
