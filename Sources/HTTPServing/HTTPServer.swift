import ByteCoding
package import EventLoops
package import POSIXSockets
import Synchronization
package import Telemetry

/// HTTP on any number of addresses, over the loops of a group.
///
/// Each listener is on every loop, and a connection stays on the loop that accepted it. The group outlives the server:
/// first `drain`, then the group's `stop`. The methods block and are for the thread that starts and ends the process.
package final class HTTPServer: Sendable {
    private let group: EventLoopGroup
    private let observer: any HTTPServerObserver
    private let services: LoopLocal<LoopServices>
    private let resources: ServerResources
    private let listeners = Mutex<[Listener]>([])

    /// Handshakes that clients have begun when the server ends may take so long: one second, as long as a SYN-ACK that
    /// was lost.
    private static let handshakePatience = Duration.seconds(1)

    private struct Listener: Sendable {
        let state: ListenerState
        let parts: [LoopListener]
        /// The TCP port of a socket that ends with this process.
        let port: UInt16?
    }

    /// A server without listeners.
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
    /// Fails with `SocketError.addressInUse` when another process, or another listener of this one, holds the address.
    @discardableResult
    package func listen(_ settings: HTTPListenerSettings) throws(HTTPServerError) -> SocketAddress {
        let socket = try wrap(
            HTTPServerError.socket,
            try ListeningSocket(exclusivelyOn: settings.address, mode: settings.socketMode))
        return try listen(settings, on: socket)
    }

    /// Begins to listen on a socket that is open already; the address of the settings does not count.
    @discardableResult
    package func listen(
        _ settings: HTTPListenerSettings, on socket: consuming ListeningSocket
    ) throws(HTTPServerError) -> SocketAddress {
        let state = ListenerState(settings, observer: observer, resources: resources)
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

    /// Stops accepting, closes idle connections, lets requests in flight finish with `Connection: close`, and cuts off
    /// what is left after `limit` on the loops' clock. Returns when no connection is open.
    ///
    /// No connection is lost that a client believes open: those whose handshake has begun are accepted first, for at
    /// most a second before `limit` begins. Handshakes by SYN cookies are the exception, because nothing shows them.
    @discardableResult
    package func drain(within limit: Duration) -> DrainReport {
        endArrivals()
        let parts = listeners.withLock { $0.flatMap(\.parts) }
        let progress = Monitor((partsLeft: parts.count, cutOff: 0))
        for part in parts {
            let finish: @Sendable (Int) -> Void = { cutOff in
                progress.update { $0 = ($0.partsLeft - 1, $0.cutOff + cutOff) }
            }
            // A loop that has stopped has no connections any more.
            if !part.loop.execute({ part.drain(within: limit, done: finish) }) { finish(0) }
        }
        let cutOff = progress.wait { $0.partsLeft == 0 ? $0.cutOff : nil }
        return DrainReport(cutOffConnectionCount: cutOff)
    }

    /// Has every answer end its connection and the kernel begin no new one, and waits until those that it has begun are
    /// in the queues.
    private func endArrivals() {
        let listeners = listeners.withLock { $0 }
        for part in listeners.flatMap(\.parts) { _ = part.loop.runAndWait { part.beginEnd() } }
        let ports = Set(listeners.compactMap(\.port))
        if !ports.isEmpty { UnfinishedHandshakes.waitForEnd(on: ports, within: Self.handshakePatience) }
    }

    /// Connections that are open.
    package var connectionCount: Int { listeners.withLock { $0.reduce(0) { $0 + $1.state.connectionCount } } }

    /// Connections that still occupy memory: the open ones, and closed ones whose request is still being worked on.
    package var connectionObjectCount: Int {
        listeners.withLock { $0.reduce(0) { $0 + $1.state.connectionObjects.load(ordering: .relaxed) } }
    }

    private func makeParts(
        _ socket: consuming ListeningSocket, _ state: ListenerState
    ) throws(HTTPServerError) -> [LoopListener] {
        do throws(SocketError) {
            var parts: [LoopListener] = []
            for loop in group.loops.dropFirst() {
                parts.append(
                    try LoopListener(try socket.sibling(), on: loop, state, services, in: group))
            }
            parts.append(try LoopListener(socket, on: group.loops[0], state, services, in: group))
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
    /// The address cannot be had; the error's text names it.
    case socket(SocketError)
    /// A loop does not take the listener.
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

/// How a drain ended.
package struct DrainReport: Equatable, Sendable {
    /// Connections that were closed before their request was answered, because time was up.
    package let cutOffConnectionCount: Int
}
