import HTTPMessages
import POSIXSockets
import Synchronization

/// The state of one listener that all loops share: its settings and the count of its connections.
final class ListenerState: Sendable {
    let settings: HTTPListenerSettings
    let observer: any HTTPServerObserver
    let resources: ServerResources
    /// The number of connection objects, including those whose sockets are closed.
    let connectionObjects = Atomic<Int>(0)
    private let connections = Mutex(ConnectionCount())

    init(_ settings: HTTPListenerSettings, observer: any HTTPServerObserver, resources: ServerResources) {
        self.resources = resources
        self.settings = settings
        self.observer = observer
    }

    var limits: HTTPLimits { settings.limits }

    /// The number of open connections.
    var connectionCount: Int { connections.withLock(\.total) }

    /// Counts a new connection. Returns the reason if it must be refused, and then does not count it.
    func admit(_ address: IPAddress?) -> HTTPConnectionRefusal? {
        if let refusal = resources.takePlace() { return refusal }
        let limits = countLimits
        let refusal = connections.withLock { $0.admit(address?.clientNetwork, limits) }
        if refusal != nil { giveBackPlace() }
        return refusal
    }

    /// Counts a connection under an address that became known after it was admitted. Returns the reason if it must end.
    func admitAddress(_ address: IPAddress?) -> HTTPConnectionRefusal? {
        let limits = countLimits
        return connections.withLock { $0.admitAddress(address?.clientNetwork, limits) }
    }

    /// Removes a closed connection from the counts.
    func release(_ address: IPAddress?) {
        connections.withLock { $0.release(address?.clientNetwork) }
        resources.releasePlace()
    }

    private func giveBackPlace() {
        resources.releasePlace()
        resources.memory.release(HeldMemory.connectionSize, from: .connections)
    }

    /// The limits of connections, lowered to the limits of the process.
    private var countLimits: HTTPLimits {
        var limits = limits
        limits.connectionsPerAddressMaximum = resources.connectionsPerNetworkMaximum(
            limits.connectionsPerAddressMaximum)
        return limits
    }
}

/// The numbers of open connections, in total and by client network.
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
