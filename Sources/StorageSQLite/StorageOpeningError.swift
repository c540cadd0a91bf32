package import ContentKeys
package import Records

/// The reason why a database file cannot serve as a store.
package enum StorageOpeningError: Error, Equatable, Sendable {
    // Errors that the operator can fix.

    /// The mode of the file, or of a file that belongs to it, is wider than 0640. `mode` is the mode that was found.
    case permissionsTooWide(path: String, mode: UInt32)
    /// The path names something that is not a regular file.
    case notAFile(path: String)
    /// The file or its folder cannot be read or created. `errno` is the system's error number.
    case fileNotUsable(path: String, errno: Int32)
    /// The file is missing or empty, although a node had its database there.
    case databaseMissing(path: String)
    /// The file is a database of another program.
    case foreignDatabase(path: String)
    /// A version before the first release made the file.
    case retiredSchema(path: String)
    /// A newer version wrote the file and recorded that this version cannot use it.
    case schemaTooNew(found: Int64, supported: Int64)
    /// The file's keys were sealed under another key-encryption key.
    case keyEncryptionKeyDiffers
    /// The file has keys that were sealed under a key-encryption key of this version, which is not configured.
    case keyEncryptionKeyMissing(version: UInt32)

    /// The file was used with another secret of this name.
    case secretDiffers(SecretProof.Name)

    /// The file has no tables yet.
    case ledgerMissing(path: String)
    /// Another daemon writes to this ledger.
    case inUse(path: String)
    /// The ledger's last batch is not sealed under this key for this node, or was altered.
    case ledgerDiffers(path: String)
    /// The system could not start the writer's thread.
    case threadNotStarted

    // Errors of the database.

    case store(StoreError)
}
