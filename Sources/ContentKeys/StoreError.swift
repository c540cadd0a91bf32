package import ByteCoding

/// Why a store did not do what it was asked.
package enum StoreError: Error, Equatable, Sendable {
    // What was asked does not fit what is stored.

    /// The asset id names a content that has several live keys, and nothing says which.
    case contentAmbiguous(ContentID)
    /// Another key, or the same key for another track or with another floor, already has this id.
    case keyIDTaken(KeyID)
    /// The alias already names this other key.
    case aliasTaken(by: KeyID)
    /// No key has this id.
    case keyUnknown(KeyID)

    // What is stored cannot be trusted.

    /// The key's seal does not hold: altered, moved from another record, or sealed under another key-encryption key.
    case sealBroken(KeyID)
    /// A stored row holds what this version never writes.
    case recordMalformed

    // The store cannot work now.

    /// The database gave an error; the same call may succeed later.
    case unavailable(StoreOutage)

    // Ours.

    /// A cryptographic operation failed that should not.
    case cryptographyFailed
}

/// What is wrong with a database.
package enum StoreOutage: Error, Equatable, Sendable {
    /// Another writer did not finish in time.
    case busy
    /// The disk or the quota is full.
    case diskFull
    /// The database cannot be opened or written: permissions, or a read-only file system.
    case notWritable
    /// Reading, writing or syncing failed.
    case inputOutput
    /// The file is not a database, or a damaged one.
    case damaged
    /// The database's server does not answer anything; what was asked for may have been done all the same.
    case unreachable
    /// The server answers, and the database, the role or its rights are not as they must be.
    case misconfigured
    /// The disk does not finish a write or a sync; what was asked for may be done later.
    case hanging
    /// The file that was opened was deleted or replaced: what is written to it would be lost.
    case replaced
    /// The file that says whether random keys were lost cannot be used, and so none is made.
    case keyGeneration(KeyGenerationFault)
    /// The node's clock and the database's are so far apart that nothing is counted.
    case clockUntrusted
    /// The database's own code for anything else.
    case other(code: Int32)
}

/// What is wrong with the file of `keys.generationFile`, which says whether random keys were lost.
package enum KeyGenerationFault: Error, Equatable, Sendable {
    /// The database was used with a generation file, and that file is missing.
    case missing
    /// The file holds something that this program never writes.
    case malformed
    /// It counts the keys of another installation.
    case otherInstallation
    /// It cannot be read; the system's error number.
    case notReadable(errno: Int32)
    /// It, or its lock, cannot be written; the system's error number.
    case notWritable(errno: Int32)
}
