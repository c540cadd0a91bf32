import EventLoops
import HTTPMessages
import POSIXSockets
import Telemetry

/// The objects that the connections of one loop share: buffers that only one connection needs at a time, the order of
/// turns, and the date.
///
/// So an idle connection needs no buffer.
final class LoopServices {
    /// The most bytes of one read.
    static let readSize = 64 * 1024
    /// The most connections of a loop that are only for health checks. A further one takes the place of the oldest. As
    /// many begin in one turn.
    static let healthConnectionsMaximum = LoopListener.startsPerTurnMaximum

    let loop: LoopContext
    var input = [UInt8](repeating: 0, count: readSize)
    var output: [UInt8] = []
    let inputTurns: InputTurns
    let lostConnections: LostConnections
    private var idleConnections = IdleConnections(.ofLoop)
    private var networks: [NetworkConnections.Key: NetworkConnections] = [:]
    private var healthConnections: [HTTPConnection] = []
    private let wallClock: any WallClock
    private var dateSecond: Int64 = .min
    private var dateText: [UInt8] = []

    let resources: ServerResources

    init(loop: LoopContext, resources: ServerResources, wallClock: any WallClock) {
        self.loop = loop
        self.resources = resources
        inputTurns = InputTurns(loop: loop)
        lostConnections = LostConnections(loop: loop)
        self.wallClock = wallClock
        output.reserveCapacity(8 * 1024)
    }

    /// Closes the connection of this loop that has been idle for the longest time. Returns false if none is idle.
    func evictLongestIdle(otherThan asking: HTTPConnection? = nil) -> Bool {
        guard var connection = idleConnections.first else { return false }
        if connection === asking {
            guard let next = connection.idleLinks.ofLoop.next else { return false }
            connection = next
        }
        connection.refuse(.evicted)
        return true
    }

    /// Closes the connection of a network that has been idle for the longest time. Returns false if none is idle.
    ///
    /// If many connections of the network are without a request, only one of these is closed. A connection that has not
    /// begun is not closed: its client may have sent a request.
    func evictLongestIdle(of network: IPAddress, at listener: ListenerState) -> Bool {
        guard let connections = networks[.init(listener, network)] else { return false }
        let candidates = listener.hasManyWithoutRequest(network) ? connections.withoutRequest : connections.idle
        guard let connection = candidates.first else { return false }
        connection.refuse(.evictedForAddress)
        return true
    }

    // MARK: The loop's connections

    /// Adds a connection to those of its network.
    func add(_ connection: HTTPConnection, to network: IPAddress) {
        let key = NetworkConnections.Key(connection.listener, network)
        let connections = networks[key] ?? NetworkConnections(key)
        networks[key] = connections
        connections.count += 1
        connection.network = connections
        if connection.isOpen {
            connections.update(connection, isIdle: true)
        } else {
            connections.count(connection, hasRequest: false)
        }
    }

    /// Whether there is room for one more connection that is only for health checks.
    var hasRoomForHealth: Bool { healthConnections.count < Self.healthConnectionsMaximum }

    /// Closes the oldest connection that is only for health checks. Returns false if there is none.
    ///
    /// A request that has arrived when such a connection begins is answered immediately. So the oldest one has had its
    /// time, and the newest one may be a health check.
    func evictOldestForHealth() -> Bool {
        guard let oldest = healthConnections.first else { return false }
        oldest.refuse(.evicted)
        return true
    }

    /// Adds a connection for which there is room to those that are only for health checks.
    func addForHealth(_ connection: HTTPConnection) {
        healthConnections.append(connection)
        // It makes room only for other health checks.
        idleConnections.remove(connection)
    }

    /// Notes whether a connection may be closed to make room. An idle one goes to the end of the lists, even if it was
    /// in them already.
    func noteIdleness(of connection: HTTPConnection, _ isIdle: Bool) {
        idleConnections.update(connection, isIdle: isIdle && !connection.isForHealth)
        connection.network?.update(connection, isIdle: isIdle)
    }

