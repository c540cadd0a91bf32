import HTTPMessages
import POSIXSockets
import Synchronization

/// What the loops share about one listener: its settings and the count of its connections.
final class ListenerState: Sendable {
    let settings: HTTPListenerSettings
    let observer: any HTTPServerObserver
    let resources: ServerResources
    /// Connection objects that exist, whether their sockets are still open or not.
    let connectionObjects = Atomic<Int>(0)
    private let connections = Mutex(ConnectionCount())

    init(_ settings: HTTPListenerSettings, observer: any HTTPServerObserver, resources: ServerResources) {
        self.resources = resources
        self.settings = settings
        self.observer = observer
    }

    var limits: HTTPLimits { settings.limits }

    /// Connections that are open.
    var connectionCount: Int { connections.withLock(\.total) }

    /// Counts a new connection, or says why there must not be one.
    func admit(_ address: IPAddress?) -> HTTPConnectionRefusal? {
        if let refusal = resources.takePlace() { return refusal }
        let limits = countLimits
        let refusal = connections.withLock { $0.admit(address?.clientNetwork, limits) }
        if refusal != nil { giveBackPlace() }
        return refusal
    }

    /// Counts a connection that was admitted without an address under this one, or says why it must end.
    func admitAddress(_ address: IPAddress?) -> HTTPConnectionRefusal? {
        let limits = countLimits
        return connections.withLock { $0.admitAddress(address?.clientNetwork, limits) }
    }

    /// Counts a connection out.
    func release(_ address: IPAddress?) {
        connections.withLock { $0.release(address?.clientNetwork) }
        resources.releasePlace()
    }

    private func giveBackPlace() {
        resources.releasePlace()
        resources.memory.release(HeldMemory.connectionSize, from: .connections)
    }

    /// The limits of connections, within what the process has room for.
    private var countLimits: HTTPLimits {
        var limits = limits
        limits.connectionsPerAddressMaximum = resources.connectionsPerNetworkMaximum(
            limits.connectionsPerAddressMaximum)
        return limits
    }
}

/// Open connections, in all and by client network.
struct ConnectionCount: Equatable {
    private(set) var total = 0
    private var byAddress: [IPAddress: Int] = [:]

    mutating func admit(_ address: IPAddress?, _ limits: HTTPLimits) -> HTTPConnectionRefusal? {
        guard total < limits.connectionsMaximum else { return .tooManyConnections }
        if let refusal = admitAddress(address, limits) { return refusal }
        total += 1
        return nil
    }

    mutating func admitAddress(_ address: IPAddress?, _ limits: HTTPLimits) -> HTTPConnectionRefusal? {
        guard let address else { return nil }
        let count = byAddress[address, default: 0]
        guard count < limits.connectionsPerAddressMaximum else { return .tooManyConnectionsFromAddress }
        byAddress[address] = count + 1
        return nil
    }

    mutating func release(_ address: IPAddress?) {
        total -= 1
        guard let address, let count = byAddress[address] else { return }
        byAddress[address] = count > 1 ? count - 1 : nil
    }
}
