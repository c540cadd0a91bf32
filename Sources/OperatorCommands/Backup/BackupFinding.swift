import ByteCoding
import ContentKeys
import Records

/// What is wrong with a backup.
enum BackupFinding {
    /// The folder has no manifest: it is no backup, or one that was not finished.
    case manifestMissing
    /// The manifest does not have its own digest, or is none of this format.
    case manifestAltered
    /// The manifest is not sealed under the ledger key of the configuration.
    case manifestUnsealed
    case fileMissing(String)
    /// The file has fewer or more bytes than it had.
    case fileSize(String, expected: Int64, found: Int64)
    case fileAltered(String)
    /// A file that is no part of the backup.
    case fileUnknown(String)
    /// What SQLite finds wrong with the database.
    case database(String)
    /// Only a newer program can work with the database.
    case schemaTooNew(found: Int64, supported: Int64)
    /// The database holds another ledger than the manifest says.
    case ledgerDiffers
    /// The database that the configuration has is another node's.
    case otherNode(String, here: String)
    case secretMissing(String)
    case secretDiffers(String)
    /// The sealed files do not hold what the configuration named when the backup was made.
    case sealedFileDiffers(String)
    case key(KeyFinding)
    case ledger(LedgerFinding)

    /// One line for a person.
    var text: String {
        switch self {
        case .manifestMissing:
            "\(BackupManifest.fileName) is missing: this is no backup, or one that was interrupted while it was made"
        case .manifestAltered: "\(BackupManifest.fileName) was altered or cut off"
        case .manifestUnsealed:
            "\(BackupManifest.fileName) is not sealed under ledger.key: it was altered, or ledger.key is not the key of the backup"
        case .fileMissing(let name): "\(name) is missing"
        case .fileSize(let name, let expected, let found):
            "\(name) has \(found) bytes, and had \(expected) when the backup was made"
        case .fileAltered(let name): "\(name) was altered"
        case .fileUnknown(let name): "\(name) is no part of the backup; move it away"
        case .database(let line): "\(BackupManifest.Part.database.rawValue): \(line)"
        case .schemaTooNew(let found, let supported):
            "a newer version of Latchkey wrote the database (schema \(found); this one knows \(supported)); use that version"
        case .ledgerDiffers: "the database does not hold the ledger that the manifest is about"
        case .otherNode(let node, let here):
            "the backup is of node \(node), and the database of this configuration is of node \(here)"
        case .secretMissing(let name): "\(name) is missing: no such file can be read"
        case .secretDiffers(let name):
            "\(name) differs: it is not the one of the time of the backup, or not the one that its database was used with"
        case .sealedFileDiffers(let name):
            "\(BackupManifest.Part.secrets.rawValue): \(name) is not what the manifest says"
        case .key(let finding): finding.text
        case .ledger(let finding): "ledger: \(finding.text)"
        }
    }

    /// The members of a finding in what `--json` prints.
    func write(to writer: inout JSONWriter) {
        switch self {
        case .manifestMissing: write("manifestMissing", to: &writer)
        case .manifestAltered: write("manifestAltered", to: &writer)
        case .manifestUnsealed: write("manifestUnsealed", to: &writer)
        case .fileMissing(let name): write("fileMissing", ("file", name), to: &writer)
        case .fileSize(let name, let expected, let found):
            write("fileSize", ("file", name), to: &writer)
            writer.member("expected", expected)
            writer.member("size", found)
        case .fileAltered(let name): write("fileAltered", ("file", name), to: &writer)
        case .fileUnknown(let name): write("fileUnknown", ("file", name), to: &writer)
        case .database(let line): write("database", ("line", line), to: &writer)
        case .schemaTooNew(let found, let supported):
            write("schemaTooNew", to: &writer)
            writer.member("schema", found)
            writer.member("supported", supported)
        case .ledgerDiffers: write("ledgerDiffers", to: &writer)
        case .otherNode(let node, let here):
            write("otherNode", ("node", node), to: &writer)
            writer.member("here", here)
        case .secretMissing(let name): write("secretMissing", ("name", name), to: &writer)
        case .secretDiffers(let name): write("secretDiffers", ("name", name), to: &writer)
        case .sealedFileDiffers(let name): write("sealedFileDiffers", ("name", name), to: &writer)
        case .key(let finding): finding.write(to: &writer)
        case .ledger(let finding): finding.write(to: &writer)
        }
    }

    private func write(_ word: String, _ member: (name: String, value: String)? = nil, to writer: inout JSONWriter) {
        writer.member("finding", word)
        if let member { writer.member(member.name, member.value) }
    }
}
