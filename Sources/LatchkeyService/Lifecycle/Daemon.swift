import ByteCoding
import CommandLineKit
import Licensing
package import POSIXSockets
import Records
package import ServiceConfiguration
import StoragePostgreSQL
import Synchronization
package import Telemetry

/// The licence server from its checked configuration to its orderly end.
///
/// One thread runs it: it starts, reloads and stops the daemon. What a started daemon owns ends with it.
package final class Daemon: Sendable {
    private let parts: DaemonParts
    private let book: Mutex<RuleBook>
    private let notifier: ServiceNotifier
    private let logger: Logger
    private let refusal = Mutex<DaemonError?>(nil)

    /// Why the daemon must stop although no operator told it to: PostgreSQL was away at the start, and its first
    /// connection shows that it cannot serve.
    package var stopCause: DaemonError? { refusal.withLock { $0 } }

    /// Starts serving; each listener is logged as `listening` once it really listens. Throws a `DaemonError` that names
    /// what failed.
    package init(
        _ loaded: LoadedConfiguration, environment: [String: String], sockets: ActivatedSockets, logger: Logger
    ) throws(DaemonError) {
        self.logger = logger
        notifier = try wrap(DaemonError.notifier, try ServiceNotifier(socketName: environment["NOTIFY_SOCKET"]))
        let (parts, book) = try DaemonParts.start(loaded, sockets: sockets, logger: logger)
        self.parts = parts
        self.book = Mutex(book)
        for name in parts.listeners.unusedSocketNames { logger.warning("socket_unused", [.string("name", name)]) }
        parts.records.note(.nodeStarted, LatchkeyVersion.current)
        parts.health.setReady(true)
        logger.info("ready", [.string("version", LatchkeyVersion.current), .integer("loops", parts.loopCount)])
        notify { () throws(SocketError) in try notifier.ready() }
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
        notify { () throws(SocketError) in
            try notifier.reloading(
                monotonicMicroseconds: UInt64(max(0, SystemMonotonicClock().monotonicTime.nanoseconds / 1000)))
        }
        do throws(ReloadError) {
            let new = try wrap(ReloadError.configuration, try load())
            let fields = try book.withLock { (book) throws(ReloadError) in try parts.adopt(new, book) }
            parts.metrics.reloadSucceeded(at: SystemWallClock().wallTime.seconds)
            parts.records.note(.configurationReloaded)
            logger.info("reloaded")
            if !fields.isEmpty {
                logger.warning("restart_needed", [.string("fields", fields.joined(separator: " "))])
            }
            // Last: the lines above are for the operator, who may have asked for fewer of them.
            logger.setLevel(new.configuration.live.logging.level)
            logger.setLinesPerEvent(new.configuration.live.logging.linesPerEvent)
        } catch {
            parts.metrics.reloadFailed()
            logger.error("reload_failed", [.string("cause", error.description)])
        }
        notify { () throws(SocketError) in try notifier.ready() }
    }

    /// Stops accepting, finishes requests in flight, and ends the loops. Blocks until all is down; called once.
    package func stop() {
        parts.health.setReady(false)
        logger.info("stopping")
        notify { () throws(SocketError) in try notifier.stopping() }
        parts.running.stop()
        logger.info("stopped")
    }

    private func notify(_ send: () throws(SocketError) -> Void) {
        do throws(SocketError) {
            try send()
        } catch {
            logger.warning("notify_failed", [.string("cause", error.description)])
        }
    }
}
