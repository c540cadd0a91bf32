import Administration
import ByteCoding
import FairPlay
import HTTPMessages
import HTTPServing
import POSIXSockets
import PackagerRoutes
import RouteKit
import ServiceConfiguration
import Synchronization
import Telemetry

/// The listeners of a running daemon: opens them, and gives them new certificates.
final class ServingListeners: Sendable {
    private let server: HTTPServer
    private let adminServer: HTTPServer
    private let tickets: TLSTicketKeys
    private let sockets: ActivatedSockets
    private let logger: Logger
    private let slots = Mutex<[ListenerID: TLSContextSlot]>([:])
    private let opened = Mutex<[Opened]>([])

    /// An open listener, kept because a reload must not let it serve what its address forbids.
    private struct Opened {
        let id: ListenerID
        let address: SocketAddress
        let transport: Configuration.Transport
    }

    /// Identifies a listener by its place in the configuration.
    struct ListenerID: Hashable, CustomStringConvertible {
        /// `public` or `admin`.
        let name: String
        let index: Int

        var description: String { "\(name)[\(index)]" }
    }

    /// Throws `DaemonError.tls` if no key for session tickets can be made.
    init(
        _ server: HTTPServer, admin adminServer: HTTPServer, sockets: ActivatedSockets, logger: Logger
    ) throws(DaemonError) {
        self.server = server
        self.adminServer = adminServer
        self.sockets = sockets
        self.logger = logger
        tickets = try wrap(DaemonError.tls, try TLSTicketKeys())
    }

    // MARK: Opening

    /// Opens a listener, and logs `listening` for each of its addresses.
    func open(
        _ id: ListenerID, _ listener: LoadedConfiguration.Listener, of loaded: LoadedConfiguration,
        for handler: any HTTPHandler
    ) throws(DaemonError) {
        let slot = try makeSlot(id, listener)
        try SocketFolder.check(for: id, at: listener.address)
        switch listener.address {
        case .socket(let address):
            let settings = settings(
                id, listener, at: address, tls: slot, limits: loaded.configuration.limits.http, for: handler)
            try listen(id, listener) { () throws(HTTPServerError) in try server(of: id).listen(settings) }
        case .systemd(let name):
            let settings = settings(
                id, listener, at: .unix(path: ""), tls: slot, limits: loaded.configuration.limits.http,
                for: handler)
            try openPassed(name, as: id, listener, of: loaded, settings)
        }
    }

    /// Opens all sockets that systemd has passed under a name. A unit may pass one for each address.
    private func openPassed(
        _ name: String, as id: ListenerID, _ listener: LoadedConfiguration.Listener, of loaded: LoadedConfiguration,
        _ settings: HTTPListenerSettings
    ) throws(DaemonError) {
        var count = 0
        while let socket = try take(name, id) {
            count += 1
            let faults = LoadedConfiguration.exposureFaults(
                of: socket.address, listener.transport,
                isGuarded: id.name == "public" || !listener.administrators.isEmpty, credentials: loaded.credentials,
                allowTestCredentials: loaded.configuration.fairplay.allowTestCredentials)
            if let fault = faults.first { throw .exposed(listener: id.description, fault) }
            try listen(id, listener, on: socket, settings)
        }
        if count == 0 { throw .noSuchSocket(name: name, listener: id.description) }
    }

    private func take(_ name: String, _ id: ListenerID) throws(DaemonError) -> ListeningSocket? {
        return try wrap(
            { (error: SocketError) in DaemonError.listener(name: id.name, address: "systemd:\(name)", .socket(error)) },
            try sockets.take(name))
    }

    private func listen(
        _ id: ListenerID, _ listener: LoadedConfiguration.Listener, on socket: consuming ListeningSocket,
        _ settings: HTTPListenerSettings
    ) throws(DaemonError) {
        do throws(HTTPServerError) {
            log(id, listener, try server(of: id).listen(settings, on: socket))
        } catch {
            throw .listener(name: id.name, address: listener.address.description, error)
        }
    }

    private func listen(
        _ id: ListenerID, _ listener: LoadedConfiguration.Listener,
        _ open: () throws(HTTPServerError) -> SocketAddress
    ) throws(DaemonError) {
        do throws(HTTPServerError) {
            log(id, listener, try open())
        } catch {
            throw .listener(name: id.name, address: listener.address.description, error)
        }
    }

