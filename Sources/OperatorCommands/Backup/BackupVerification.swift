import Administration
import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import KeyCrypto
import Records
import ServiceConfiguration
import StorageSQLite

/// What `latchkey backup verify` does, and `restore` before it changes anything.
struct BackupVerification {
    let folder: BackupFolder
    private let file: ConfigurationFile?
    private let sealed: SealedFiles?
    private let context: CommandContext
    private var findings: [BackupFinding] = []
    /// What is no fault, and worth a word.
    private var notes: [String] = []
    private var ledger: LedgerVerified?

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        let folder = BackupFolder(path: try arguments.operand(0))
        let file = try arguments.value(BackupArguments.optionalConfig).map { path throws(CommandError) in
            try OpenedLedger.configuration(path, context)
        }
        self.init(of: folder, for: file, sealed: try BackupArguments.sealedFiles(arguments, in: folder), context)
    }

    init(
        of folder: BackupFolder, for file: ConfigurationFile?, sealed: SealedFiles?, _ context: CommandContext
    ) {
        self.folder = folder
        self.file = file
        self.sealed = sealed
        self.context = context
    }

    func run(asJSON: Bool) async throws(CommandError) {
        var verification = self
        let manifest = try verification.verify()
        try verification.print(manifest, asJSON: asJSON)
        let count = verification.findings.count
        if count > 0 { throw .failed("the backup does not verify: \(count.counted("finding"))") }
    }

    /// The manifest of a backup without a finding. Otherwise prints the findings, and throws.
    func verified() throws(CommandError) -> BackupManifest {
        var verification = self
        let manifest = try verification.verify()
        for finding in verification.findings { context.note(finding.text) }
        for note in verification.notes { context.note(note) }
        // Credentials may have been renewed since then, and the stored data does not depend on them.
        let count = verification.findings.count { !$0.isAboutCredentials }
        guard count == 0, let manifest else {
            let isClosed = sealed == nil && BackupFolder.exists(folder.path(of: .secrets))
            throw .failed(
                "the backup is not put back: \(count.counted("finding")); nothing was changed"
                    + (isClosed ? ". --recipient-key opens the files that are sealed in it" : ""))
        }
        return manifest
    }

    // MARK: Without a secret

    private mutating func verify() throws(CommandError) -> BackupManifest? {
        guard let (manifest, text) = try readManifest() else { return nil }
        let isWhole = try compareFiles(with: manifest)
        guard manifest.oldestProgram <= StoreSummary.knownSchema else {
            findings.append(.schemaTooNew(found: manifest.schema, supported: StoreSummary.knownSchema))
            return manifest
        }
        guard isWhole, try checkDatabase(manifest), let ledger = manifest.ledger else { return manifest }
        if let file { try verify(manifest, text: text, ledger, with: file) }
        return manifest
    }

    /// Nil if there is none that can be read, which is a finding.
    private mutating func readManifest() throws(CommandError) -> (BackupManifest, [UInt8])? {
        guard try folder.names().contains(BackupManifest.fileName) else {
            findings.append(.manifestMissing)
            return nil
        }
        let text: [UInt8]
        do throws(FileError) {
            text = try FileReading.read(
                folder.path(of: BackupManifest.fileName), sizeMaximum: BackupManifest.sizeMaximum, permissions: .any
            ).revealed()
        } catch .empty, .tooLarge {
            text = []
        } catch {
            throw .failed(error.description)
        }
        guard let manifest = BackupManifest(parsing: text) else {
            findings.append(.manifestAltered)
            return nil
        }
        return (manifest, text)
    }

    /// Whether every part is there, and as it was.
    private mutating func compareFiles(with manifest: BackupManifest) throws(CommandError) -> Bool {
        let before = findings.count
        let names = try folder.names()
        for part in manifest.files {
            let name = part.part.rawValue
            guard names.contains(name) else {
                findings.append(.fileMissing(name))
                continue
            }
            var progress = CommandProgress(context, unit: "bytes of \(name)", total: Int(part.size))
            let measure = try FileMeasure(of: folder.path(of: name)) { progress.show(Int($0)) }
            progress.clear()
            if measure.size != part.size {
                findings.append(.fileSize(name, expected: part.size, found: measure.size))
            } else if measure.digest != part.digest {
                findings.append(.fileAltered(name))
            }
        }
        let known = [BackupManifest.fileName] + manifest.files.map(\.part.rawValue)
        for name in names where !known.contains(name) { findings.append(.fileUnknown(name)) }
        return findings.count == before
    }

    /// Whether the database is sound and the one that the manifest is about.
    private mutating func checkDatabase(_ manifest: BackupManifest) throws(CommandError) -> Bool {
        let path = folder.path(of: .database)
        do throws(StorageOpeningError) {
            let lines = try DatabaseIntegrity.findings(path: path)
            findings += lines.map(BackupFinding.database)
            guard lines.isEmpty else { return false }
            let summary = try StoreSummary.read(path: path)
            guard let ledger = manifest.ledger, summary.link == ledger.link, summary.schema == manifest.schema else {
                findings.append(.ledgerDiffers)
                return false
            }
            return true
        } catch {
            throw .failed("cannot read \(path): \(error.explanation)")
        }
    }

    // MARK: With the secrets of a configuration

    private mutating func verify(
        _ manifest: BackupManifest, text: [UInt8], _ checkpoint: LedgerCheckpoint, with file: ConfigurationFile
    ) throws(CommandError) {
        let secrets = RestoredSecrets(file, sealed, context)
        guard let keys = secrets.ledgerKeys else {
            let now = try secrets.files.fingerprints(nil)
            return note(SecretComparison(manifest.fingerprints, now, isComparable: false))
        }
        let chain = LedgerChain(keys: keys, node: checkpoint.node)
        let now = try secrets.files.fingerprints(chain)
        let isSealed = try Self.attempt { () throws(CryptoError) in try BackupManifest.isSealed(text, by: chain) }
        let ledgerKey = manifest.fingerprints.first { $0.name == "ledger.key" && $0.need == .store }
        let comparison = SecretComparison(
            manifest.fingerprints, now, isComparable: ledgerKey.map(now.contains) ?? false)
        note(comparison)
        if comparison.blocking.isEmpty, !isSealed { findings.append(.manifestUnsealed) }
        compareSealedFiles(with: manifest, chain, file)
        try compareNode(checkpoint, file)
        guard isSealed else { return }
        try verifyLedger(chain, checkpoint)
        if manifest.shared == nil { try checkKeys(secrets) }
        try checkMasterSecret(secrets)
    }

    private mutating func note(_ comparison: SecretComparison) {
        for (name, need, difference) in comparison.differences {
            switch (need, difference) {
            case (.store, .missing), (.devices, .missing): findings.append(.secretMissing(name))
            case (.store, .differs), (.devices, .differs): findings.append(.secretDiffers(name))
            case (.former, .missing), (.former, .differs):
                notes.append("\(name): a key that was in use before is not configured any more")
            case (.other, .missing): notes.append(BackupFinding.secretMissing(name).text)
            case (.other, .differs): notes.append("\(name) was replaced since the backup")
            }
        }
    }

    /// Sealed files are those whose fingerprints the manifest has.
    private mutating func compareSealedFiles(
        with manifest: BackupManifest, _ chain: LedgerChain, _ file: ConfigurationFile
    ) {
        guard let sealed else { return }
        for sealedFile in sealed.files {
            let named = NamedFile(
                field: sealedFile.field, ordinal: 0, source: .file(path: sealedFile.source),
                isSecret: sealedFile.isSecret)
            let print = try? SecretFingerprint(named, in: file.configuration, chain, sealedFile.contents)
            if let print, manifest.fingerprints.contains(print) { continue }
            findings.append(.sealedFileDiffers(sealedFile.field))
        }
    }

    /// A configuration that has a database has that of one node.
    private mutating func compareNode(
        _ checkpoint: LedgerCheckpoint, _ file: ConfigurationFile
    ) throws(CommandError) {
        let path = file.configuration.storage.databasePath
        guard BackupFolder.exists(path), let here = (try? StoreSummary.read(path: path))?.node else { return }
        if here != checkpoint.node { findings.append(.otherNode(checkpoint.node.text, here: here.text)) }
    }

    private mutating func verifyLedger(
        _ chain: LedgerChain, _ checkpoint: LedgerCheckpoint
    ) throws(CommandError) {
        guard checkpoint.sequence > 0 else { return }
        let path = folder.path(of: .database)
        var progress = CommandProgress(context, unit: "entries verified")
        var found: [LedgerFinding] = []
        do {
            var reader = try LedgerReader.open(path: path)
            ledger = try reader.verify(
                chain, checkpoints: [checkpoint], progress: { progress.show($0) }, report: { found.append($0) })
            progress.clear()
        } catch {
            progress.clear()
            throw OpenedLedger.explain(error, path)
        }
        findings += found.map(BackupFinding.ledger)
    }

    private mutating func checkKeys(_ secrets: RestoredSecrets) throws(CommandError) {
        guard let ring = secrets.keyRing else { return }
        let path = folder.path(of: .database)
        var progress = CommandProgress(context, unit: "keys")
        defer { progress.clear() }
        var found: [KeyFinding] = []
        do throws(StorageOpeningError) {
            try SealedKeyCheck.run(path: path, keyRing: ring) { count, page in
                found += page
                progress.show(count)
            }
        } catch .keyEncryptionKeyDiffers {
            // The fingerprints have named it, unless an older version of the key is wrong.
            if !findings.contains(where: { $0.isAbout("keys.keyEncryptionKey") }) {
                findings.append(.secretDiffers("keys.keyEncryptionKey"))
            }
        } catch .keyEncryptionKeyMissing(let version) {
            findings.append(.secretMissing("keys.keyEncryptionKey of version \(version)"))
        } catch {
            throw .failed("cannot read \(path): \(error.explanation)")
        }
        findings += found.map(BackupFinding.key)
    }

    /// The fingerprints only say that the configuration still has the master secret of the time of the backup. The
    /// proof says whether keys were derived from it.
    private mutating func checkMasterSecret(_ secrets: RestoredSecrets) throws(CommandError) {
        let path = folder.path(of: .database)
        do throws(StorageOpeningError) {
            try SecretProofCheck.run(path: path, secrets: secrets.masterSecret)
        } catch .secretDiffers(let name) {
            if !findings.contains(where: { $0.isAbout(name.rawValue) }) {
                findings.append(.secretDiffers(name.rawValue))
            }
        } catch {
            throw .failed("cannot read \(path): \(error.explanation)")
        }
    }

    private static func attempt<Value>(_ body: () throws(CryptoError) -> Value) throws(CommandError) -> Value {
        try wrap(
            { (_: CryptoError) in CommandError.failed("cannot verify the backup: a cryptographic operation failed") },
            try body())
    }

    // MARK: Telling

    private func print(_ manifest: BackupManifest?, asJSON: Bool) throws(CommandError) {
        if asJSON {
            return try context.printObject { writer in
                writer.member("isSound", findings.isEmpty)
                writer.member("program", manifest?.program)
                writer.member("createdAt", manifest?.createdAt)
                writer.member("node", manifest?.ledger?.node.text)
                writer.member("name", manifest?.label)
                writer.member("shared", manifest?.shared)
                writer.member("schema", manifest?.schema)
                writer.member("keys", manifest?.keyCount)
                writer.member("entries", manifest?.entryCount)
                writer.member("last", manifest?.ledger?.sequence)
                writer.member("isProved", ledger != nil)
                writer.objects("findings", findings) { $1.write(to: &$0) }
                writer.member("notes", notes)
            }
        }
        for finding in findings { try context.print(finding.text) }
        for note in notes { context.note(note) }
        guard findings.isEmpty, let manifest, let checkpoint = manifest.ledger else { return }
        try context.print(
            "made at \(manifest.createdAt) by version \(manifest.program): \(manifest.keyCount.counted("key")), and "
                + "\(manifest.entryCount.counted("entry", "entries")) of node \(checkpoint.node) up to sequence"
                + " \(checkpoint.sequence)")
        if file == nil {
            context.note("without --config nothing shows whether it was altered on purpose, or opens with the secrets")
        } else {
            try context.print("proofs, ledger and keys verify, and the secrets are those of the backup")
        }
    }
}

