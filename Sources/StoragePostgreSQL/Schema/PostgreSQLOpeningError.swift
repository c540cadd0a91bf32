package import Records

/// Why a database cannot serve as a store.
package enum PostgreSQLOpeningError: Error, Equatable, Sendable {
    // The operator's to mend.

    /// The server is of a version before 13; its number as PostgreSQL gives it, 120004 for 12.4.
    case serverTooOld(Int)
    /// The schema of this name holds tables of another program.
    case foreignSchema(String)
    /// A newer version made the schema, and says that this one cannot work with it.
    case schemaTooNew(found: Int64, supported: Int64)
    /// A pooler has dropped the settings of the connection.
    case settingsNotKept
    /// The database's keys were sealed under another key-encryption key.
    case keyEncryptionKeyDiffers
    /// Some of the database's keys may be sealed under this version, of which no key was given.
    case keyEncryptionKeyMissing(version: UInt32)
    /// The nodes of this database use another secret of this name.
    case secretDiffers(SecretProof.Name)

    // The database's.

    case failed(PostgreSQLFailure)
    /// A row of the schema's own tables holds what no version writes.
    case recordMalformed

    // Ours.

    case cryptographyFailed
    /// The loop of the connections could not be started.
    case threadsNotStarted

    /// What calls fail with while no connection can be made.
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
        case .failed(.unusable), .serverTooOld, .foreignSchema, .schemaTooNew, .settingsNotKept,
            .keyEncryptionKeyDiffers, .keyEncryptionKeyMissing, .secretDiffers, .recordMalformed, .cryptographyFailed,
            .threadsNotStarted:
            false
        }
    }
}