    private func log(_ id: ListenerID, _ listener: LoadedConfiguration.Listener, _ bound: SocketAddress) {
        opened.withLock { $0.append(Opened(id: id, address: bound, transport: listener.transport)) }
        logger.info(
            "listening",
            [
                .string("listener", id.name), .string("address", bound.description),
                .bool("tls", listener.tls != nil),
            ])
    }

    private func server(of id: ListenerID) -> HTTPServer { id.name == "admin" ? adminServer : server }

    private func settings(
        _ id: ListenerID, _ listener: LoadedConfiguration.Listener, at address: SocketAddress,
        tls slot: TLSContextSlot?,
        limits: HTTPLimits, for handler: any HTTPHandler
    ) -> HTTPListenerSettings {
        var limits = limits
        // The server reads these larger bodies only after it has checked the packager's credential.
        limits.bodySizesByPath = SPEKEEndpoint.bodySizesByPath
        var settings = HTTPListenerSettings(name: id.name, address: address, limits: limits, handler: handler)
        // Without TLS there is no negotiation. A client may then begin with HTTP/2 if it is on this machine, or if it
        // is a trusted proxy.
        settings.offersHTTP2 = slot != nil || address.isLoopback
        settings.offersHTTP2ToProxies = true
        settings.tls = slot
        settings.trustedProxies = listener.transport.trustedProxies
        settings.expectsProxyHeader = listener.transport.proxyProtocol
        settings.socketMode = listener.transport.socketMode
        settings.healthPaths = Health.paths
        return settings
    }

    /// The names of the sockets that systemd has passed and that no listener uses.
    var unusedSocketNames: [String] { sockets.names }

    /// The open listeners, for operators.
    var overview: [StatusReport.Listener] {
        let slots = slots.withLock { $0 }
        return opened.withLock { $0 }.map { listener in
            StatusReport.Listener(
                name: listener.id.description, address: listener.address.description,
                hasTLS: slots[listener.id] != nil)
        }
    }

    // MARK: Exposure

    /// Throws if the addresses of the open listeners forbid the credentials of a configuration.
    ///
    /// Open listeners keep their addresses until a restart, even if the configuration has other addresses for them.
    func checkExposure(of draft: RuleBook.Draft) throws(DaemonError) {
        for opened in opened.withLock({ $0 }) {
            let faults = LoadedConfiguration.exposureFaults(
                of: opened.address, opened.transport,
                isGuarded: opened.id.name == "public" || !draft.adminCredentials[opened.id.index].isEmpty,
                credentials: draft.credentials, allowTestCredentials: draft.allowsTestCredentials)
            if let fault = faults.first { throw .exposed(listener: opened.id.description, fault) }
        }
    }

    // MARK: Certificates

    private func makeSlot(
        _ id: ListenerID, _ listener: LoadedConfiguration.Listener
    ) throws(DaemonError) -> TLSContextSlot? {
        guard let material = listener.tls else { return nil }
        do throws(TLSError) {
            let slot = TLSContextSlot(try material.makeContext(processTickets: tickets, offersHTTP2: true))
            slots.withLock { $0[id] = slot }
            return slot
        } catch {
            throw .tls(error)
        }
    }

    /// The certificates of a configuration, for all running listeners that have TLS in it too.
    ///
    /// A listener that is no longer configured keeps its own certificate. With another listener's settings it might no
    /// longer ask clients for certificates.
    func certificates(of draft: RuleBook.Draft) throws(TLSError) -> [(TLSContextSlot, TLSContext)] {
        let slots = slots.withLock { $0 }
        var contexts: [(TLSContextSlot, TLSContext)] = []
        for (name, listeners) in [("public", draft.publicListeners), ("admin", draft.adminListeners)] {
            for (index, listener) in listeners.enumerated() {
                guard let slot = slots[ListenerID(name: name, index: index)], let material = listener?.tls else {
                    continue
                }
                contexts.append(
                    (slot, try material.makeContext(processTickets: tickets, offersHTTP2: true)))
            }
        }
        return contexts
    }

    /// Serves these certificates from now on.
    func adopt(_ certificates: [(TLSContextSlot, TLSContext)]) {
        for (slot, context) in certificates { slot.current = context }
    }

    /// The certificates of all listeners, as they are served now.
    var servedCertificates: [ServedCertificate] {
        slots.withLock { $0 }.flatMap { id, slot in
            slot.current.certificateEnds.map { ServedCertificate(kind: .tls, name: id.description, end: $0) }
        }
    }
}
