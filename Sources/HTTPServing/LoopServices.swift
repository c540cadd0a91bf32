import EventLoops
import HTTPMessages
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
