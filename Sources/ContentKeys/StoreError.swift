package import ByteCoding

/// The reason why a call of a store failed.
package enum StoreError: Error, Equatable, Sendable {
    // The request does not fit the stored data.

    /// The asset id names a content that has several live keys, without saying which one.
    case contentAmbiguous(ContentID)
    /// Another key, or the same key for another track or with another floor, already has this id.
    case keyIDTaken(KeyID)
    /// The alias already names this other key.
    case aliasTaken(by: KeyID)
    /// No key has this id.
    case keyUnknown(KeyID)
    /// The key id is also a spelling of the content's id, and the key belongs to another content. Only one of them can
    /// exist.
    case keyIDSpellsContent(KeyID, ContentID)
    /// The alias is the name of another content, or of one of its keys.
    case aliasNamesContent(ContentID)
    /// The key's period comes too long after the newest period of its live content.
    case periodTooFar(ContentID, period: UInt32, newest: UInt32)

    // The stored data cannot be trusted.

    /// The key's seal does not open: it was altered, moved from another record, or made with another key-encryption
    /// key.
    case sealBroken(KeyID)
    /// A stored row has a value that this version never writes.
    case recordMalformed

    // The store cannot work at present.

    /// The database returned an error. The same call may succeed later.
    case unavailable(StoreOutage)

    // Errors of this node.

    /// A cryptographic operation failed unexpectedly.
    case cryptographyFailed
}

/// The fault of a database.
package enum StoreOutage: Error, Equatable, Sendable {
    /// Another writer did not finish in time.
    case busy
    /// The disk or the quota is full.
    case diskFull
    /// The database cannot be opened or written: permissions, or a read-only file system.
    case notWritable
    /// Reading, writing or syncing failed.
    case inputOutput
    /// The file is damaged, or is not a database.
    case damaged
    /// The database's server does not answer. The effect of the call may have happened nevertheless.
    case unreachable
    /// The server answers, but the database, the role or its rights must be corrected.
    case misconfigured
    /// The disk does not finish a write or a sync. The effect of the call may still happen later.
    case hanging
    /// The opened file was deleted or replaced. Data written to it would be lost.
    case replaced
    /// The clocks of the node and the database differ so much that nothing is counted.
    case clockUntrusted
    /// Any other error, with the database's own code.
    case other(code: Int32)
}
