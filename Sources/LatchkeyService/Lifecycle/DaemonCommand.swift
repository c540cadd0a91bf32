import Administration
import ByteCoding
package import CommandLineKit
import ContentKeys
import Entitlements
import FairPlay
import Glibc
import HTTPMessages
import KeyCrypto
import POSIXSockets
import Records
import ServiceConfiguration
import StoragePostgreSQL
import StorageSQLite
import Telemetry

/// `latchkeyd --config FILE [--check[=full] | --print-config]`.
package enum DaemonCommand {
    private static let config = CommandOption(
        "--config", .value("FILE"),
        help:
            "the configuration; examples/reference.json5 of the package's documents (/usr/share/doc/latchkey) explains it",
        isRequired: true)
    private static let check = CommandOption(
        "--check", .flagOrWord("full"),
        help:
            "check the configuration and every file it names, warn about valid settings that may be mistakes, such as a key URI whose path "
            + "is not served, then exit; =full also checks that the databases open and belong to "
            + "the configured secrets, and that this user may make what is not there yet: database, schema and "
            + "sockets. Run it as the daemon's user"
    )
    private static let printConfig = CommandOption(
        "--print-config", .flag,
        help: "print the configuration in force with all defaults, and what needs a restart, then exit")

    /// The most time that closing the files may take at the end.
    private static let closingLimit: Duration = .seconds(5)
    /// Descriptors for everything except public connections: more than `DescriptorPlan` ever reserves.
    private static let otherDescriptors = 512

    private static let probe = CommandOption(
        "--probe", .flagOrWord("ready"),
        help:
            "ask the daemon that runs with this configuration at its admin listener whether it lives, or with =ready whether it "
            + "wants requests; the exit status is 0 if it does")

    private static let newDatabase = CommandOption(
        "--new-database", .flag,
        help:
            "make an empty database if this node's database file is missing; its records of uses and devices are lost"
    )

    package static let command = Command(
        "latchkeyd", summary: "FairPlay Streaming license server",
        details: """
            Serves until SIGTERM or SIGINT, then finishes the requests in flight; a second signal ends it at once. SIGHUP reads \
            the configuration again and puts in force what needs no restart; --print-config marks what does. Logs one JSON \
            object per line to standard error, or words to a terminal; the event "listening" names the address of each \
            listener once it listens. If JOURNAL_STREAM says that standard error is the journal's, each line begins with its priority. If it cannot start, \
            each reason is a line with the event "start_failed". The exit status is 78 if the configuration or a file that it \
            names cannot be used, 2 for wrong arguments, and 1 for any other failure.
            """,
        examples: [
            "latchkeyd --config /etc/latchkey/latchkey.json5 --check",
            "latchkeyd --config /etc/latchkey/latchkey.json5 --check=full",
            "latchkeyd --config /etc/latchkey/latchkey.json5 --print-config",
            "LATCHKEY_LISTEN=127.0.0.1:0 latchkeyd --config demo/latchkey.json5",
        ],
        options: [config, check, printConfig, probe, newDatabase]
    ) { (arguments, context) throws(CommandError) in
        // This must come before the first secret is read.
        let protection = protectMemory()
        let path = try arguments.required(config)
        if arguments.isSet(printConfig) { return try context.print(readFile(path, context).printed) }
        if arguments.isSet(probe) {
            let isReadiness = arguments.value(probe) == "ready"
            return try Probe(readFile(path, context).configuration, asksForReadiness: isReadiness).run()
        }
        if arguments.isSet(check) {
            let (file, loaded) = try load(path, context)
            for warning in file.warnings { context.note("warning: \(warning)") }
            // On a machine for tests these are no mistakes.
            let mark = loaded.isForTests ? "note" : "warning"
            for warning in AdminRolesWarning.warnings(about: file.configuration) {
                context.note("\(mark): \(warning)")
            }
            for warning in loaded.shortSecrets {
                context.note("\(mark): \(warning); \(ShortSecretWarning.remedy)")
            }
            if let warning = KeyURIWarning(file.configuration) { context.note("warning: \(warning)") }
            let template = file.configuration.keys.skdTemplate
            for part in SKDTemplateError.Part.allCases {
                let field = part.rawValue
                if template.needs(part) {
                    context.note("note: keys.skdTemplate: a key without a \(field) gets no URL")
                } else if !template.tellsApart(part) {
                    context.note("note: keys.skdTemplate: a key with a \(field) gets no URL without {\(field)}")
                }
            }
            if let warning = RandomKeysWarning(file.configuration) { context.note("\(mark): \(warning)") }
            if let warning = UnconfinedWorkersWarning(loaded) {
                context.note("warning: \(warning). \(UnconfinedWorkersWarning.remedy)")
            }
            for (name, warning) in credentialWarnings(loaded, context) {
                context.note("\(warning == .developmentMaterial ? mark : "warning"): \(name): \(warning)")
            }
            for (name, warning) in loaded.tlsWarnings(now: context.now) { context.note("warning: \(name): \(warning)") }
            for warning in IssuerKeysWarning.warnings(about: loaded, now: context.now) {
                context.note("warning: \(warning.path): \(warning). Remedy: \(IssuerKeysWarning.remedy)")
            }
            for finding in file.configuration.entitlement.findings {
                context.note("warning: entitlement.\(finding)")
            }
            for (index, issuer) in file.configuration.entitlement.issuers.enumerated()
            where issuer.dialect == .axinom && issuer.contents == nil {
                context.note(
                    "warning: entitlement.issuers[\(index)]: a message with `license_request` is good for every stored key,"
                        + " because its seed_id is not read; contents limits it")
            }
            for source in loaded.keySources {
                context.note("note: entitlement.issuers[\(source.index)]: \(source); it is not fetched now")
            }
            if arguments.value(check) == "full" { try checkInstallation(loaded, context) }
            try context.print("\(path): good")
        } else {
            do throws(CommandError) {
                let (file, loaded) = try load(path, context)
                if arguments.isSet(newDatabase) { try allowNewDatabase(loaded) }
                try serve(loaded, of: file, unprotected: protection, context)
            } catch {
                throw logged(error, context)
            }
        }
    }

    /// Logs why the daemon does not serve, in the form of all its log lines: one line for each reason.
    ///
    /// Returns what is left to report: the exit status, or the whole error if nothing can be logged.
    private static func logged(_ error: CommandError, _ context: CommandContext) -> CommandError {
        let reasons: String
        let status: ExitStatus
        switch error {
        case .usage, .told: return error
        case .failed(let text): (reasons, status) = (text, .failure)
        case .misconfigured(let text): (reasons, status) = (text, .configuration)
        }
        // The configured level and rate do not matter: these lines are critical, and the service is their cause.
        guard let logger = try? makeLogger(level: .info, linesPerEvent: Logger.linesPerEventDefault, context) else {
            return error
        }
        for reason in reasons.split(separator: "\n") {
            logger.critical("start_failed", [.string("cause", String(reason))])
        }
        logger.flush()
        return .told(status)
    }

    private static func allowNewDatabase(_ loaded: LoadedConfiguration) throws(CommandError) {
        let path = loaded.databasePath
        try wrap(
            { (error: StorageOpeningError) in
                CommandError.failed("cannot open the database \(path): \(error.explanation)")
            }, try SQLiteDecisionStore.allowNew(path: path))
    }

    private static func load(
        _ path: String, _ context: CommandContext
    ) throws(CommandError) -> (ConfigurationFile, LoadedConfiguration) {
        let file = try readFile(path, context)
        let loaded = try wrap(
            { (error: ConfigurationError) in CommandError.misconfigured(error.description) },
            try LoadedConfiguration.load(file, environment: context.environment))
        return (file, loaded)
    }

    private static func readFile(_ path: String, _ context: CommandContext) throws(CommandError) -> ConfigurationFile {
        return try wrap(
            { (error: ConfigurationError) in CommandError.misconfigured(error.description) },
            try ConfigurationFile(path: path, environment: context.environment))
    }

    /// Checks what a start finds outside the configuration, and changes nothing: the stores and the folders of sockets.
    ///
    /// Throws `failed` with a line for each fault.
    private static func checkInstallation(
        _ loaded: LoadedConfiguration, _ context: CommandContext
    ) throws(CommandError) {
        var faults: [String] = []
        var unconfigured: SecretProof.Name?
        do throws(DaemonError) { unconfigured = try checkFile(loaded) } catch { faults.append(error.description) }
        do throws(DaemonError) { unconfigured = try checkDatabase(loaded) ?? unconfigured } catch {
            faults.append(error.description)
        }
        if unconfigured != nil { context.note("warning: \(RandomKeysWarning.besideDerivedKeys)") }
        for (name, listeners) in [("public", loaded.publicListeners), ("admin", loaded.adminListeners)] {
            for (index, listener) in listeners.enumerated() {
                let id = ServingListeners.ListenerID(name: name, index: index)
                if case .systemd = listener.address {
                    context.note(
                        "note: listeners.\(id): the socket \(listener.address) is tried only at the start, because systemd"
                            + " passes it to the service")
                }
                do throws(DaemonError) {
                    try SocketFolder.check(for: id, at: listener.address)
                } catch {
                    // Before the first start, such a folder may be missing because systemd has not made it yet.
                    if case .socketFolder(_, let folder, ENOENT) = error, FilePath.directory(of: folder) == "/run" {
                        context.note("warning: \(error)")
                    } else {
                        faults.append(error.description)
                    }
                }
            }
        }
        if !faults.isEmpty { throw .failed(faults.joined(separator: "\n")) }
    }

    /// Checks that the node's database file can be used or made, and belongs to the configured secrets. Returns the
    /// secret that it was used with and that is not configured; nil if there is none.
    private static func checkFile(_ loaded: LoadedConfiguration) throws(DaemonError) -> SecretProof.Name? {
        let file = LedgerFile(path: loaded.databasePath, keys: loaded.ledgerKeys)
        let failure = { (error: StorageOpeningError) in DaemonError.store(path: loaded.databasePath, error) }
        try wrap(failure, try file.check(loaded.sharedSecrets, loaded.postgreSQL == nil ? loaded.keyRing : nil))
        return try wrap(failure, try file.unconfigured(loaded.sharedSecrets))
    }

    /// The same for the database that all nodes share.
    private static func checkDatabase(_ loaded: LoadedConfiguration) throws(DaemonError) -> SecretProof.Name? {
        guard let settings = loaded.postgreSQL else { return nil }
        return try wrap(
            DaemonError.postgreSQL,
            try PostgreSQLStore.check(settings, keyRing: loaded.keyRing, secrets: loaded.sharedSecrets))
    }

    private static func serve(
        _ loaded: LoadedConfiguration, of file: ConfigurationFile, unprotected protection: SocketError?,
        _ context: CommandContext
    ) throws(CommandError) {
        // This must come before anything is opened, and while there is only one thread.
        _ = DescriptorPlan.raiseLimit()
        let connections = loaded.configuration.limits.http.connectionsMaximum * loaded.publicListeners.count
        DescriptorPlan.growTable(to: connections + otherDescriptors)
        let logging = loaded.configuration.logging
        let logger = try makeLogger(level: logging.level, linesPerEvent: logging.linesPerEvent, context)
        defer { logger.flush() }
        for warning in file.warnings { logger.warning("configuration", [.string("warning", "\(warning)")]) }
        for warning in AdminRolesWarning.warnings(about: file.configuration) {
            logger.warning("configuration", [.string("warning", "\(warning)")])
        }
        for warning in loaded.shortSecrets {
            logger.warning("configuration", [.string("warning", "\(warning); \(ShortSecretWarning.remedy)")])
        }
        if let warning = KeyURIWarning(file.configuration) {
            logger.warning("configuration", [.string("warning", "\(warning)")])
        }
        if let warning = RandomKeysWarning(file.configuration) {
            logger.warning("configuration", [.string("warning", "\(warning)")])
        }
        for (name, warning) in credentialWarnings(loaded, context) {
            logger.warning("credential", [.string("credential", name), .string("warning", "\(warning)")])
        }
        for (listener, warning) in loaded.tlsWarnings(now: context.now) {
            logger.warning("certificate", [.string("listener", listener), .string("warning", "\(warning)")])
        }
        IssuerKeysWarning.log(about: loaded, now: context.now, to: logger)
        if let protection { logger.warning("memory_unprotected", [.string("cause", protection.description)]) }
        if !SecretMemory.isLocked {
            logger.warning(
                "memory_not_locked",
                [.string("cause", "key material may be swapped"), .string("remedy", LockedMemory.remedy)])
        }
        do throws(DaemonError) {
            let daemon = try Daemon(
                loaded, environment: context.environment, sockets: takeSockets(context), logger: logger)
            daemon.tellStopCause { StopSignals.stopThisProcess() }
            StopSignals.wait {
                daemon.reload { () throws(ConfigurationError) in
                    let file = try ConfigurationFile(path: file.path, environment: context.environment)
                    return try LoadedConfiguration.load(file, environment: context.environment)
                }
            }
            daemon.stop()
            if let cause = daemon.stopCause { throw cause }
            StopSignals.endThisProcess(after: closingLimit)
        } catch {
            throw error.isMisconfiguration ? .misconfigured(error.description) : .failed(error.description)
        }
    }

    /// Takes the sockets that systemd has passed to this process.
    ///
    /// Child processes do not see them: their environment variables are removed.
    private static func takeSockets(_ context: CommandContext) -> ActivatedSockets {
        // Safe: no other thread reads the environment yet.
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsafe unsetenv(name) }
        return ActivatedSockets(environment: context.environment, processID: getpid())
    }

    /// The warnings about credentials, each with the credential's name.
    private static func credentialWarnings(
        _ loaded: LoadedConfiguration, _ context: CommandContext
    ) -> [(name: String, warning: CredentialWarning)] {
        loaded.credentials.credentials.flatMap { credential in
            credential.warnings(now: context.now).map { (credential.name, $0) }
        }
    }

    private static func makeLogger(
        level: LogLevel, linesPerEvent: Int, _ context: CommandContext
    ) throws(CommandError) -> Logger {
        let sink = try wrap(
            { (error: LogSinkError) in CommandError.failed("cannot log to standard error: \(error)") },
            try DescriptorLogSink(style: LogStyle(ofStandardError: context.environment)))
        return Logger(level: level, sink: sink, linesPerEvent: linesPerEvent)
    }

    /// Keeps secrets out of core files and away from other processes.
    ///
    /// Returns the error if the kernel does not allow it.
    private static func protectMemory() -> SocketError? {
        do throws(SocketError) {
            try ProcessProtection.forbidDumpsAndTracing()
            return nil
        } catch {
            return error
        }
    }
}

extension LoadedConfiguration {
    /// Whether all its credentials are development material, as `latchkey init` makes it.
    fileprivate var isForTests: Bool { credentials.credentials.allSatisfy(\.isDevelopmentMaterial) }
}
