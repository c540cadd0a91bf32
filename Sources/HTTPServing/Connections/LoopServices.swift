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

    let loop: LoopContext
    var input = [UInt8](repeating: 0, count: readSize)
    var output: [UInt8] = []
    let inputTurns: InputTurns
    let lostConnections: LostConnections
    var idleConnections = IdleConnections()
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
            guard let next = connection.idleLink.next else { return false }
            connection = next
        }
        connection.refuse(.evicted)
        return true
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

/// The connections of one loop that may be closed to make room, because no request is under way. The longest idle one
/// comes first. Closing connections are in the list too.
///
/// It is a doubly linked list through the connections themselves, so that the cost of a change does not depend on their
/// number. A connection leaves the list before it closes.
struct IdleConnections {
    private var oldest: HTTPConnection?
    private var newest: HTTPConnection?
    private(set) var count = 0

    /// The connection that has been idle for the longest time.
    var first: HTTPConnection? { oldest }

    /// Adds a connection at the end, or moves it there.
    mutating func append(_ connection: HTTPConnection) {
        remove(connection)
        connection.idleLink = .init(previous: newest, next: nil, isListed: true)
        if let newest { newest.idleLink.next = connection } else { oldest = connection }
        newest = connection
        count += 1
    }

    /// Adds or removes a connection. It goes to the end of the list even if it was in the list already.
    mutating func update(_ connection: HTTPConnection, isIdle: Bool) {
        if isIdle { append(connection) } else { remove(connection) }
    }

    /// Removes a connection, if it is in the list.
    mutating func remove(_ connection: HTTPConnection) {
        guard connection.idleLink.isListed else { return }
        let link = connection.idleLink
        connection.idleLink = .init()
        if let previous = link.previous { previous.idleLink.next = link.next } else { oldest = link.next }
        if let next = link.next { next.idleLink.previous = link.previous } else { newest = link.previous }
        count -= 1
    }

    /// The neighbours of a connection in the list.
    struct Link {
        var previous: HTTPConnection?
        var next: HTTPConnection?
        var isListed = false
    }
}
