import Telemetry

/// The calls that were sent to one worker, in the order in which it answers them.
///
/// Short calls are sent ahead, so that the worker need not wait for the pool between them. If the worker dies, only the
/// call that it has begun is lost. The worker itself reports which one that is (`SpawnedProgram.sharedValue`).
struct WorkerCalls {
    /// A call that was sent to the worker.
    private struct Place {
        let call: PendingCall
        /// Whether the call was also put back into the queue, so that another worker may answer it.
        var isElsewhere = false
    }

    /// The time without an answer after which calls that a worker has not begun are given to other workers too.
    ///
    /// It is long enough for a worker that waits for a core on a busy machine. If calls were answered twice there, the
    /// machine would be even busier.
    static let patience: Duration = .milliseconds(50)
    /// The time for which calls are sent ahead: a worker gets as many calls as it answers in this time, at least two.
    private static let aheadNanoseconds: Int64 = 1_000_000
    /// Calls that take longer are sent one by one, because sending ahead would save little.
    private static let quickNanoseconds: Int64 = 2_000_000

    private var places: [Place] = []
    /// The time of the last answer, or of the first call; nil if the worker has no call.
    private(set) var busySince: MonotonicTime?
    /// Whether the worker has not answered for longer than `patience`.
    private var isSlow = false
    /// The time that all answered calls have taken.
    private(set) var answeredTime: Duration = .zero
    /// The time for a call, as a moving average.
    private var usualNanoseconds: Int64 = 0

    init() {
        places.reserveCapacity(LadderFrameAssembler.frameCountUsual)
    }

    var count: Int { places.count }

    var isEmpty: Bool { places.isEmpty }

    /// The number of calls; nil if there is no room for one more.
    var load: Int? {
        if let first = places.first, first.call.isSuspect { return nil }
        return places.count < maximum ? places.count : nil
    }

    private var maximum: Int {
        if isSlow || usualNanoseconds > Self.quickNanoseconds { return 1 }
        let ahead = Self.aheadNanoseconds / max(usualNanoseconds, 1)
        return Int(min(max(ahead, 2), Int64(LadderFrameAssembler.frameCountUsual)))
    }

    mutating func add(_ call: PendingCall, at now: MonotonicTime) {
        places.append(Place(call: call))
        if busySince == nil { busySince = now }
    }

    /// Removes and returns the first call, which was answered; nil if it has another number.
    mutating func settleFirst(number: UInt64, at now: MonotonicTime) -> PendingCall? {
        guard let first = places.first, first.call.number == number, let busySince else { return nil }
        places.removeFirst()
        let time = now - busySince
        answeredTime += time
        usualNanoseconds += (time.clampedNanoseconds - usualNanoseconds) / 8
        isSlow = false
        self.busySince = places.isEmpty ? nil : now
        return first.call
    }

    /// Takes back calls that were put into the queue, if no other worker has them yet. `takeBack` returns whether it
    /// could remove a call from the queue.
    mutating func keep(_ takeBack: (PendingCall) -> Bool) {
        for index in places.indices where places[index].isElsewhere {
            if takeBack(places[index].call) { places[index].isElsewhere = false }
        }
    }

    /// Returns the calls for other workers, because this one is slow: all calls except the begun one, each only once.
    mutating func giveAway(begun: UInt64) -> [PendingCall] {
        isSlow = true
        var calls: [PendingCall] = []
        for index in places.indices where !places[index].isElsewhere && places[index].call.number != begun {
            places[index].isElsewhere = true
            calls.append(places[index].call)
        }
        return calls
    }

    /// Removes all calls after the worker was lost. Returns the lost calls and those that can be sent to another
    /// worker.
    ///
    /// `begun` is the call that the worker had begun, by its own report. If it is not clear that this call has caused
    /// the loss, a call is only lost if it was the only one; otherwise all calls are tried again, each alone. A call
    /// that was at too many lost workers is lost too.
    mutating func lose(begun: UInt64, isClear: Bool) -> (lost: [PendingCall], returned: [PendingCall]) {
        let calls = places.filter { !$0.isElsewhere && !$0.call.isOver }.map(\.call)
        let wasAlone = places.count == 1
        places = []
        busySince = nil
        var (lost, returned): ([PendingCall], [PendingCall]) = ([], [])
        for call in calls {
            let isLost = isClear ? call.number == begun : wasAlone
            if !isClear { call.isSuspect = true }
            call.lossCount += 1
            if isLost || call.lossCount > PendingCall.lossCountMaximum {
                lost.append(call)
            } else {
                returned.append(call)
            }
        }
        return (lost, returned)
    }

    /// Removes and returns all calls, because the worker will not answer them.
    mutating func takeAll() -> [PendingCall] {
        defer { places = [] }
        return places.map(\.call)
    }
}
