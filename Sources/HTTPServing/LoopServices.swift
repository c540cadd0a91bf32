import EventLoops
import HTTPMessages
import POSIXSockets
import Telemetry

/// What the connections of one loop share: the loop, buffers that only one of them needs at a time, the order of their
/// turns, and the date.
///
/// An idle connection thus owns no buffer at all.
final class LoopServices {
    /// How much one read takes at most.
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

    /// Closes the connection of this loop that has been idle for the longest time; false if none is idle.
    func evictLongestIdle(otherThan asking: HTTPConnection? = nil) -> Bool {
        guard var connection = idleConnections.first else { return false }
        if connection === asking {
            guard let next = connection.idleLink.next else { return false }
            connection = next
        }
        connection.refuse(.evicted)
        return true
    }

    /// The value of the `Date` field, made again once per second.
    func date() -> [UInt8] {
        let second = wallClock.wallTime.seconds
        if second != dateSecond {
            dateSecond = second
            dateText = HTTPDate.format(secondsSinceEpoch: second)
        }
        return dateText
    }
}

/// The connections of one loop that have had their turn and want another: the next request, or more of a body, is here
/// already.
///
/// Few of them have it in each turn of the loop, in the order in which they asked. So a client that asks one thing at a
/// time waits for at most `turnSize` pipelined requests, for any number of connections that pipeline. These share what
/// the others leave.
final class InputTurns: LoopChannel {
    /// As many requests as make a batch of RSA operations.
    static let turnSize = 8

    private let loop: LoopContext
    private var waiting = ArrivalQueue<HTTPConnection>()
    private var isScheduled = false

    init(loop: LoopContext) {
        self.loop = loop
    }

    /// Has `HTTPConnection.takeInputTurn` called in a turn to come. A connection asks again only after that.
    func wait(_ connection: HTTPConnection) {
        waiting.append(connection)
        schedule()
    }

    func resume(on loop: LoopContext) {
        isScheduled = false
        var turnsLeft = Self.turnSize
        // A connection that asks again meanwhile comes behind these, in the next turn.
        var waitingLeft = waiting.count
        while turnsLeft > 0, waitingLeft > 0, let connection = waiting.removeFirst() {
            waitingLeft -= 1
            guard connection.isOpen else { continue }
            turnsLeft -= 1
            connection.takeInputTurn()
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

/// The connections of one loop whose clients have gone, and which wait for their end.
///
/// To close a socket costs as much as a request. If thousands of clients go at once, few of their connections end in
/// each turn of the loop, and the others' requests come between.
final class LostConnections: LoopChannel {
    /// As many as timers may end in one turn.
    static let endsPerTurnMaximum = 32

    private let loop: LoopContext
    private var waiting = ArrivalQueue<HTTPConnection>()
    private var isScheduled = false

    init(loop: LoopContext) {
        self.loop = loop
    }

    /// Has `HTTPConnection.endLost` called, in this turn if few wait. A connection is added once.
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

/// The connections of one loop that may be closed to make room: those on which no request is under way, longest idle
/// first. Those that are closing belong to them.
///
/// A doubly linked list through the connections themselves, so that each change costs the same however many there are.
/// A connection leaves the list before it closes.
struct IdleConnections {
    private var oldest: HTTPConnection?
    private var newest: HTTPConnection?
    private(set) var count = 0

    /// The connection that has been idle for the longest time.
    var first: HTTPConnection? { oldest }

    /// Puts a connection at the end, or moves it there.
    mutating func append(_ connection: HTTPConnection) {
        remove(connection)
        connection.idleLink = .init(previous: newest, next: nil, isListed: true)
        if let newest { newest.idleLink.next = connection } else { oldest = connection }
        newest = connection
        count += 1
    }

    /// Takes a connection out; nothing happens if it is not in the list.
    mutating func remove(_ connection: HTTPConnection) {
        guard connection.idleLink.isListed else { return }
        let link = connection.idleLink
        connection.idleLink = .init()
        if let previous = link.previous { previous.idleLink.next = link.next } else { oldest = link.next }
        if let next = link.next { next.idleLink.previous = link.previous } else { newest = link.previous }
        count -= 1
    }

    /// A connection's place in the list.
    struct Link {
        var previous: HTTPConnection?
        var next: HTTPConnection?
        var isListed = false
    }
}
