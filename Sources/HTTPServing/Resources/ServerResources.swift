package import POSIXSockets
import Synchronization

/// The resources that all listeners and loops of a server share: memory, places for connections, and the counts for
/// operators.
package final class ServerResources: Sendable {
    package let memory: MemoryBudget
    /// The most connections of all listeners together, which depends on the process's limit of descriptors.
    package let connectionsMaximum: Int
    /// How many of these places only health checks may take.
    private let keptPlaces: Int
    private let places = Atomic<Int>(0)
    /// The places of connections that are only for health checks.
    private let healthPlaces = Atomic<Int>(0)
    private let states: [StateCount]
    private let inFlight = Atomic<Int>(0)

    private final class StateCount: Sendable {
        let value = Atomic<Int>(0)
    }

    /// Makes the resources of one server. A maximum below 1 is raised to 1.
    package init(memory: MemoryBudget = MemoryBudget(), connectionsMaximum: Int = .max) {
        self.memory = memory
        self.connectionsMaximum = max(1, connectionsMaximum)
        keptPlaces = min(64, self.connectionsMaximum / 8)
        states = HTTPConnectionState.allCases.map { _ in StateCount() }
    }

    /// The number of open connections of all listeners.
    package var connectionCount: Int { places.load(ordering: .relaxed) + healthPlaces.load(ordering: .relaxed) }

    /// The number of requests that a task is answering.
    package var requestsInFlight: Int { inFlight.load(ordering: .relaxed) }

    /// Returns the number of open connections in this state.
    package func connectionCount(in state: HTTPConnectionState) -> Int {
        states[state.index].value.load(ordering: .relaxed)
    }

    /// Returns the most connections of one client network: the configured limit, but at most half of all places.
    func connectionsPerNetworkMaximum(_ limit: Int) -> Int { min(limit, max(1, connectionsMaximum / 2)) }

    // MARK: Counting

    /// Takes a place for a connection, and charges its memory. Returns the reason if there is no place or no memory.
    func takePlace(forHealth: Bool = false) -> HTTPConnectionRefusal? {
        let isFree =
            if forHealth {
                healthPlaces.add(1, ordering: .relaxed).newValue + places.load(ordering: .relaxed)
                    <= connectionsMaximum
            } else {
                places.add(1, ordering: .relaxed).newValue <= connectionsMaximum - keptPlaces
            }
        if isFree, memory.charge(HeldMemory.connectionSize, to: .connections) { return nil }
        releasePlace(forHealth: forHealth)
        return isFree ? .memory : .outOfDescriptors
    }

    func releasePlace(forHealth: Bool = false) {
        if forHealth {
            healthPlaces.subtract(1, ordering: .relaxed)
        } else {
            places.subtract(1, ordering: .relaxed)
        }
    }

    func connectionBegan(_ state: HTTPConnectionState) {
        states[state.index].value.add(1, ordering: .relaxed)
    }

    func connectionEnded(_ state: HTTPConnectionState) {
        states[state.index].value.subtract(1, ordering: .relaxed)
    }

    /// Charges a request that waits for its answer. Returns false if there is no memory for it.
    func requestBegan(size: Int) -> Bool {
        guard memory.charge(size, to: .requests) else { return false }
        inFlight.add(1, ordering: .relaxed)
        return true
    }

    func requestEnded(size: Int) {
        memory.release(size, from: .requests)
        inFlight.subtract(1, ordering: .relaxed)
    }
}

/// The state of a connection, as operators see it.
package enum HTTPConnectionState: String, Sendable, CaseIterable {
    /// The connection is before HTTP: at the PROXY header, the TLS handshake, or the choice of protocol.
    case arriving
    /// No request has begun, or the last one was answered.
    case idle
    /// A request arrives or is being answered.
    case busy
    /// The last response is sent, and the client has time to read it.
    case closing

    fileprivate var index: Int {
        switch self {
        case .arriving: 0
        case .idle: 1
        case .busy: 2
        case .closing: 3
        }
    }

    /// Whether a connection in this state may be closed to make room for another one.
    var isEvictable: Bool {
        switch self {
        case .arriving, .idle, .closing: true
        case .busy: false
        }
    }
}

extension HeldMemory {
    /// The size of an open connection in bytes: its objects, timer and registration.
    static let connectionSize = 4 * 1024
    /// The additional size of TLS, in bytes.
    static let tlsSize = 40 * 1024
    /// The additional size of an HTTP/2 session, in bytes: nghttp2's state and both tables of HPACK.
    static let http2Size = 24 * 1024
    /// The additional size of an HTTP/2 stream besides its head, in bytes.
    static let streamSize = 1024
    /// The size of a request besides its head and body, in bytes: its task and the data that the handler keeps.
    static let requestSize = 2 * 1024
}

extension IPAddress {
    /// The network that counts as one client: an IPv4 address, or the /64 network of an IPv6 address. One subscriber
    /// usually has a whole /64 network.
    package var clientNetwork: IPAddress {
        switch self {
        case .v4: self
        case .v6(let upper, _): .v6(upper, 0)
        }
    }
}
