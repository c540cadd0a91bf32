import Synchronization

/// Lets so many lines of one event through in each second, and counts those that it leaves out.
///
/// Events are fixed words of the source, so the table stays small. The count of a second's omissions travels with the
/// next line of the same event that is let through.
final class LogSampler: Sendable {
    /// What becomes of a line.
    enum Verdict: Equatable {
        /// Write it; so many lines of this event were left out since the last one.
        case write(leftOut: UInt64)
        case leaveOut
    }

    private struct Event {
        var second: Int64 = .min
        var count = 0
        var leftOut: UInt64 = 0
    }

    private let events = Mutex<[String: Event]>([:])
    private let perSecond: Atomic<Int>
    private let leftOut = Atomic<UInt64>(0)

    init(perSecond: Int) {
        self.perSecond = Atomic(perSecond)
    }

    /// All lines that were left out so far.
    var leftOutCount: UInt64 { leftOut.load(ordering: .relaxed) }

    func setRate(perSecond: Int) {
        self.perSecond.store(perSecond, ordering: .relaxed)
    }

    /// Judges a line of this event now.
    func judge(_ name: String, at time: MonotonicTime) -> Verdict {
        let second = time.nanoseconds / 1_000_000_000
        let maximum = perSecond.load(ordering: .relaxed)
        let verdict: Verdict = events.withLock { events in
            var event = events[name, default: Event()]
            if event.second != second { (event.second, event.count) = (second, 0) }
            defer { events[name] = event }
            guard event.count < maximum else {
                event.leftOut += 1
                return .leaveOut
            }
            event.count += 1
            defer { event.leftOut = 0 }
            return .write(leftOut: event.leftOut)
        }
        if verdict == .leaveOut { leftOut.add(1, ordering: .relaxed) }
        return verdict
    }
}

/// What makes a line come, and so how it is kept when there are too many.
package enum LogCause: Sendable {
    /// The service itself: its life, its stores, its operator. Such lines have room of their own.
    case service
    /// A client with a right, such as a licence. Such lines are dropped when the reader of the log is too slow.
    case client
    /// A client that does again what its line has said before. Such lines are sampled as those of strangers.
    case repetition
    /// Any client that can connect. Such lines are sampled for each event, and dropped when the reader of the log is
    /// too slow.
    case stranger
}
