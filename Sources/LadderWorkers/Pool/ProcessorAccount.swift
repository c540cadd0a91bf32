import Telemetry

/// What a worker may use of the processors, all of its threads together.
///
/// A worker has an advance. It earns the time that its answered calls took, and a twentieth of all time, up to the
/// advance again. So a call that computes without an end, on one thread or on many, and threads that compute while
/// there is no call, use the advance up; calls that are answered do not, however many there were.
struct ProcessorAccount {
    /// Two totals since the worker was started, and when they were read.
    struct Reading {
        /// The processor time of the process.
        let spent: Duration
        /// The time that answered calls took.
        let answered: Duration
        let time: MonotonicTime
    }

    /// One part in so many of the time that passes is earned without calls: for what a library does besides, and for
    /// the worker's own work around the calls.
    private static let freeShare = 20

    private let advance: Duration
    private var balance: Duration
    private var last: Reading

    /// An account with its full advance, from this reading on.
    init(advance: Duration, from reading: Reading) {
        self.advance = advance
        balance = advance
        last = reading
    }

    /// Whether more was spent up to this reading than the worker had.
    mutating func isOverdrawn(at reading: Reading) -> Bool {
        let earned = reading.answered - last.answered + (reading.time - last.time) / Self.freeShare
        balance = min(balance + earned - (reading.spent - last.spent), advance)
        last = reading
        return balance < .zero
    }
}
