import Administration
import ByteCoding
import CommandLineKit
package import EventLoops
import Foundation
import Glibc
package import HTTPServing
package import KeyCrypto
import Licensing
package import POSIXSockets
import Records
import RouteKit
package import ServiceConfiguration
package import StoragePostgreSQL
package import StorageSQLite
import Synchronization
package import Telemetry
import Upkeep

/// The license server, from a checked configuration to an orderly shutdown.
///
/// One thread starts, reloads and stops it. Stopping the daemon ends everything that it owns.
package final class Daemon: Sendable {
    private let parts: DaemonParts
    private let book: Mutex<RuleBook>
    private let status: ServiceStatus
    private let logger: Logger
    private let refusal = Mutex<DaemonError?>(nil)

    /// Why the daemon must stop without an operator's command; nil as long as it need not.
    ///
    /// The only cause: PostgreSQL could not be reached at the start, and the first connection later showed that its
    /// database cannot be used.
    package var stopCause: DaemonError? { refusal.withLock { $0 } }

    /// Starts serving, and logs `listening` for each listener once it accepts connections.
    ///
    /// Throws a `DaemonError` that names what failed.
    package init(
        _ loaded: LoadedConfiguration, environment: [String: String], sockets: ActivatedSockets, logger: Logger
    ) throws(DaemonError) {
        self.logger = logger
        let notifier = try wrap(DaemonError.notifier, try ServiceNotifier(socketName: environment["NOTIFY_SOCKET"]))
        status = ServiceStatus(notifier, logger: logger)
        let (parts, book) = try Assembly.start(loaded, sockets: sockets, status: status, logger: logger)
        self.parts = parts
        self.book = Mutex(book)
        for name in parts.listeners.unusedSocketNames { logger.warning("socket_unused", [.string("name", name)]) }
        parts.records.note(.nodeStarted, LatchkeyVersion.current)
        parts.health.setReady(true)
        logger.info("ready", [.string("version", LatchkeyVersion.current), .integer("loops", parts.loopCount)])
        status.ready()
        if let limit = ServiceNotifier.watchdogLimit(environment: environment, processID: getpid()) {
            Watchdog(
                parts.watchedLoops, timer: parts.adminLoop, within: limit, notifier: notifier, logger: logger
            ).start()
        }
    }

    /// Calls `body` once, on any thread, when `stopCause` is set.
    package func tellStopCause(to body: @escaping @Sendable () -> Void) {
        parts.shared?.tellRefusal { [self] error in
            refusal.withLock { $0 = .refusedByPostgreSQL(error) }
            body()
        }
    }

    /// Puts the live half of a configuration in force, for requests and connections that begin from now on.
    ///
    /// A configuration that `load` refuses changes nothing. Fields of the fixed half that have changed are logged by
    /// name, because they need a restart.
    package func reload(_ load: () throws(ConfigurationError) -> LoadedConfiguration) {
        status.reloading(at: SystemMonotonicClock().monotonicTime)
        var refusal: String?
        do throws(ReloadError) {
            let new = try wrap(ReloadError.configuration, try load())
            let fields = try book.withLock { (book) throws(ReloadError) in try parts.adopt(new, book) }
            parts.metrics.reloadSucceeded(at: SystemWallClock().wallTime.seconds)
            parts.records.note(.configurationReloaded)
            logger.info("reloaded")
            IssuerKeysWarning.log(about: new, now: SystemWallClock().wallTime.seconds, to: logger)
            if !fields.isEmpty {
                logger.warning(
                    "restart_needed",
                    [
                        .string("fields", fields.joined(separator: " ")),
                        .string("remedy", "run latchkeyd --check=full before the restart"),
                    ])
            }
            // Last, so that a higher log level cannot suppress the lines above.
            logger.setLevel(new.configuration.live.logging.level)
            logger.setLinesPerEvent(new.configuration.live.logging.linesPerEvent)
        } catch {
            parts.metrics.reloadFailed()
            logger.error("reload_failed", [.string("cause", error.description)])
            refusal = error.description
        }
        status.ready { $0.reloadRefusal = refusal }
    }

    /// Is not ready for `drain.delay`, then stops accepting connections, finishes the requests in flight, and ends the
    /// loops. The delay counts from an operator's order to drain, if there was one.
    ///
    /// Blocks until all of this is done. Must be called only once.
    package func stop() {
        let now = SystemMonotonicClock().monotonicTime
        let drained = parts.health.drain.map { now - $0.since } ?? .zero
        let delay = max(.zero, book.withLock { $0.drainDelay } - drained)
        parts.health.setReady(false)
        let seconds = delay.components.seconds
        if delay > .zero {
            logger.info("draining", [.integer("seconds", Int(seconds))])
            status.stopping(within: delay + DaemonParts.stopLimit, "Not ready, and serving what comes for \(seconds) s")
            Thread.sleep(forTimeInterval: delay / .seconds(1))
            logger.info("stopping")
        } else {
            logger.info("stopping")
            status.stopping(within: DaemonParts.stopLimit, "Finishing requests")
        }
        parts.running.stop()
        logger.info("stopped")
    }
}

