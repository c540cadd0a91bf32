import ContentKeys

/// The proof in a database of which key-encryption key seals its content keys.
///
/// A wrong key file is so found when the store is opened, and not by the first viewer.
enum KeyEncryptionKeyProof {
    /// Compares with the proof in the file, or writes one when the file is new.
    static func establish(
        _ sealing: KeySealing, on connection: inout SQLiteConnection
    ) throws(StorageOpeningError) {
        let proof = try StorageOpeningError.wrapping { () throws(StoreError) in
            if try read(sealing.version, from: &connection) == nil { try write(sealing, to: &connection) }
            return try read(sealing.version, from: &connection)
        }
        guard let proof, sealing.accepts(proof: proof) else { throw .keyEncryptionKeyDiffers }
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