    /// Removes a connection that closes.
    func remove(_ connection: HTTPConnection) {
        idleConnections.remove(connection)
        if connection.isForHealth { healthConnections.removeAll { $0 === connection } }
        guard let network = connection.network else { return }
        network.update(connection, isIdle: false)
        network.count -= 1
        if network.count == 0 { networks[network.key] = nil }
        connection.network = nil
    }

    /// Returns the value of the `Date` field, which is formatted once per second.
    func date() -> [UInt8] {
        let second = wallClock.wallTime.seconds
        if second != dateSecond {
            dateSecond = second
            dateText = HTTPDate.format(secondsSinceEpoch: second)
        }
        return dateText
    }
}

/// The connections of one loop that have more input after their turn: the next request, or more of a body.
///
/// In each turn of the loop, only `turnSize` of them get a turn, in the order in which they asked, and fewer if these
/// need more than `turnTime`. So a client that sends one request at a time waits for at most `turnSize` pipelined
/// requests, even if many connections pipeline, and not for long if these are expensive to read.
final class InputTurns: LoopChannel {
    /// The number of connections that get a turn: as many requests as one batch of RSA operations.
    static let turnSize = 8
    /// The time after which no further connection gets a turn. Ordinary requests need about a tenth of it for eight.
    static let turnTime: Duration = .microseconds(500)

    private let loop: LoopContext
    private var waiting = ArrivalQueue<HTTPConnection>()
    private var isScheduled = false

    init(loop: LoopContext) {
        self.loop = loop
    }

    /// Requests a call of `HTTPConnection.takeInputTurn` in a later turn. A connection may request the next one only
    /// after that call.
    func wait(_ connection: HTTPConnection) {
        waiting.append(connection)
        schedule()
    }

    func resume(on loop: LoopContext) {
        isScheduled = false
        var turnsLeft = Self.turnSize
        // A connection that asks again meanwhile gets its turn after these, in the next turn of the loop.
        var waitingLeft = waiting.count
        let end = loop.now + Self.turnTime
        while turnsLeft > 0, waitingLeft > 0, let connection = waiting.removeFirst() {
            waitingLeft -= 1
            guard connection.isOpen else { continue }
            turnsLeft -= 1
            connection.takeInputTurn()
            if loop.now >= end { break }
        }
        if !waiting.isEmpty { schedule() }
    }

    /// Nothing happens to its own descriptor: it has none.
    func ready(_ readiness: EpollReadiness, on loop: LoopContext) {}
    func loopStops(_ loop: LoopContext) {}

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        loop.resumeNextTurn(self)
    }
}

/// The connections of one loop whose clients are gone, and which are still to be closed.
///
/// Closing a socket costs as much as a request. If thousands of clients leave together, only a few of their connections
/// are closed in each turn of the loop, so that the requests of other clients are not delayed.
final class LostConnections: LoopChannel {
    /// The most connections that are closed in one turn. It is also the number of timers that may fire in one turn.
    static let endsPerTurnMaximum = 32

    private let loop: LoopContext
    private var waiting = ArrivalQueue<HTTPConnection>()
    private var isScheduled = false

    init(loop: LoopContext) {
        self.loop = loop
    }

    /// Requests a call of `HTTPConnection.endLost`, in the next turn if few connections wait. A connection must be
    /// added only once.
    func append(_ connection: HTTPConnection) {
        waiting.append(connection)
        schedule()
    }

    func resume(on loop: LoopContext) {
        isScheduled = false
        for _ in 0..<min(waiting.count, Self.endsPerTurnMaximum) { waiting.removeFirst()?.endLost() }
        if !waiting.isEmpty { schedule() }
    }

    /// Nothing happens to its own descriptor: it has none.
    func ready(_ readiness: EpollReadiness, on loop: LoopContext) {}
    func loopStops(_ loop: LoopContext) {}

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        loop.resumeNextTurn(self)
    }
}

