import ContentKeys
import Entitlements
import EventLoops
import FairPlay
import HTTPServing
import KeyCrypto
import Licensing
import POSIXSockets
import StorageSQLite
package import Telemetry

/// The licence server from its checked configuration to its orderly end.
///
/// One thread runs it: `start` opens the store, the loops and the listeners; `stop` takes them down in the opposite order. What a
/// started daemon owns ends with it.
package final class Daemon: Sendable {
    /// How long requests in flight may take after the order to stop, and how long tasks may after that.
    private static let drainLimit: Duration = .seconds(30)
    private static let taskLimit: Duration = .seconds(2)

    private let group: EventLoopGroup
    private let modules: LadderModules?
    private let server: HTTPServer
    private let health: Health
    private let notifier: ServiceNotifier
    private let logger: Logger

    /// Starts serving; each listener is logged as `listening` once it really listens. Throws a `DaemonError` that names what failed.
    package init(
        _ loaded: LoadedConfiguration, environment: [String: String], logger: Logger
    ) throws(DaemonError) {
        self.logger = logger
        let configuration = loaded.configuration
        let store = try Self.openStore(loaded)
        let operations = RSAOperationCount()
        let metrics = ServiceMetrics(registry: MetricsRegistry(), rsaOperations: operations)
        let health = Health()
        self.health = health
        do throws(EventLoopError) {
            group = try EventLoopGroup(count: configuration.limits.loopCount)
            modules = try LadderModules(loaded.modules, logger: logger)
        } catch {
            throw .loops(error)
        }
        do throws(SocketError) {
            notifier = try ServiceNotifier(socketName: environment["NOTIFY_SOCKET"])
        } catch {
            throw .notifier(error)
        }
        modules?.register(in: metrics.registry)
        server = HTTPServer(group: group, observer: metrics)
        let issuer = LicenseIssuer(
            credentials: loaded.credentials.connecting(modules?.byCredential ?? [:]),
            tokens: VerifiedTokenCache(
                verifier: TokenVerifier(issuers: loaded.issuers), capacity: configuration.limits.tokenCacheCapacity),
            keys: RecentContentKeys(source: store), policy: configuration.fairplay.policy,
            servedVersions: configuration.fairplay.protocolVersions, operations: operations)
        do throws(DaemonError) {
            try listen(
                loaded, issuer: issuer, metrics: metrics,
                certificate: Self.makeCertificateEndpoint(loaded.credentials))
        } catch {
            tearDown()
            throw error
        }
        health.setReady(true)
        logger.info("ready", [.string("version", LatchkeyVersion.current), .integer("loops", group.loops.count)])
        notify { () throws(SocketError) in try notifier.ready() }
    }

    /// Stops accepting, finishes requests in flight, and ends the loops. Blocks until all is down; called once.
    package func stop() {
        health.setReady(false)
        logger.info("stopping")
        notify { () throws(SocketError) in try notifier.stopping() }
        tearDown()
        logger.info("stopped")
    }

    private func tearDown() {
        let drained = server.drain(within: Self.drainLimit)
        let stopped = group.stop(within: Self.taskLimit)
        modules?.stop()
        if drained.cutOffConnectionCount > 0 || stopped.abandonedTaskCount > 0 {
            logger.warning(
                "stopped_with_work_left",
                [
                    .integer("connections", drained.cutOffConnectionCount),
                    .integer("tasks", stopped.abandonedTaskCount),
                ])
        }
    }

    private func listen(
        _ loaded: LoadedConfiguration, issuer: LicenseIssuer, metrics: ServiceMetrics, certificate: CertificateEndpoint
    ) throws(DaemonError) {
        let clock = SystemWallClock()
        let requestIDs = RequestIDs()
        let license = LicenseEndpoint(issuer: issuer, metrics: metrics, logger: logger, clock: clock)
        let refusals = Refusals(logger: logger, clock: clock)
        let challenge = ChallengeEndpoint(issuer: issuer, refusals: refusals, clock: clock)
        let publicRoutes = PublicRoutes(
            license: license, challenge: challenge, certificate: certificate, health: health, requestIDs: requestIDs,
            refusals: refusals)
        // The admin listener first: when the public one answers, everything does.
        for admin in loaded.adminListeners {
            let routes = AdminRoutes(
                health: health, metrics: metrics, token: admin.token, requestIDs: requestIDs, refusals: refusals)
            try listen("admin", on: admin.address, loaded, routes)
        }
        let opened = CORSHandler(policy: loaded.configuration.cors, inner: publicRoutes)
        for listener in loaded.configuration.listeners.public {
            try listen("public", on: listener.address, loaded, opened)
        }
    }

    private func listen(
        _ name: String, on address: SocketAddress, _ loaded: LoadedConfiguration, _ handler: any HTTPHandler
    ) throws(DaemonError) {
        // Without TLS nobody negotiates: a client that knows of HTTP/2 may begin with it, if it is on this machine.
        let settings = HTTPListenerSettings(
            name: name, address: address, limits: loaded.configuration.limits.http, handler: handler,
            offersHTTP2: address.isLoopback)
        do throws(HTTPServerError) {
            let bound = try server.listen(settings)
            logger.info("listening", [.string("listener", name), .string("address", bound.description)])
        } catch {
            throw .listener(name: name, address: address.description, error)
        }
    }

    private func notify(_ send: () throws(SocketError) -> Void) {
        do throws(SocketError) {
            try send()
        } catch {
            logger.warning("notify_failed", [.string("cause", error.description)])
        }
    }

    private static func openStore(_ loaded: LoadedConfiguration) throws(DaemonError) -> SQLiteKeyStore {
        do throws(StorageOpeningError) {
            return try SQLiteKeyStore.open(
                path: loaded.databasePath, keyEncryptionKey: loaded.keyEncryptionKey,
                maximumReaders: loaded.configuration.limits.loopCount)
        } catch {
            throw .store(path: loaded.databasePath, error)
        }
    }

    private static func makeCertificateEndpoint(_ credentials: CredentialSet) throws(DaemonError) -> CertificateEndpoint
    {
        do throws(CryptoError) {
            return try CertificateEndpoint(credentials, crypto: CryptoContext())
        } catch {
            throw .cryptography(error)
        }
    }
}
