import Administration
import CommandLineKit
import FairPlay
import Glibc
import KeyCrypto
import POSIXSockets
import ServiceConfiguration
import StoragePostgreSQL
import StorageSQLite

/// Looks at an installation from inside: its files, certificates, stores, disk and clock. Changes nothing.
struct InstallationChecks {
    let path: String
    let loaded: LoadedConfiguration
    /// Every file that the configuration names, and the configuration itself.
    let filePaths: [String]
    let now: Int64

    var findings: [DoctorFinding] {
        permissions + credentials + workers + certificates + issuers + stores + [disk, kernelClock, accelerator]
    }

    // MARK: Files

    /// Secrets with wide permissions are not read at all, so these are the other files.
    private var permissions: [DoctorFinding] {
        var found: [DoctorFinding] = []
        if let mode = mode(path), mode & 0o022 != 0 {
            found.append(
                .bad(
                    "files.configuration", "\(path) has mode \(Self.octal(mode)): others than its owner can change it",
                    remedy: "chmod go-w \(Shell.quote(path))"))
        }
        for file in [loaded.databasePath, loaded.databasePath + "-wal"] {
            guard let mode = mode(file), mode & 0o077 != 0 else { continue }
            found.append(
                .bad(
                    "files.database", "\(file) has mode \(Self.octal(mode)): others than the daemon can read it",
                    remedy: "chmod 600 \(Shell.quote(file))"))
        }
        found += folders.compactMap { folder -> DoctorFinding? in
            guard let mode = mode(folder), mode & 0o022 != 0, mode & Self.stickyBit == 0 else { return nil }
            return .bad(
                "files.folder",
                "\(folder) has mode \(Self.octal(mode)): others than its owner can put other files in the place of those"
                    + " in it",
                remedy: "chmod go-w \(Shell.quote(folder))")
        }
        return found.isEmpty ? [.good("files.permissions", "only their owners can change or read them")] : found
    }

    /// The folders of the configuration, of the files that it names and of the database, each once.
    private var folders: [String] {
        var folders: [String] = []
        for file in filePaths + [loaded.databasePath] {
            let folder = FilePath.directory(of: FilePath.absolute(file))
            if !folders.contains(folder) { folders.append(folder) }
        }
        return folders
    }

    /// In a folder with this bit, only the owner of a file can replace it.
    private static let stickyBit: UInt32 = 0o1000

