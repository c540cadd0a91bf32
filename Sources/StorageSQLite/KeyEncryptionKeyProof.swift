import ContentKeys

/// The proof in a database of which key-encryption key seals its content keys.
///
/// A wrong key file is so found when the store is opened, and not by the first viewer.
enum KeyEncryptionKeyProof {
    /// Compares with the proofs in the file, and writes the one of the key that seals when it is new there.
    ///
    /// Throws `keyEncryptionKeyDiffers` for a key that is not the one of its version, and `keyEncryptionKeyMissing` where the file has
    /// keys of a version that the ring has not.
    static func establish(_ ring: KeyRing, on connection: inout SQLiteConnection) throws(StorageOpeningError) {
        // Nothing is written for a key that does not belong here: its proof would keep everybody else out.
        try compare(try StorageOpeningError.wrapping { () throws(StoreError) in try readAll(from: &connection) }, ring)
        let proofs = try StorageOpeningError.wrapping { () throws(StoreError) in
            if try read(ring.current.version, from: &connection) == nil { try write(ring.current, to: &connection) }
            return try readAll(from: &connection)
        }
        // Another process may have been faster.
        try compare(proofs, ring)
    }

    private static func compare(
        _ proofs: [(version: UInt32, proof: [UInt8])], _ ring: KeyRing
    ) throws(StorageOpeningError) {
        for (version, proof) in proofs {
            guard let sealing = ring.all.first(where: { $0.version == version }) else {
                throw .keyEncryptionKeyMissing(version: version)
            }
            guard sealing.accepts(proof: proof) else { throw .keyEncryptionKeyDiffers }
        }
    }

    private static func readAll(
        from connection: inout SQLiteConnection
    ) throws(StoreError) -> [(version: UInt32, proof: [UInt8])] {
        var statement = try connection.prepare("SELECT version, proof FROM key_encryption_key ORDER BY version")
        var proofs: [(version: UInt32, proof: [UInt8])] = []
        while try statement.step() {
            guard let version = UInt32(exactly: try statement.integer(at: 0)) else { throw .recordMalformed }
            proofs.append((version, try statement.bytes(at: 1)))
        }
        return proofs
    }

    private static func read(
        _ version: UInt32, from connection: inout SQLiteConnection
    ) throws(StoreError) -> [UInt8]? {
        var statement = try connection.prepare("SELECT proof FROM key_encryption_key WHERE version = ?1")
        try statement.bind(Int64(version), at: 1)
        return try statement.step() ? statement.bytes(at: 0) : nil
    }

    /// One statement, and so one transaction: when another process was faster, its proof stays.
    private static func write(_ sealing: KeySealing, to connection: inout SQLiteConnection) throws(StoreError) {
        let proof: [UInt8]
        do { proof = try sealing.makeProof() } catch { throw .cryptographyFailed }
        var statement = try connection.prepare(
            "INSERT INTO key_encryption_key (version, proof) VALUES (?1, ?2) ON CONFLICT (version) DO NOTHING")
        try statement.bind(Int64(sealing.version), at: 1)
        try statement.bind(proof, at: 2)
        _ = try statement.step()
    }
}
