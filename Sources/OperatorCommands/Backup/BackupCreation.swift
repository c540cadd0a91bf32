import Administration
import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import Foundation
import KeyCrypto
import POSIXSockets
import Records
import ServiceConfiguration
import StorageSQLite

/// What `latchkey backup create` does.
struct BackupCreation {
    private let file: ConfigurationFile
    private let configurationPath: String
    private let keys: LedgerKeys
    private let output: String
    /// The certificates of the recipients.
    private let recipients: [UInt8]?
    private let context: CommandContext

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        configurationPath = try arguments.required(.config)
        file = try OpenedLedger.configuration(configurationPath, context)
        keys = try OpenedLedger.keys(file, context)
        recipients = try arguments.value(BackupArguments.recipient).map { path throws(CommandError) in
            try CommandFile.read(path).revealed()
        }
        let given = try arguments.required(BackupArguments.output)
        output = Self.name(in: given, label: file.configuration.node, at: context.now)
        self.context = context
        let parent = BackupFolder(path: BackupFolder.parent(of: output))
        guard !parent.isBackup else {
            throw .failed(
                "\(parent.path) is a backup itself, and another one within it would spoil it; name a new folder, or"
                    + " \(BackupFolder.parent(of: parent.path)), in which each backup gets a folder of its own")
        }
    }

    /// The folder of the backup: the given one, or one within it if it is there.
    private static func name(in given: String, label: String, at now: Int64) -> String {
        guard FileAccess.isFolder(given) else {
            var name = given
            while name.count > 1, name.hasSuffix("/") { name.removeLast() }
            return name
        }
        let time = UnixTime(seconds: now).map { RFC3339.format($0) } ?? String(now)
        let name =
            "latchkey-\(label.replacing("/", with: "_"))-\(time.replacing(":", with: "").replacing("-", with: ""))"
        return BackupFolder(path: given).path(of: name)
    }

    func run(asJSON: Bool) async throws(CommandError) {
        var made: BackupManifest?
        try await BackupFolder.make(at: output) { folder throws(CommandError) in
            made = try fill(folder)
        }
        guard let made, let ledger = made.ledger else { preconditionFailure("a folder that was made has a manifest") }
        let size = made.files.reduce(0) { $0 + $1.size }
        if let recipients, let (first, second) = SealedMessage.repetition(in: recipients) {
            context.note("warning: certificate \(second) of --recipient is the same as certificate \(first)")
        }
        if asJSON {
            return try context.printObject { writer in
                writer.member("backup", output)
                writer.member("node", ledger.node.text)
                writer.member("keys", made.keyCount)
                writer.member("entries", made.entryCount)
                writer.member("last", ledger.sequence)
                writer.member("size", size)
                writer.member("hasSecrets", recipients != nil)
                writer.member("shared", made.shared)
            }
        }
        try context.print(
            "\(output): \(made.keyCount.counted("key")), and the ledger of node \(ledger.node) up to sequence"
                + " \(ledger.sequence)")
        if let shared = made.shared {
            context.note(
                "keys, uses, devices and revocations are in \(shared): back that up too, with PostgreSQL's tools")
        }
        if recipients == nil {
            context.note("the backup has no secrets; without them it is worth nothing, so keep copies elsewhere")
        }
    }

    /// Warns of a recipient whose key is itself in the sealed files: it is lost together with this host.
    private func warnOfOwnKeys(_ sealed: [UInt8], _ configured: ConfiguredFiles) {
        for file in configured.files {
            guard let contents = file.contents else { continue }
            do throws(CryptoError) { _ = try SealedMessage.open(sealed, with: contents.bytes) } catch { continue }
            context.note(
                "warning: the file of \(file.named.field) opens the sealed files, and is lost with this host: name a "
                    + "--recipient whose key is kept elsewhere")
        }
    }

    private func fill(_ folder: BackupFolder) throws(CommandError) -> BackupManifest {
        let configuration = try wrap(
            CommandError.file,
            try FileReading.read(
                configurationPath, sizeMaximum: ConfigurationFile.sizeMaximum, permissions: .any
            ).revealed())
        let (summary, chain) = try copyDatabase(to: folder)
        let configured = ConfiguredFiles(file, nil, context)
        try write(configuration, .configuration, folder)
        if let recipients {
            let sealed = try SealedFiles(configured).sealed(for: recipients)
            warnOfOwnKeys(sealed, configured)
            try write(sealed, .secrets, folder)
        }
        for file in configured.files where file.contents == nil {
            context.note("warning: \(file.named.field): \(file.error?.description ?? "cannot be read")")
        }

        var files: [BackupManifest.File] = []
        for part in BackupManifest.Part.allCases where BackupFolder.exists(folder.path(of: part)) {
            let measure = try FileMeasure(of: folder.path(of: part))
            files.append(.init(part: part, size: measure.size, digest: measure.digest))
        }
        guard let now = UnixTime(seconds: context.now) else {
            throw .failed("the system's clock has no time of a year")
        }
        let manifest = BackupManifest(
            program: LatchkeyVersion.current, createdAt: RFC3339.format(now),
            label: file.configuration.node, shared: file.configuration.storage.sharedAddress,
            schema: summary.schema, oldestProgram: summary.oldestProgram, keyCount: summary.keyCount,
            entryCount: summary.entryCount,
            checkpoint: try Self.sealing { () throws(CryptoError) in
                try chain.checkpoint(summary.link, at: now).description
            },
            settled: summary.settled, files: files,
            fingerprints: try configured.fingerprints(chain))
        let text = try Self.sealing { () throws(CryptoError) in try manifest.text(sealedBy: chain) }
        try write(text, to: folder.path(of: BackupManifest.fileName))
        return manifest
    }

    private static func sealing<Value>(_ body: () throws(CryptoError) -> Value) throws(CommandError) -> Value {
        try wrap(
            { (_: CryptoError) in CommandError.failed("cannot seal the manifest: a cryptographic operation failed") },
            try body())
    }

    /// The copy is verified as far as the daemon does it when it starts: schema, key-encryption keys, master secret,
    /// ledger key, and the ledger's end. With another master secret, a restored node would not start.
    private func copyDatabase(to folder: BackupFolder) throws(CommandError) -> (StoreSummary, LedgerChain) {
        let path = file.configuration.storage.databasePath
        let copy = folder.path(of: .database)
        let secrets = RestoredSecrets(file, nil, context)
        var progress = CommandProgress(context, unit: "pages")
        defer { progress.clear() }
        do throws(StorageOpeningError) {
            try DatabaseCopy.make(of: path, at: copy) { done, total in
                progress.show(done, share: Double(done) / Double(max(total, 1)))
            }
            let ledger = LedgerFile(path: copy, keys: keys)
            try ledger.check(secrets.masterSecret, secrets.keyRing)
            let summary = try StoreSummary.read(path: copy)
            return (summary, LedgerChain(keys: keys, node: summary.node))
        } catch .fileNotUsable(let failed, let error) where failed != path {
            throw .failed("cannot write the backup: \(failed): \(SystemText.description(of: error))")
        } catch .store(.unavailable(.diskFull)) {
            throw .failed("cannot write the backup: there is no room in \(BackupFolder.parent(of: output))")
        } catch .store(let error) {
            throw .failed("cannot copy the database \(path): \(error.explanation)")
        } catch {
            throw .failed("cannot back up the database \(path): \(error.explanation)")
        }
    }

    private func write(_ bytes: [UInt8], _ part: BackupManifest.Part, _ folder: BackupFolder) throws(CommandError) {
        try write(bytes, to: folder.path(of: part))
    }

    private func write(_ bytes: [UInt8], to path: String) throws(CommandError) {
        try wrap(CommandError.newFile, try NewFile.write(bytes, to: path, mode: 0o600))
    }
}
