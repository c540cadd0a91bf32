import EventLoops
import Glibc
import HTTPMessages

/// What the connections of one loop share: buffers that only one of them needs at a time, the order of their turns, and the date.
///
/// An idle connection thus owns no buffer at all.
final class LoopServices {
    /// How much one read takes at most.
    static let readSize = 64 * 1024

    var input = [UInt8](repeating: 0, count: readSize)
    var output: [UInt8] = []
    let inputTurns: InputTurns
    private let wallClock: WallClock
    private var dateSecond: Int64 = .min
    private var dateText: [UInt8] = []

    init(loop: LoopContext, wallClock: @escaping WallClock) {
        inputTurns = InputTurns(loop: loop)
        self.wallClock = wallClock
        output.reserveCapacity(8 * 1024)
    }

    /// The value of the `Date` field, made anew once per second.
    func date() -> [UInt8] {
        let second = wallClock()
        if second != dateSecond {
            dateSecond = second
            dateText = HTTPDate.format(secondsSinceEpoch: second)
        }
        return dateText
    }
}

/// Seconds since 1970-01-01 00:00:00 UTC.
package typealias WallClock = @Sendable () -> Int64

/// The machine's wall clock.
@Sendable
package func systemWallClock() -> Int64 {
    Int64(time(nil))
}
