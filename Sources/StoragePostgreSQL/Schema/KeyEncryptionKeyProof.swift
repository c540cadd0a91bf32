import ContentKeys
import EventLoops

/// The proof in a database of which key-encryption key seals its content keys.
///
/// A wrong key file is so found when the store is opened, and not by the first viewer.
enum KeyEncryptionKeyProof {
    /// Compares with the proof in the database, or writes one when there is none.
    static func establish(
        _ sealing: KeySealing, on connection: PostgreSQLConnection, until deadline: LoopInstant
    ) throws(PostgreSQLOpeningError) {
        if try read(sealing.version, from: connection, until: deadline) == nil {
            try write(sealing, to: connection, until: deadline)
        }
        guard let proof = try read(sealing.version, from: connection, until: deadline), sealing.accepts(proof: proof)
        else { throw .keyEncryptionKeyDiffers }
    }

    private static func read(
        _ version: UInt32, from connection: PostgreSQLConnection, until deadline: LoopInstant
    ) throws(PostgreSQLOpeningError) -> [UInt8]? {
        let found = try PostgreSQLOpeningError.wrapping { () throws(PostgreSQLFailure) in
            try connection.query(
                "SELECT proof FROM key_encryption_key WHERE version = $1", [.integer(Int64(version))], until: deadline)
        }
        guard found.rowCount == 1 else { return nil }
        return try PostgreSQLOpeningError.reading { () throws(StoreError) in try found.bytes(0, 0) }
    }

    /// One statement, and so one transaction: when another node was faster, its proof stays.
    private static func write(
        _ sealing: KeySealing, to connection: PostgreSQLConnection, until deadline: LoopInstant
    ) throws(PostgreSQLOpeningError) {
        let proof: [UInt8]
        do { proof = try sealing.makeProof() } catch { throw .cryptographyFailed }
        _ = try PostgreSQLOpeningError.wrapping { () throws(PostgreSQLFailure) in
            try connection.query(
                "INSERT INTO key_encryption_key (version, proof) VALUES ($1, $2) ON CONFLICT (version) DO NOTHING",
                [.integer(Int64(sealing.version)), .bytes(proof)], until: deadline)
        }
    }
}