/// Why the daemon does not start, or must stop. The descriptions are for operators.
package enum DaemonError: Error, Equatable, Sendable {
    case store(path: String, StorageOpeningError)
    case postgreSQL(PostgreSQLOpeningError)
    /// PostgreSQL could not be reached when the daemon started, and was later found to have a database that this node
    /// cannot use, for example one of nodes with other secrets.
    case refusedByPostgreSQL(PostgreSQLOpeningError)
    case loops(EventLoopError)
    case listener(name: String, address: String, HTTPServerError)
    /// The folder of a unix socket does not exist, or the daemon may not make files there.
    case socketFolder(listener: String, folder: String, errno: Int32)
    case notifier(SocketError)
    case tls(TLSError)
    /// systemd has passed no socket with the name that the listener's configuration asks for.
    case noSuchSocket(name: String, listener: String)
    /// A socket from systemd has an address that the listener must not have.
    case exposed(listener: String, ConfigurationFault)
    case cryptography(CryptoError)
    /// The new library of a credential does not start, and the one before it stays in force.
    case libraryNotStarted(name: String, cause: String)
    /// The wall clock is before the day on which this program was built: both in seconds since 1970.
    case clockBeforeBuild(now: Int64, built: Int64)

    /// Whether the configuration is wrong, so that another try fails in the same way.
    var isMisconfiguration: Bool {
        switch self {
        case .noSuchSocket, .exposed: true
        case .store, .postgreSQL, .refusedByPostgreSQL, .loops, .listener, .socketFolder, .notifier, .tls,
            .cryptography, .clockBeforeBuild, .libraryNotStarted:
            false
        }
    }
}

extension DaemonError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .store(let path, let error): "cannot open the database \(path): \(error.explanation)"
        case .postgreSQL(let error): "cannot use the database of storage.url: \(error.explanation)"
        case .refusedByPostgreSQL(let error):
            "cannot use the database of storage.url, which could not be reached at the start: \(error.explanation)"
        case .loops(let error): "cannot start the event loops: \(error)"
        case .listener(let name, let address, let error):
            "cannot open the \(name) listener on \(address): \(error). Stop the program that holds the address, or change it."
        case .socketFolder(let listener, let folder, let error):
            "listeners.\(listener) cannot make its socket in \(folder): \(SystemText.description(of: error)). Make the"
                + " folder for the daemon's user; systemd makes /run/NAME when the service starts, if the unit has"
                + " RuntimeDirectory=NAME"
        case .tls(let error): "cannot prepare TLS: \(error)"
        case .noSuchSocket(let name, let listener):
            "listeners.\(listener) asks for the socket \"\(name)\", but systemd has passed no socket of that name: set"
                + " FileDescriptorName=\(name) in the .socket unit, and start the service by it"
        case .clockBeforeBuild(let now, let built):
            "the system's clock shows \(UnixTime.text(now)), a time before this program was built (\(UnixTime.text(built)) or later): set the"
                + " clock, or start the time service (timedatectl shows both), and start again"
        case .exposed(let listener, let fault): "listeners.\(listener) cannot use its socket: \(fault)"
        case .libraryNotStarted(let name, let cause):
            "the library of the credential \(name) does not start, and the one before it stays in force: \(cause)"
        case .notifier(let error): "cannot use NOTIFY_SOCKET: \(error)"
        case .cryptography(let error): "OpenSSL does not work here: \(error). Check the installation of libssl3."
        }
    }
}

/// Why a configuration is not put in force while the daemon runs.
enum ReloadError: Error, CustomStringConvertible {
    case configuration(ConfigurationError)
    case daemon(DaemonError)
    case certificates(TLSError)

    var description: String {
        switch self {
        case .configuration(let error): error.description
        case .daemon(let error): error.description
        case .certificates(let error): error.description
        }
    }
}

extension IssuerKeysWarning {
    /// Logs a line for each issuer without a key in use.
    static func log(about loaded: LoadedConfiguration, now: Int64, to logger: Logger) {
        for warning in warnings(about: loaded, now: now) {
            logger.warning("configuration", [.string("warning", "\(warning.path): \(warning)")])
        }
    }
}
