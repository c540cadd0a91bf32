import EventLoops
import HTTPMessages
import Telemetry

/// What the connections of one loop share: the loop, buffers that only one of them needs at a time, the order of their turns, and the
/// date.
///
/// An idle connection thus owns no buffer at all.
final class LoopServices {
    /// How much one read takes at most.
    static let readSize = 64 * 1024

    let loop: LoopContext
    var input = [UInt8](repeating: 0, count: readSize)
    var output: [UInt8] = []
    let inputTurns: InputTurns
    private let wallClock: any WallClock
    private var dateSecond: Int64 = .min
    private var dateText: [UInt8] = []

    init(loop: LoopContext, wallClock: any WallClock) {
        self.loop = loop
        inputTurns = InputTurns(loop: loop)
        self.wallClock = wallClock
        output.reserveCapacity(8 * 1024)
    }

    /// The value of the `Date` field, made anew once per second.
    func date() -> [UInt8] {
        let second = wallClock.wallTime.seconds
        if second != dateSecond {
            dateSecond = second
            dateText = HTTPDate.format(secondsSinceEpoch: second)
        }
        return dateText
    }
}
