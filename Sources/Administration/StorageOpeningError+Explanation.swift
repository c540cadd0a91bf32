import CommandLineKit
import ContentKeys
import Glibc
package import Records
package import StorageSQLite

extension StorageOpeningError {
    /// Says what is wrong and what to do about it.
    package var explanation: String {
        switch self {
        case .permissionsTooWide(let path, let mode):
            "\(path) has permissions 0\(String(mode, radix: 8)), which are wider than 0640; run: chmod 0640 \(Shell.quote(path))"
        case .notAFile(let path): "\(path) is not a regular file"
        case .fileNotUsable(let path, EACCES):
            FolderAccess.obstacle(to: path, writing: true)
                ?? "no permission to use \(path); it must belong to the user of the daemon"
        case .fileNotUsable(let path, ENOENT):
            FolderAccess.missingFolder(of: path) ?? "\(path): \(SystemText.description(of: ENOENT))"
        case .fileNotUsable(let path, let error): "\(path): \(SystemText.description(of: error))"
        case .databaseMissing:
            "the file is missing or empty, but this node had its database there; put it back, or start with an empty one: "
                + "latchkeyd --new-database"
        case .foreignDatabase: "it is a database of another program; name another file in storage.url"
        case .retiredSchema:
            "it was made by a version before the first release, whose databases are not converted; write its keys with that "
                + "version: latchkey keys export --reveal; then name a new file in storage.url, and store them there: latchkey keys import"
        case .schemaTooNew(let found, let supported):
            "a newer version of Latchkey wrote it (schema \(found); this version knows \(supported)); use the newer one"
        case .keyEncryptionKeyDiffers:
            "its keys were sealed under another key-encryption key; configure that one in keys.keyEncryptionKey"
        case .keyEncryptionKeyMissing(let version):
            "some of its keys are sealed under version \(version) of the key-encryption key; name that key in "
                + "keys.olderKeyEncryptionKeys until latchkey keys rewrap has run"
        case .secretDiffers(let name): name.explanation
        case .ledgerMissing: "it has no ledger yet; the daemon makes one when it starts"
        case .inUse: "another daemon has its ledger; each node needs a database file of its own"
        case .ledgerDiffers:
            "its ledger does not end with a batch that ledger.key or a key of ledger.olderKeys sealed; configure the key that it was written "
                + "with, or see what is wrong: latchkey ledger verify"
        case .threadNotStarted: "the system started no thread for the writer; raise the limit of tasks"
        case .store(let error): error.explanation
        }
    }
}

extension StorageOpeningError {
    /// Whether the database was made with other secrets than this node has.
    package var isAboutSecrets: Bool {
        switch self {
        case .keyEncryptionKeyDiffers, .keyEncryptionKeyMissing, .secretDiffers, .ledgerDiffers: true
        case .permissionsTooWide, .notAFile, .fileNotUsable, .databaseMissing, .foreignDatabase, .retiredSchema,
            .schemaTooNew,
            .ledgerMissing, .inUse, .threadNotStarted, .store:
            false
        }
    }
}

extension SecretProof.Name {
    /// Says what is wrong and what to do if a store was used with another secret of this name.
    package var explanation: String {
        switch self {
        case .pseudonymKey:
            "\(rawValue) is not the key that it was used with; with another key, revocations would be lifted and uses counted again; "
                + "configure the key that all nodes have"
        case .sessionKey:
            "\(rawValue) is not the key that it was used with; configure the key that all nodes have, and a key that it replaces in "
                + "entitlement.sessions.retiredKeys"
        case .ledgerKey:
            "\(rawValue) is not the key that it was used with under this version; give a new key a higher ledger.keyVersion, and name the "
                + "key before it in ledger.olderKeys"
        case .masterSecret:
            "\(rawValue) is not the secret that it was used with under this version; restore the right file, because with another one "
                + "other keys would be made for the same names. A secret that replaces it on purpose has a higher "
                + "keys.masterSecretVersion, and makes other keys for those that are lost"
        }
    }
}
