import ContentKeys
import StorageSQLite

extension StorageOpeningError {
    /// What is wrong and what to do about it.
    var explanation: String {
        switch self {
        case .permissionsTooWide(let path, let mode):
            "\(path) has permissions 0\(String(mode, radix: 8)), which are wider than 0640; run: chmod 0640 \(Shell.quote(path))"
        case .notAFile(let path): "\(path) is not a regular file"
        case .fileNotUsable(let path, let error): "\(path): \(SystemText.description(of: error))"
        case .foreignDatabase: "it is a database of another program; name another file in storage.url"
        case .schemaTooNew(let found, let supported):
            "a newer version of Latchkey wrote it (schema \(found); this one knows \(supported)); use that version"
        case .keyEncryptionKeyDiffers:
            "its keys were sealed under another key-encryption key; configure that one in keys.keyEncryptionKey"
        case .keyEncryptionKeyMissing(let version):
            "some of its keys are sealed under version \(version) of the key-encryption key; name that in "
                + "keys.olderKeyEncryptionKeys until latchkey keys rewrap has run"
        case .ledgerMissing: "it holds no ledger yet; the daemon makes it when it starts"
        case .inUse: "another daemon has its ledger; each node needs a database file of its own"
        case .ledgerDiffers:
            "its ledger does not end with a batch that ledger.key seals for this node; configure the key and the node's name that it was "
                + "written with, or see what is wrong: latchkey ledger verify"
        case .threadNotStarted: "the system gave no thread to write on; raise the limit of tasks"
        case .store(let error): error.explanation
        }
    }
}

extension StoreError {
    /// What is wrong and what to do about it.
    var explanation: String {
        switch self {
        case .contentAmbiguous(let contentID): "\(contentID) has several keys; name one by its kid"
        case .keyIDTaken(let keyID):
            "\(keyID) is the kid of another key, content or initialization vector, or has another track or floor; a stored key never "
                + "changes, so use another kid"
        case .aliasTaken(let keyID): "an alias already names the key \(keyID); the key is stored, without that alias"
        case .keyUnknown(let keyID): "no key has the kid \(keyID)"
        case .sealBroken(let keyID):
            "the stored key \(keyID) does not open: it was altered, or sealed under another key-encryption key"
        case .recordMalformed: "the database holds something that this version never writes; is it damaged?"
        case .unavailable(let outage): outage.explanation
        case .cryptographyFailed: "a cryptographic operation failed; is the installation of OpenSSL complete?"
        }
    }
}

extension StoreOutage {
    var explanation: String {
        switch self {
        case .busy: "another process is writing to the database and did not finish in time; try again"
        case .diskFull: "the disk of the database is full"
        case .notWritable: "the database cannot be written; check the permissions of the file and of its folder"
        case .inputOutput: "reading or writing the database failed; check the disk and the system's log"
        case .damaged: "the database is damaged; restore it from a copy"
        case .other(let code): "the database reports error \(code)"
        }
    }
}
