import Telemetry

/// Calls that wait for a worker, the oldest first.
///
/// All may wait equally long, so the order is also the order of their deadlines. Calls that come back from a dead
/// worker are older than all that wait, and go before them.
struct CallQueue {
    private let lengthMaximum: Int
    /// Calls that came back, the oldest last.
    private var returned: [PendingCall] = []
    private var waiting: [PendingCall] = []
    private var position = 0

    init(lengthMaximum: Int) {
        self.lengthMaximum = lengthMaximum
    }

    var count: Int { returned.count + waiting.count - position }

    var isEmpty: Bool { count == 0 }

    /// The oldest call.
    var first: PendingCall? { returned.last ?? (position < waiting.count ? waiting[position] : nil) }

    /// Adds a new call; false when there is no room.
    mutating func append(_ call: PendingCall) -> Bool {
        guard count < lengthMaximum else { return false }
        waiting.append(call)
        return true
    }

    /// Puts a call back that had left the queue, room or not.
    mutating func putBack(_ call: PendingCall) {
        let index = returned.firstIndex { $0.number < call.number } ?? returned.endIndex
        returned.insert(call, at: index)
    }

    /// Takes out a call that was put back; false when it is not there any more.
    mutating func remove(_ call: PendingCall) -> Bool {
        guard let index = returned.firstIndex(where: { $0 === call }) else { return false }
        returned.remove(at: index)
        return true
    }

    /// Takes the oldest call that is not over; nil if no call waits, or if it is a suspect and suspects are not
    /// wanted.
    mutating func popFirst(alsoSuspects: Bool = true) -> PendingCall? {
        while let call = first {
            if !call.isOver, call.isSuspect, !alsoSuspects { return nil }
            _ = popAny()
            if !call.isOver { return call }
        }
        return nil
    }

    /// Takes the oldest call if its time to wait is over.
    mutating func popExpired(at now: MonotonicTime) -> PendingCall? {
        guard let first, first.queueDeadline <= now else { return nil }
        return popAny()
    }

    private mutating func popAny() -> PendingCall? {
        if let call = returned.popLast() { return call }
        guard position < waiting.count else { return nil }
        let call = waiting[position]
        position += 1
        // The places of calls that have left are given back now and then, not each time.
        if position == waiting.count || position >= 1024 {
            waiting.removeFirst(position)
            position = 0
        }
        return call
    }
}
