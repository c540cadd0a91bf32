import POSIXSockets

/// What one connection counts for in the resources of its listener and server: a place under its client's address, its
/// state, and its memory.
struct ConnectionAccount {
    /// The number of requests without room in memory after which a connection ends.
    private static let memoryRefusalsMaximum = 16

    private let listener: ListenerState
    /// The address against whose limit the connection counts; nil if it carries the requests of many clients.
    private var address: IPAddress?
    /// Whether the connection has a place that only health checks may take.
    private let hasHealthPlace: Bool
    private(set) var state = HTTPConnectionState.arriving
    /// Whether a part of a request's head has arrived.
    private var isInHead = false
    /// The memory that is charged to the budget.
    private var charged = HeldMemory(connection: HeldMemory.connectionSize)
    private var memoryRefusalCount = 0
    /// Whether a request was answered since the connection was last added to the idle ones.
    private var hasAnswered = false
    /// Whether a request was answered since the connection began.
    private var wasServed = false

    /// Begins the account of a connection that the listener has admitted under this address.
    init(of listener: ListenerState, countedAs address: IPAddress?, hasHealthPlace: Bool) {
        self.listener = listener
        self.address = address
        self.hasHealthPlace = hasHealthPlace
        listener.resources.connectionBegan(state)
    }

    /// Notes that the connection is counted under an address that became known later.
    mutating func isCounted(under address: IPAddress) {
        self.address = address
    }

    mutating func answered() {
        hasAnswered = true
        wasServed = true
    }

    /// Whether the connection may be closed to make room for another one: no whole request has arrived that was not
    /// answered.
    var givesWay: Bool { state.isEvictable || isInHead }

    /// Whether the client has sent a whole request. If only a part of the next one has arrived, the earlier ones do not
    /// count: otherwise an attacker would send one first.
    var hasRequest: Bool { !givesWay || (wasServed && !isInHead) }

    /// Notes the present state. Returns whether the connection's place among the idle ones changes.
    mutating func enter(_ new: HTTPConnectionState, isInHead: Bool) -> Bool {
        if new == state && isInHead == self.isInHead && !(hasAnswered && new == .idle) { return false }
        self.isInHead = isInHead
        // A request that was answered immediately changes no count that the loops share.
        if new != state {
            listener.resources.connectionEnded(state)
            listener.resources.connectionBegan(new)
        }
        state = new
        hasAnswered = false
        return true
    }

    /// Charges the memory that is held. Returns the first share without room; nil if all charges fit.
    mutating func charge(_ held: HeldMemory) -> MemoryBudget.Share? {
        listener.resources.memory.move(&charged, to: held, of: address?.clientNetwork)
    }

    mutating func refusedRequest() {
        memoryRefusalCount += 1
    }

    /// Whether a request without room in memory may be refused. Otherwise the connection ends, because too many of its
    /// requests found no room.
    ///
    /// The connection of a trusted proxy does not end, because it carries the requests of many clients.
    var mayRefuseRequests: Bool { address == nil || memoryRefusalCount < Self.memoryRefusalsMaximum }

    /// Ends the account of a closed connection.
    mutating func close() {
        listener.resources.connectionEnded(state)
        _ = charge(HeldMemory())
        listener.release(address, hasHealthPlace: hasHealthPlace)
    }
}
