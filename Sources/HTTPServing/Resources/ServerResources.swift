package import POSIXSockets
import Synchronization

/// What all listeners and loops of a server share: memory, places for connections, and the counts that operators see.
package final class ServerResources: Sendable {
    package let memory: MemoryBudget
    /// Connections of all listeners together, as the process's descriptors allow.
    package let connectionsMaximum: Int
    private let places = Atomic<Int>(0)
    private let states: [StateCount]
    private let inFlight = Atomic<Int>(0)

    private final class StateCount: Sendable {
        let value = Atomic<Int>(0)
    }

    /// Resources of one server. The maximum of connections is at least 1.
    package init(memory: MemoryBudget = MemoryBudget(), connectionsMaximum: Int = .max) {
        self.memory = memory
        self.connectionsMaximum = max(1, connectionsMaximum)
        states = HTTPConnectionState.allCases.map { _ in StateCount() }
    }

    /// Connections that are open, of all listeners.
    package var connectionCount: Int { places.load(ordering: .relaxed) }

    /// Requests whose answer takes a task, and that have not been answered.
    package var requestsInFlight: Int { inFlight.load(ordering: .relaxed) }

    /// Open connections in this state.
    package func connectionCount(in state: HTTPConnectionState) -> Int {
        states[state.index].value.load(ordering: .relaxed)
    }

    /// The most connections of one client network, given the configured limit: no client may have more than half of all
    /// places.
    func connectionsPerNetworkMaximum(_ limit: Int) -> Int { min(limit, max(1, connectionsMaximum / 2)) }

    // MARK: Counting

    /// Takes a place for a connection and its memory. Returns the reason if one of them is full, and nil otherwise.
    func takePlace() -> HTTPConnectionRefusal? {
        guard places.add(1, ordering: .relaxed).newValue <= connectionsMaximum else {
            places.subtract(1, ordering: .relaxed)
            return .outOfDescriptors
        }
        guard memory.charge(HeldMemory.connectionSize, to: .connections) else {
            places.subtract(1, ordering: .relaxed)
            return .memory
        }
        return nil
    }

    func releasePlace() {
        places.subtract(1, ordering: .relaxed)
    }

    func connectionBegan(_ state: HTTPConnectionState) {
        states[state.index].value.add(1, ordering: .relaxed)
    }

    func connectionEnded(_ state: HTTPConnectionState) {
        states[state.index].value.subtract(1, ordering: .relaxed)
    }

    /// Charges a request that waits for its answer; false if the process holds too many.
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

/// What a connection does, as operators see it.
package enum HTTPConnectionState: String, Sendable, CaseIterable {
    /// Before HTTP: the PROXY header, the TLS handshake, the choice of protocol.
    case arriving
    /// No request has begun, or the last one was answered.
    case idle
    /// A request arrives or is answered.
    case busy
    /// The last response is sent, and the client is given time to read it.
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
    /// What an open connection costs by itself, in bytes: its objects, timer and registration.
    static let connectionSize = 4 * 1024
    /// What TLS adds.
    static let tlsSize = 40 * 1024
    /// What an HTTP/2 session adds: nghttp2's state and both tables of HPACK.
    static let http2Size = 24 * 1024
    /// What an HTTP/2 stream adds to its head.
    static let streamSize = 1024
    /// What a request costs beside its head and body: its task and what the handler keeps.
    static let requestSize = 2 * 1024
}

extension IPAddress {
    /// What counts as one client: an IPv4 address, or the /64 of an IPv6 address, of which one subscriber has all
    /// addresses.
    package var clientNetwork: IPAddress {
        switch self {
        case .v4: self
        case .v6(let upper, _): .v6(upper, 0)
        }
    }
}
