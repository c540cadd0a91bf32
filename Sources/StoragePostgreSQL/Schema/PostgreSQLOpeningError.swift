package import Records

/// The reason why a database cannot serve as a store.
package enum PostgreSQLOpeningError: Error, Equatable, Sendable {
    // Errors that the operator can fix.

    /// The server's version is older than 13. The number is PostgreSQL's: 120004 for 12.4.
    case serverTooOld(Int)
    /// The schema of this name holds tables of another program.
    case foreignSchema(String)
    /// A version before the first release made the schema.
    case retiredSchema(String)
    /// A newer version made the schema, and recorded that this version cannot use it.
    case schemaTooNew(found: Int64, supported: Int64)
    /// A connection pooler has dropped the settings of the connection.
    case settingsNotKept
    /// The database's keys were sealed under another key-encryption key.
    case keyEncryptionKeyDiffers
    /// Some of the database's keys may be sealed under this version of the key-encryption key, which is not configured.
    case keyEncryptionKeyMissing(version: UInt32)
    /// The nodes of this database use another secret of this name.
    case secretDiffers(SecretProof.Name)

    // Errors of the database.

    case failed(PostgreSQLFailure)
    /// A row of the schema's own tables has a value that no version writes.
    case recordMalformed

    // Errors of this node.

    case cryptographyFailed
    /// The loop of the connections could not be started.
    case threadsNotStarted

    /// The failure of calls while no connection can be made.
    var failure: PostgreSQLFailure {
        if case .failed(let failure) = self { return failure }
        return mayPass ? .connectionLost : .unusable
    }

    /// Whether trying again may help without a repair.
    package var mayPass: Bool {
        switch self {
        case .failed(.notConnected), .failed(.connectionLost), .failed(.timedOut), .failed(.silent),
            .failed(.queueFull),
            .failed(.notRun):
            true
        case .failed(.refused(let state)), .failed(.connectionRefused(let state, _)): state.mayPass
        case .failed(.unusable), .failed(.recordMalformed), .serverTooOld, .foreignSchema, .retiredSchema,
            .schemaTooNew, .settingsNotKept,
            .keyEncryptionKeyDiffers, .keyEncryptionKeyMissing, .secretDiffers, .recordMalformed, .cryptographyFailed,
            .threadsNotStarted:
            false
        }
    }
}