    private func mode(_ path: String) -> UInt32? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return status.st_mode & 0o7777
    }

    private static func octal(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    // MARK: Certificates

    private var credentials: [DoctorFinding] {
        let found = loaded.credentials.credentials.flatMap { credential in
            credential.warnings(now: now).map { warning in
                DoctorFinding.warning(
                    "fairplay.\(credential.name)", "\(warning)", remedy: "latchkey credentials list says more")
            }
        }
        let count = loaded.credentials.credentials.count
        return found.isEmpty ? [.good("fairplay", "\(count.counted("credential")) without a warning")] : found
    }

    /// Nothing if no credential has worker processes.
    private var workers: [DoctorFinding] {
        guard !loaded.modules.isEmpty || !loaded.libraries.isEmpty else { return [] }
        guard let warning = UnconfinedWorkersWarning(loaded) else {
            return [.good("fairplay.workers", "the kernel limits the files of worker processes (Landlock)")]
        }
        return [.warning("fairplay.workers", "\(warning)", remedy: UnconfinedWorkersWarning.remedy)]
    }

    private var certificates: [DoctorFinding] {
        let found = loaded.tlsWarnings(now: now).map { listener, warning in
            let remedy = "put a new certificate in its place, and reload the daemon"
            return switch warning {
            case .begins:
                DoctorFinding.bad(
                    "tls.begin", "\(listener): \(warning)",
                    remedy: "set the clock right if it is wrong, or " + remedy)
            case .ended: DoctorFinding.bad("tls.end", "\(listener): \(warning)", remedy: remedy)
            case .ends: DoctorFinding.warning("tls.end", "\(listener): \(warning)", remedy: remedy)
            }
        }
        return found.isEmpty
            ? [.good("tls.end", "every certificate of a listener is valid, and none ends within 30 days")] : found
    }

    private var issuers: [DoctorFinding] {
        let found = IssuerKeysWarning.warnings(about: loaded, now: now).map { warning in
            DoctorFinding.bad("issuers.keys", "\(warning.path): \(warning)", remedy: IssuerKeysWarning.remedy)
        }
        return found.isEmpty ? [.good("issuers.keys", "each issuer has a key in use, or fetches its keys")] : found
    }

    // MARK: Stores

    private var stores: [DoctorFinding] {
        var found: [DoctorFinding] = []
        let file = LedgerFile(path: loaded.databasePath, keys: loaded.ledgerKeys)
        do throws(StorageOpeningError) {
            try file.check(loaded.sharedSecrets, loaded.postgreSQL == nil ? loaded.keyRing : nil)
            found.append(.good("store.sqlite", "\(loaded.databasePath) opens, and its proofs hold"))
            if try file.unconfigured(loaded.sharedSecrets) != nil { found.append(Self.missingMasterSecret) }
        } catch {
            found.append(
                .bad(
                    "store.sqlite", "\(loaded.databasePath): \(error.explanation)",
                    remedy: error.isAboutSecrets
                        ? "compare the secrets of this node with those with which the database was made"
                        : "mend what is said of the file that storage.url (or storage.ledger) names"))
        }
        guard let settings = loaded.postgreSQL else { return found }
        do throws(PostgreSQLOpeningError) {
            let unconfigured = try PostgreSQLStore.check(
                settings, keyRing: loaded.keyRing, secrets: loaded.sharedSecrets)
            found.append(.good("store.postgresql", "PostgreSQL answers, and its proofs hold"))
            if unconfigured != nil { found.append(Self.missingMasterSecret) }
        } catch {
            found.append(
                .bad(
                    "store.postgresql", "the database \(settings.url.address) of storage.url: \(error.explanation)",
                    remedy: error.isAboutSecrets
                        ? "compare the secrets of this node with those of the other nodes"
                        : "see whether PostgreSQL runs and lets this machine in: \(settings.url.trial)"))
        }
        return found
    }

    private static let missingMasterSecret = DoctorFinding.warning(
        "store.masterSecret", "\(RandomKeysWarning.besideDerivedKeys)",
        remedy: "copy the file of the secret from another node, and name it in keys.masterSecret")

    private var disk: DoctorFinding {
        guard let space = try? DiskSpace.measure(loaded.databasePath) else {
            return .skipped("disk", "there is no database yet at \(loaded.databasePath)")
        }
        let found = "\(space.free >> 20) MiB are free; the database has \((space.database + space.log) >> 20) MiB"
        guard space.isLow else { return .good("disk", found) }
        return .bad("disk", found, remedy: "give the disk more room, or lower ledger.retention")
    }

    private var kernelClock: DoctorFinding {
        KernelClock.isSynchronised
            ? .good("clock.kernel", "the kernel reports the clock as synchronised")
            : .warning(
                "clock.kernel", "the kernel does not report the clock as synchronised",
                remedy: "run chrony or systemd-timesyncd: a wrong clock refuses good tokens, or accepts old ones")
    }

    // MARK: Accelerator

    /// Loads and tests the library as the daemon does when it starts.
    private var accelerator: DoctorFinding {
        let check = "crypto.accelerator"
        guard let path = loaded.acceleratorPath else { return .good(check, "off: OpenSSL computes RSA and ES256") }
        do throws(AcceleratorRefusal) {
            let found = try AcceleratorTrial.load(path: path) { _ in }
            return .good(check, "crypto_mb \(found.version) computes RSA and ES256: \(found.path) passes its self-test")
        } catch {
            let cause = "OpenSSL computes RSA and ES256: \(error)"
            guard loaded.configuration.crypto.accelerator != .automatic else { return .good(check, cause) }
            let remedy =
                error == .processorUnsuited
                ? "set it to \"off\" on this machine"
                : "install the library again (Scripts/install-accelerator), or set it to \"off\""
            return .warning(check, cause, remedy: remedy)
        }
    }
}

extension PostgreSQLOpeningError {
    /// The same of the database of all nodes.
    fileprivate var isAboutSecrets: Bool {
        switch self {
        case .keyEncryptionKeyDiffers, .keyEncryptionKeyMissing, .secretDiffers: true
        case .serverTooOld, .foreignSchema, .retiredSchema, .schemaTooNew, .settingsNotKept, .failed, .recordMalformed,
            .cryptographyFailed, .threadsNotStarted:
            false
        }
    }
}

extension PostgreSQLURL {
    /// A command that connects in the same way.
    fileprivate var trial: String {
        let host = hosts.first.map { " -h \(Shell.quote($0.name)) -p \($0.port)" } ?? ""
        return "psql\(host) -U \(Shell.quote(user)) \(Shell.quote(database))"
    }
}