extension BackupFinding {
    /// Whether it is about what devices know of the server.
    fileprivate var isAboutCredentials: Bool {
        switch self {
        case .secretMissing(let name), .secretDiffers(let name): name.hasPrefix("fairplay.")
        default: false
        }
    }

    /// Whether it is about the secret of this name.
    fileprivate func isAbout(_ secret: String) -> Bool {
        switch self {
        case .secretMissing(let name), .secretDiffers(let name): name == secret
        default: false
        }
    }
}

extension KeyFinding {
    /// One line for a person.
    var text: String {
        switch self {
        case .sealBroken(let keyID):
            "key \(Self.name(keyID)): its seal does not open; it was altered or exchanged, or sealed under a key that is not configured"
        case .malformed(let keyID): "key \(Self.name(keyID)): a column has a value that no version writes"
        }
    }

    /// The members of a finding in what `--json` prints.
    func write(to writer: inout JSONWriter) {
        switch self {
        case .sealBroken(let keyID):
            writer.member("finding", "sealBroken")
            writer.member("kid", Self.name(keyID))
        case .malformed(let keyID):
            writer.member("finding", "keyMalformed")
            writer.member("kid", Self.name(keyID))
        }
    }

    /// A key id whose column was altered may have any size.
    private static func name(_ bytes: [UInt8]) -> String {
        KeyID(bytes: bytes)?.description ?? "hex:" + Hexadecimal.encode(bytes.prefix(32))
    }
}
