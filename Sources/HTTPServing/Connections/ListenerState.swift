import EventLoops
import HTTPMessages
import POSIXSockets
import Synchronization

/// The state of one listener that all loops share: its settings and the count of its connections.
final class ListenerState: Sendable {
    let settings: HTTPListenerSettings
    let observer: any HTTPServerObserver
    let resources: ServerResources
    /// What the connections of each loop share.
    let services: LoopLocal<LoopServices>
    let loops: [LoopContext]
    /// The number of connection objects, including those whose sockets are closed.
    let connectionObjects = Atomic<Int>(0)
    private let connections = Mutex(ConnectionCount())

    init(
        _ settings: HTTPListenerSettings, observer: any HTTPServerObserver, resources: ServerResources,
        services: LoopLocal<LoopServices>, on loops: [LoopContext]
    ) {
        self.resources = resources
        self.settings = settings
        self.observer = observer
        self.services = services
        self.loops = loops
    }

    var limits: HTTPLimits { settings.limits }

    /// The number of open connections.
    var connectionCount: Int { connections.withLock(\.total) }

    /// Counts a new connection. Returns the reason if it must be refused, and then does not count it.
    func admit() -> HTTPConnectionRefusal? {
        if let refusal = resources.takePlace() { return refusal }
        if connections.withLock({ $0.admit(atMost: limits.connectionsMaximum) }) { return nil }
        resources.releasePlace()
        resources.memory.release(HeldMemory.connectionSize, from: .connections)
        return .tooManyConnections
    }

    /// Counts a connection that is only for health checks. Returns false if it must be refused.
    func admitForHealth(on loop: LoopContext) -> Bool {
        guard hasRoomForHealth(on: loop) else { return false }
        while resources.takePlace(forHealth: true) != nil {
            guard loop.value(of: services).evictOldestForHealth() else { return false }
        }
        return connections.withLock { $0.admit(atMost: .max) }
    }

    /// Whether a loop can have one more connection that is only for health checks. Closes an older one if necessary.
    func hasRoomForHealth(on loop: LoopContext) -> Bool {
        guard !settings.healthPaths.isEmpty else { return false }
        let services = loop.value(of: services)
        return services.hasRoomForHealth || services.evictOldestForHealth()
    }

    /// Counts a connection under its client's network. If the network has its maximum, its connection on this loop that
    /// has been idle for the longest time is closed. Returns false if that is not enough.
    ///
    /// If the network has no idle connection on this loop, the other loops are asked for one. Until they close it, the
    /// network may have one connection more for each of them.
    func admitNetwork(_ address: IPAddress, on loop: LoopContext) -> Bool {
        let (network, maximum) = (address.clientNetwork, networkMaximum)
        // Another loop may take the place that becomes free.
        for _ in 0..<LoopListener.evictionsPerConnectionMaximum {
            if connections.withLock({ $0.admit(network, atMost: maximum) }) { return true }
            guard loop.value(of: services).evictLongestIdle(of: network, at: self) else { break }
        }
        for other in loops where !other.isCurrent {
            other.execute { [self] in
                guard connections.withLock({ $0.count(of: network) >= maximum }) else { return }
                _ = other.value(of: services).evictLongestIdle(of: network, at: self)
            }
        }
        return connections.withLock { $0.admit(network, atMost: maximum + loops.count - 1) }
    }

    /// Whether at least a quarter of a network's connections, on all loops, are without a request.
    ///
    /// If fewer gave way first, new clients behind a NAT that has its maximum would push each other out during their
    /// handshakes.
    func hasManyWithoutRequest(_ network: IPAddress) -> Bool {
        connections.withLock { $0.hasManyWithoutRequest(network) }
    }

    /// Counts a connection of a network that has joined or left those without a request.
    func countWithoutRequest(_ network: IPAddress, by change: Int) {
        connections.withLock { $0.countWithoutRequest(network, by: change) }
    }

    /// The most connections of one client network, lowered to what the process can serve.
    private var networkMaximum: Int { resources.connectionsPerNetworkMaximum(limits.connectionsPerAddressMaximum) }

    /// Removes a connection from the count of its network.
    func releaseNetwork(_ address: IPAddress) {
        connections.withLock { $0.release(address.clientNetwork) }
    }

    /// Removes a closed connection from the counts.
    func release(_ address: IPAddress?, hasHealthPlace: Bool) {
        connections.withLock { counts in
            counts.release()
            if let address { counts.release(address.clientNetwork) }
        }
        resources.releasePlace(forHealth: hasHealthPlace)
    }
}

/// The numbers of open connections, in total and by client network.
struct ConnectionCount: Equatable {
    private(set) var total = 0
    private var byNetwork: [IPAddress: Int] = [:]
    /// How many of these are without a request.
    private var withoutRequest: [IPAddress: Int] = [:]

    func count(of network: IPAddress) -> Int { byNetwork[network] ?? 0 }

    mutating func admit(atMost maximum: Int) -> Bool {
        guard total < maximum else { return false }
        total += 1
        return true
    }

    mutating func admit(_ network: IPAddress, atMost maximum: Int) -> Bool {
        let count = count(of: network)
        guard count < maximum else { return false }
        byNetwork[network] = count + 1
        return true
    }

    func hasManyWithoutRequest(_ network: IPAddress) -> Bool {
        4 * (withoutRequest[network] ?? 0) >= count(of: network)
    }

    mutating func countWithoutRequest(_ network: IPAddress, by change: Int) {
        let count = (withoutRequest[network] ?? 0) + change
        withoutRequest[network] = count > 0 ? count : nil
    }

    mutating func release() {
        total -= 1
    }

    mutating func release(_ network: IPAddress) {
        guard let count = byNetwork[network] else { return }
        byNetwork[network] = count > 1 ? count - 1 : nil
    }
}
