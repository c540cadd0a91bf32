import ContentKeys
import Telemetry

/// The proof in a database of which key-encryption keys seal its content keys.
///
/// A wrong key file is so found when the store is opened, and not by the first viewer.
enum KeyEncryptionKeyProof {
    /// Compares with the proofs in the database, and writes the one of the key that seals when it is new there.
    ///
    /// Throws `keyEncryptionKeyDiffers` for a key that is not the one of its version, and `keyEncryptionKeyMissing` where the database has
    /// keys of a version that the ring has not.
    static func establish(
        _ ring: KeyRing, on connection: PostgreSQLConnection, until deadline: MonotonicTime
    ) throws(PostgreSQLOpeningError) {
        var proofs = try readAll(from: connection, until: deadline)
        // Nothing is written for a key that does not belong here: its proof would keep everybody else out.
        try compare(proofs, ring)
        if !proofs.contains(where: { $0.version == ring.current.version }) {
            try write(ring.current, to: connection, until: deadline)
            proofs = try readAll(from: connection, until: deadline)
        }
        // Another node may have been faster.
        try compare(proofs, ring)
    }

    private static func compare(
        _ proofs: [(version: UInt32, proof: [UInt8])], _ ring: KeyRing
    ) throws(PostgreSQLOpeningError) {
        for (version, proof) in proofs {
            guard let sealing = ring.all.first(where: { $0.version == version }) else {
                throw .keyEncryptionKeyMissing(version: version)
            }
            guard sealing.accepts(proof: proof) else { throw .keyEncryptionKeyDiffers }
        }
    }

    private static func readAll(
        from connection: PostgreSQLConnection, until deadline: MonotonicTime
    ) throws(PostgreSQLOpeningError) -> [(version: UInt32, proof: [UInt8])] {
        let found = try PostgreSQLOpeningError.wrapping { () throws(PostgreSQLFailure) in
            try connection.query("SELECT version, proof FROM key_encryption_key ORDER BY version", until: deadline)
        }
        return try PostgreSQLOpeningError.reading { () throws(StoreError) in
            var proofs: [(version: UInt32, proof: [UInt8])] = []
            for row in 0..<found.rowCount {
                guard let version = UInt32(exactly: try found.integer(row, 0)) else { throw .recordMalformed }
                proofs.append((version, try found.bytes(row, 1)))
            }
            return proofs
        }
    }

    /// One statement, and so one transaction: when another node was faster, its proof stays.
    private static func write(
        _ sealing: KeySealing, to connection: PostgreSQLConnection, until deadline: MonotonicTime
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
