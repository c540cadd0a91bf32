package import ContentKeys
package import Records

/// Why a database file cannot serve as a store.
package enum StorageOpeningError: Error, Equatable, Sendable {
    // The operator's to mend.

    /// The file, or one that belongs to it, lets others read or write; the mode found, of which at most 0640 is
    /// allowed.
    case permissionsTooWide(path: String, mode: UInt32)
    /// The path names something that is not a regular file.
    case notAFile(path: String)
    /// The file or its folder cannot be read or made; the system's error number.
    case fileNotUsable(path: String, errno: Int32)
    /// The file is gone or empty, although a node had its database there.
    case databaseMissing(path: String)
    /// The file is a database of another program.
    case foreignDatabase(path: String)
    /// A newer version wrote the file, and says that this one cannot work with it.
    case schemaTooNew(found: Int64, supported: Int64)
    /// The file's keys were sealed under another key-encryption key.
    case keyEncryptionKeyDiffers
    /// The file has keys that were sealed under a key-encryption key of this version, which is not configured.
    case keyEncryptionKeyMissing(version: UInt32)

    /// The file was used with another secret of this name.
    case secretDiffers(SecretProof.Name)

    /// The file is no ledger: it was made by a version before ledgers, or nothing was ever recorded in it.
    case ledgerMissing(path: String)
    /// Another daemon writes to this ledger.
    case inUse(path: String)
    /// The ledger's last batch is not sealed under this key for this node, or was altered.
    case ledgerDiffers(path: String)
    /// The system gave no thread to write on.
    case threadNotStarted

    // The database's.

    case store(StoreError)
}
