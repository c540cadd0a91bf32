import Administration
import ByteCoding
import CommandLineKit
import CommandSupport
import Foundation
import KeyCrypto
import POSIXSockets
import Records
import ServiceConfiguration
import StorageSQLite

/// What `latchkey backup restore` does.
struct BackupRestoration {
    /// What was done.
    private struct Outcome {
        var node = ""
        /// The ledger's last sequence, with the row that says that it was restored.
        var last: Int64 = 0
        /// The files that were put in their places.
        var placed: [String] = []
    }

    private let folder: BackupFolder
    private let configurationPath: String
    private let sealed: SealedFiles?
    private let replaces: String?
    /// Folders beside that of the configuration in which files may be written.
    private let allowedFolders: [String]
    private let context: CommandContext

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        folder = BackupFolder(path: try arguments.operand(0))
        configurationPath = try arguments.required(.config)
        sealed = try BackupArguments.sealedFiles(arguments, in: folder)
        replaces = arguments.value(BackupArguments.replaces)
        allowedFolders = arguments.values(BackupArguments.allowFolder)
        self.context = context
    }

    func run(asJSON: Bool) async throws(CommandError) {
        let hasConfiguration = BackupFolder.exists(configurationPath)
        let file =
            try hasConfiguration ? OpenedLedger.configuration(configurationPath, context) : backedUpConfiguration()
        let manifest = try BackupVerification(of: folder, for: file, sealed: sealed, context).verified()
        try checkName(manifest, file)
        let secrets = RestoredSecrets(file, sealed, context)
        try refuseOtherFiles(secrets.files)
        let plan = try plan(file, secrets.files)
        if !hasConfiguration { try refuseOtherFolders(plan) }
        for entry in plan.entries { context.note("will write \(entry.path) (\(entry.field))") }

        // From here on something is changed, and a second run goes on where an interrupted one ended.
        var outcome = Outcome()
        let path = file.configuration.storage.databasePath
        try makeFolders(BackupFolder.parent(of: path))
        let replacement = try Self.replacement(of: path)
        if !hasConfiguration { try placeConfiguration(&outcome) }
        try place(secrets.files, &outcome)
        do throws(CommandError) {
            try await fill(replacement.partPath, from: manifest, for: file, with: secrets, &outcome)
        } catch {
            replacement.abandon()
            throw error
        }
        do throws(StorageOpeningError) {
            try replacement.putInPlace()
        } catch {
            throw .failed("cannot put the database \(path) in its place: \(error.explanation)")
        }
        try print(outcome, manifest, asJSON: asJSON)
    }

    // MARK: Before anything is changed

    /// The configuration of the backup, as if it were in its place.
    private func backedUpConfiguration() throws(CommandError) -> ConfigurationFile {
        let bytes = try configurationBytes()
        return try wrap(
            CommandError.configuration,
            try ConfigurationFile(parsing: bytes, path: configurationPath, environment: context.environment))
    }

    private func configurationBytes() throws(CommandError) -> [UInt8] {
        try wrap(
            CommandError.file,
            try FileReading.read(
                folder.path(of: .configuration), sizeMaximum: ConfigurationFile.sizeMaximum, permissions: .any
            ).revealed())
    }

    /// A node that is not the one of the backup does not take its ledger by mistake.
    private func checkName(_ manifest: BackupManifest, _ file: ConfigurationFile) throws(CommandError) {
        let name = file.configuration.node
        guard (replaces ?? name) != manifest.label else { return }
        throw .failed(
            "the backup is of the node \(manifest.label), and this configuration is of \(name); if it takes that node's "
                + "place, and that one will never run again: --replaces \(manifest.label)")
    }

    /// Files that are there must be those of the backup, and each other one must have a place.
    private func refuseOtherFiles(_ configured: ConfiguredFiles) throws(CommandError) {
        guard let sealed else { return }
        for file in configured.files where file.isMissing {
            _ = try wrap(CommandError.file, try file.named.path(environment: context.environment))
        }
        for file in configured.files where !file.isMissing {
            guard let substitute = file.named.choose(from: sealed.substitutes) else { continue }
            if let error = file.error { throw .failed("\(file.named.field): \(error.description)") }
            if let contents = file.contents, contents.bytes.isEqual(to: substitute.bytes) { continue }
            throw .failed(
                "\(file.named.field) names a file that is there and differs from the backup's; nothing is ever "
                    + "overwritten: move it away, or leave --recipient-key out")
        }
    }

    /// What will be written, apart from a configuration that has its place by `--config`.
    private func plan(_ file: ConfigurationFile, _ configured: ConfiguredFiles) throws(CommandError) -> RestorePlan {
        var plan = RestorePlan()
        for file in configured.files where file.isMissing {
            plan.add(
                file.named.field, try wrap(CommandError.file, try file.named.path(environment: context.environment)))
        }
        let storage = file.configuration.storage
        plan.add(storage.sharedAddress == nil ? "storage.url" : "storage.ledger", storage.databasePath)
        return plan
    }

    /// The configuration is the backup's. The party that has made it must not choose files of this host to be written.
    private func refuseOtherFolders(_ plan: RestorePlan) throws(CommandError) {
        // The operator's environment names the folder of `credential:NAME`.
        let credentials = context.environment["CREDENTIALS_DIRECTORY"].map { [$0] } ?? []
        let folders = [BackupFolder.parent(of: configurationPath)] + allowedFolders + credentials
        let outside = plan.entries(outside: folders)
        guard !outside.isEmpty else { return }
        let lines = outside.map { "  \($0.path) (\($0.field))" }
        let options = RestorePlan.folders(of: outside).map {
            "\(BackupArguments.allowFolder.name) \(Shell.quote($0))"
        }
        let advice = options.isEmpty ? [] : ["If these paths are right, add: \(options.joined(separator: " "))"]
        throw .failed(
            (["the configuration of the backup names files outside of its folder. Nothing was written."] + lines
                + advice)
                .joined(separator: "\n"))
    }

    private static func replacement(of path: String) throws(CommandError) -> DatabaseReplacement {
        do throws(StorageOpeningError) {
            return try DatabaseReplacement(path: path)
        } catch .fileNotUsable(let name, EEXIST) {
            throw .failed("\(name) is there, and nothing is ever overwritten; move it and its log away first")
        } catch .inUse {
            throw .failed("a daemon runs with \(path), or another restore; stop it first")
        } catch {
            throw .failed("cannot put a database at \(path): \(error.explanation)")
        }
    }

    // MARK: Files

    private func placeConfiguration(_ outcome: inout Outcome) throws(CommandError) {
        try makeFolders(BackupFolder.parent(of: configurationPath))
        try write(try configurationBytes(), to: configurationPath, isSecret: false)
        outcome.placed.append(configurationPath)
    }

    private func place(_ configured: ConfiguredFiles, _ outcome: inout Outcome) throws(CommandError) {
        for file in configured.files where file.isMissing {
            guard let contents = file.contents else { continue }
            let path = try wrap(CommandError.file, try file.named.path(environment: context.environment))
            // Two fields may name one file.
            if outcome.placed.contains(path) { continue }
            try makeFolders(BackupFolder.parent(of: path))
            try contents.bytes.withWipedArray { bytes throws(CommandError) in
                try write(bytes, to: path, isSecret: file.named.isSecret)
            }
            outcome.placed.append(path)
        }
    }

    /// A file of mode 0600, or 0644 if it is no secret, whole or not at all.
    private func write(_ bytes: [UInt8], to path: String, isSecret: Bool) throws(CommandError) {
        try CommandFile.write(bytes, to: path, isSecret: isSecret)
        try BackupFolder.sync(BackupFolder.parent(of: path))
    }

    private func makeFolders(_ path: String) throws(CommandError) {
        guard !FileAccess.isFolder(path) else { return }
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .failed("cannot make the folder \(path): \(SystemText.lastError)")
        }
    }

    // MARK: The database

    private func fill(
        _ part: String, from manifest: BackupManifest, for file: ConfigurationFile, with secrets: RestoredSecrets,
        _ outcome: inout Outcome
    ) async throws(CommandError) {
        guard let keys = secrets.ledgerKeys, let checkpoint = manifest.ledger else {
            throw .failed("ledger.key is missing: the restore must be recorded in the ledger")
        }
        var progress = CommandProgress(context, unit: "pages")
        try Self.opening(part) { () throws(StorageOpeningError) in
            try DatabaseCopy.make(of: folder.path(of: .database), at: part) { done, total in
                progress.show(done, share: Double(done) / Double(max(total, 1)))
            }
        }
        progress.clear()
        // As the daemon's start does it: the schema is brought up to date, and the secrets are compared with their
        // proofs.
        let ledger = LedgerFile(path: part, keys: keys)
        let chain = try Self.opening(part) { () throws(StorageOpeningError) in
            try ledger.prepare(Self.proved(file, sealed, context))
        }
        if manifest.shared == nil, let ring = secrets.keyRing {
            // This compares the key-encryption keys with their proofs.
            _ = try Self.opening(part) { () throws(StorageOpeningError) in
                try SQLiteKeyStore.open(path: part, keyRing: ring, maximumReaders: 1)
            }
        }
        let entry = try entry(.storeRestored, "of \(manifest.createdAt), through \(checkpoint.sequence)")
        do {
            var appender = try LedgerAppender.open(path: part, chain: chain)
            try appender.append([entry], at: context.now)
        } catch {
            throw OpenedLedger.explain(error, part)
        }
        outcome.node = chain.node.text
        outcome.last = checkpoint.sequence + 1
    }

    private static func proved(
        _ file: ConfigurationFile, _ sealed: SealedFiles?, _ context: CommandContext
    ) -> SharedSecrets {
        var loader = ConfigurationLoader(
            file, environment: context.environment, substitutes: sealed?.substitutes ?? [:])
        return loader.sharedSecrets() ?? .none
    }

    private func entry(_ kind: LedgerEntry.Kind, _ detail: String) throws(CommandError) -> LedgerEntry {
        let id = try wrap(CommandError.noRandomBytes, try LicenseID.naming(rowAt: context.now))
        var entry = LedgerEntry(kind: kind, at: context.now, license: id, detail: detail)
        entry.actor = OperatingSystemUser.actor
        return entry
    }

    private static func opening<Value>(
        _ path: String, _ body: () throws(StorageOpeningError) -> Value
    ) throws(CommandError) -> Value {
        try wrap(
            { (error: StorageOpeningError) in
                CommandError.failed("cannot put the database \(path) in its place: \(error.explanation)")
            }, try body())
    }

    // MARK: Telling

    private func print(
        _ outcome: Outcome, _ manifest: BackupManifest, asJSON: Bool
    ) throws(CommandError) {
        if asJSON {
            return try context.printObject { writer in
                writer.member("node", outcome.node)
                writer.member("createdAt", manifest.createdAt)
                writer.member("keys", manifest.keyCount)
                writer.member("last", outcome.last)
                writer.member("placed", outcome.placed)
                writer.member("shared", manifest.shared)
            }
        }
        for path in outcome.placed { try context.print("put in its place: \(path)") }
        try context.print(
            "restored: \(manifest.keyCount.counted("key")), and the ledger of node \(outcome.node) as of \(manifest.createdAt); "
                + "its row \(outcome.last) says so")
        if manifest.shared != nil {
            context.note(
                "the copy in PostgreSQL may have newer entries: run latchkey ledger rejoin before the daemon starts")
        }
    }
}
