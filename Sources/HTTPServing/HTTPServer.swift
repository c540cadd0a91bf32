import ByteCoding
package import EventLoops
package import POSIXSockets
import Synchronization
package import Telemetry

/// HTTP on any number of addresses, over the loops of a group.
///
/// Each listener is on every loop, and a connection stays on the loop that accepted it. To end the server, call `drain`
/// first, and then the group's `stop`. The methods block, so only the thread that starts and ends the process calls
/// them.
package final class HTTPServer: Sendable {
    private let group: EventLoopGroup
    private let observer: any HTTPServerObserver
    private let services: LoopLocal<LoopServices>
    private let resources: ServerResources
    let listeners = Mutex<[Listener]>([])

    /// The time that TCP handshakes get when the server ends: one second, after which a lost SYN-ACK is sent again.
    private static let handshakePatience = Duration.seconds(1)

    struct Listener: Sendable {
        let state: ListenerState
        let parts: [LoopListener]
        /// The TCP port of a socket that ends with this process.
        let port: UInt16?
    }

    /// Makes a server without listeners.
    package init(
        group: EventLoopGroup, observer: any HTTPServerObserver = NoHTTPServerObserver(),
        wallClock: any WallClock = SystemWallClock(), resources: ServerResources = ServerResources()
    ) {
        self.group = group
        self.observer = observer
        self.resources = resources
        services = LoopLocal { LoopServices(loop: $0, resources: resources, wallClock: wallClock) }
    }

    /// Begins to listen and returns the bound address, with the port that was chosen for port 0.
    ///
    /// Throws `SocketError.addressInUse` if another process, or another listener of this process, uses the address.
    @discardableResult
    package func listen(_ settings: HTTPListenerSettings) throws(HTTPServerError) -> SocketAddress {
        let socket = try wrap(
            HTTPServerError.socket,
            try ListeningSocket(exclusivelyOn: settings.address, mode: settings.socketMode))
        return try listen(settings, on: socket)
    }

    /// Begins to listen on a socket that is open already. The address in the settings is ignored.
    @discardableResult
    package func listen(
        _ settings: HTTPListenerSettings, on socket: consuming ListeningSocket
    ) throws(HTTPServerError) -> SocketAddress {
        let state = ListenerState(
            settings, observer: observer, resources: resources, services: services, on: group.loops)
        let address = socket.address
        let port = socket.isPassed ? nil : address.port
        let parts = try makeParts(socket, state)
        for part in parts {
            if let failure = Self.start(part) {
                for part in parts { part.loop.execute { part.stopAccepting() } }
                throw .loop(failure)
            }
        }
        listeners.withLock { $0.append(Listener(state: state, parts: parts, port: port)) }
        return address
    }

    /// Stops accepting, closes idle connections, and lets requests in flight finish with `Connection: close`.
    ///
    /// Connections that are left after `limit` on the loops' clock are closed. Returns when no connection is open.
    ///
    /// Connections whose TCP handshake has begun are accepted first, for at most a second before `limit` begins. So no
    /// connection that a client takes for open is lost. Handshakes with SYN cookies are the exception, because the
    /// kernel does not show them. If `limit` is zero, no handshake is waited for.
    @discardableResult
    package func drain(within limit: Duration) -> DrainReport {
        endArrivals(within: limit)
        let parts = listeners.withLock { $0.flatMap(\.parts) }
        let progress = Monitor((partsLeft: parts.count, cutOff: 0))
        for part in parts {
            let finish: @Sendable (Int) -> Void = { cutOff in
                progress.update { $0 = ($0.partsLeft - 1, $0.cutOff + cutOff) }
            }
            // A stopped loop has no connections.
            if !part.loop.execute({ part.drain(within: limit, done: finish) }) { finish(0) }
        }
        let cutOff = progress.wait { $0.partsLeft == 0 ? $0.cutOff : nil }
        return DrainReport(cutOffConnectionCount: cutOff)
    }

    /// Makes every answer end its connection, and makes the kernel refuse new connections. Then waits until the
    /// connections whose handshake has begun are in the listeners' queues, unless `limit` is zero.
    private func endArrivals(within limit: Duration) {
        let listeners = listeners.withLock { $0 }
        for part in listeners.flatMap(\.parts) { _ = part.loop.runAndWait { part.beginEnd() } }
        let ports = Set(listeners.compactMap(\.port))
        if limit > .zero, !ports.isEmpty { UnfinishedHandshakes.waitForEnd(on: ports, within: Self.handshakePatience) }
    }

    /// The number of open connections.
    package var connectionCount: Int { listeners.withLock { $0.reduce(0) { $0 + $1.state.connectionCount } } }

    private func makeParts(
        _ socket: consuming ListeningSocket, _ state: ListenerState
    ) throws(HTTPServerError) -> [LoopListener] {
        do throws(SocketError) {
            var parts: [LoopListener] = []
            for loop in group.loops.dropFirst() {
                parts.append(try LoopListener(try socket.sibling(), on: loop, state))
            }
            parts.append(try LoopListener(socket, on: group.loops[0], state))
            return parts
        } catch {
            throw .socket(error)
        }
    }

    private static func start(_ part: LoopListener) -> EventLoopError? {
        let result: Result<Void, EventLoopError>? = part.loop.runAndWait {
            do throws(EventLoopError) {
                return .success(try part.start())
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success: return nil
        case .failure(let error): return error
        case nil: return .stopping
        }
    }
}

/// Why a server cannot listen.
package enum HTTPServerError: Error, Equatable, Sendable {
    /// The socket cannot be opened or bound. The text of the error names the address.
    case socket(SocketError)
    /// A loop cannot register the listener.
    case loop(EventLoopError)
}

extension HTTPServerError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .socket(let error): error.description
        case .loop(let error): error.description
        }
    }
}

/// The result of a drain.
package struct DrainReport: Equatable, Sendable {
    /// The number of connections that were still open when the time limit was reached, and were then closed.
    package let cutOffConnectionCount: Int
}
