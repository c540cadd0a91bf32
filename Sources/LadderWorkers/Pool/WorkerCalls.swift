import Telemetry

/// The calls that lie at one worker, in the order in which it answers them.
///
/// Short calls are sent ahead, so that the worker need not wait for the pool in between. What is sent ahead is not lost
/// with the worker: the worker itself says which call it has begun (`SpawnedProgram.sharedValue`), and only that one
/// is.
struct WorkerCalls {
    /// A call that was sent to the worker.
    private struct Place {
        let call: PendingCall
        /// Whether the call went back to the queue while it lay here, so that another worker decides what becomes of
        /// it.
        var isElsewhere = false
    }

    /// How long a worker may go without an answer before what it has not begun goes to other workers too.
    ///
    /// Long enough for a worker that waits for a core on a busy machine: each call that is answered twice makes that
    /// worse.
    static let patience: Duration = .milliseconds(50)
    /// As many calls lie at a worker as it answers in about this time, and two at least.
    private static let aheadNanoseconds: Int64 = 1_000_000
    /// Calls that take longer come one by one: what sending ahead would save is nothing beside them.
    private static let quickNanoseconds: Int64 = 2_000_000

    private var places: [Place] = []
    /// Since when the worker has gone without an answer; nil when it has no call.
    private(set) var busySince: MonotonicTime?
    /// Whether it has gone so for longer than `patience`.
    private var isSlow = false
    /// How long all answered calls have taken.
    private(set) var answeredTime: Duration = .zero
    /// The time for a call, as a moving average.
    private var usualNanoseconds: Int64 = 0

    init() {
        places.reserveCapacity(LadderFrameAssembler.frameCountUsual)
    }

    var count: Int { places.count }

    var isEmpty: Bool { places.isEmpty }

    /// How many calls lie here; nil when there is no room for one more.
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

    /// The first call has its answer and leaves; nil when it has another number.
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

    /// Calls that other workers may have taken by now stay here if they have not: `takeBack` says so for each.
    mutating func keep(_ takeBack: (PendingCall) -> Bool) {
        for index in places.indices where places[index].isElsewhere {
            if takeBack(places[index].call) { places[index].isElsewhere = false }
        }
    }

    /// What other workers should do, because this one is slow: all but the call that it has begun, each once.
    mutating func giveAway(begun: UInt64) -> [PendingCall] {
        isSlow = true
        var calls: [PendingCall] = []
        for index in places.indices where !places[index].isElsewhere && places[index].call.number != begun {
            places[index].isElsewhere = true
            calls.append(places[index].call)
        }
        return calls
    }

    /// The worker is no more. Gives the calls that are lost with it, one at most, and those that are not.
    ///
    /// `begun` is the call that the worker had begun, as it said. If it is not clear that this call did it, only one
    /// that was alone here is to blame; others are tried again, each alone.
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

    /// All calls, whose outcome does not matter any more.
    mutating func takeAll() -> [PendingCall] {
        defer { places = [] }
        return places.map(\.call)
    }
}
