import Synchronization

/// Lets a limited number of lines of each event pass per second, and counts the lines that it leaves out.
///
/// Events are fixed words of the source, so the table stays small. The next line of an event that passes reports how
/// many lines of this event were left out before it.
final class LogSampler: Sendable {
    /// What to do with a line.
    enum Verdict: Equatable {
        /// Write it. `leftOut` is the number of lines of this event that were left out since the last one.
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

    /// How many lines of all events were left out so far.
    var leftOutCount: UInt64 { leftOut.load(ordering: .relaxed) }

    func setRate(perSecond: Int) {
        self.perSecond.store(perSecond, ordering: .relaxed)
    }

    /// Decides about a line of this event at this time.
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

/// What causes a log line. It decides which lines are dropped when there are too many.
package enum LogCause: Sendable {
    /// The service itself: its start and stop, its stores, its operator. Extra room in the queue is reserved for such
    /// lines.
    case service
    /// A client with a valid right, for instance to a license. Such lines are dropped if the reader of the log is too
    /// slow.
    case client
    /// A client that repeats a request that was logged before. Such lines are sampled like those of strangers.
    case repetition
    /// Any client that can connect. Such lines are sampled for each event, and dropped if the reader of the log is too
    /// slow.
    case stranger
}