/// The connections of one client network at one listener that belong to one loop.
final class NetworkConnections {
    struct Key: Hashable {
        private let listener: ObjectIdentifier
        let network: IPAddress

        init(_ listener: ListenerState, _ network: IPAddress) {
            self.listener = ObjectIdentifier(listener)
            self.network = network
        }
    }

    let key: Key
    var count = 0
    private(set) var idle = IdleConnections(.ofNetwork)
    /// Those of the idle ones that are without a request.
    private(set) var withoutRequest = IdleConnections(.withoutRequest)

    init(_ key: Key) {
        self.key = key
    }

    /// Notes whether a connection may be closed to make room. If so, it goes to the end of its lists.
    func update(_ connection: HTTPConnection, isIdle: Bool) {
        idle.update(connection, isIdle: isIdle)
        let hasRequest = !isIdle || connection.account.hasRequest
        withoutRequest.update(connection, isIdle: !hasRequest)
        count(connection, hasRequest: hasRequest)
    }

    /// Counts a connection among those without a request, or no longer. One that has not begun counts, but is in no
    /// list.
    func count(_ connection: HTTPConnection, hasRequest: Bool) {
        guard hasRequest == connection.countsAsWithoutRequest else { return }
        connection.countsAsWithoutRequest = !hasRequest
        connection.listener.countWithoutRequest(key.network, by: hasRequest ? -1 : 1)
    }
}

/// The connections of one loop, or of one network on it, that may be closed to make room, because no request is under
/// way or only a part of its head has arrived. The longest idle one comes first. Closing connections are in the list
/// too.
///
/// It is a doubly linked list through the connections themselves, so that the cost of a change does not depend on their
/// number. A connection leaves the list before it closes.
struct IdleConnections {
    /// The lists in which a connection may be.
    enum Kind {
        case ofLoop
        case ofNetwork
        case withoutRequest
    }

    private let kind: Kind
    private var oldest: HTTPConnection?
    private var newest: HTTPConnection?

    init(_ kind: Kind) {
        self.kind = kind
    }

    /// The connection that has been idle for the longest time.
    var first: HTTPConnection? { oldest }

    /// Adds a connection at the end, or moves it there.
    mutating func append(_ connection: HTTPConnection) {
        remove(connection)
        connection.idleLinks[kind] = .init(previous: newest, next: nil, isListed: true)
        if let newest { newest.idleLinks[kind].next = connection } else { oldest = connection }
        newest = connection
    }

    /// Adds or removes a connection. It goes to the end of the list even if it was in the list already.
    mutating func update(_ connection: HTTPConnection, isIdle: Bool) {
        if isIdle { append(connection) } else { remove(connection) }
    }

    /// Removes a connection, if it is in the list.
    mutating func remove(_ connection: HTTPConnection) {
        let link = connection.idleLinks[kind]
        guard link.isListed else { return }
        connection.idleLinks[kind] = .init()
        if let previous = link.previous { previous.idleLinks[kind].next = link.next } else { oldest = link.next }
        if let next = link.next { next.idleLinks[kind].previous = link.previous } else { newest = link.previous }
    }

    /// The neighbours of a connection in a list.
    struct Link {
        var previous: HTTPConnection?
        var next: HTTPConnection?
        var isListed = false
    }

    /// The neighbours of a connection in all lists.
    struct Links {
        var ofLoop = Link()
        var ofNetwork = Link()
        var withoutRequest = Link()

        subscript(kind: Kind) -> Link {
            get {
                switch kind {
                case .ofLoop: ofLoop
                case .ofNetwork: ofNetwork
                case .withoutRequest: withoutRequest
                }
            }
            set {
                switch kind {
                case .ofLoop: ofLoop = newValue
                case .ofNetwork: ofNetwork = newValue
                case .withoutRequest: withoutRequest = newValue
                }
            }
        }
    }
}
