import Telemetry

/// The account of a worker's processor time, for all of its threads together.
///
/// A worker begins with an advance of time. It earns the time of its answered calls, and a twentieth of all time, but
/// never has more than the advance. A call that never ends, and threads that compute without a call, use up the
/// advance. Answered calls do not.
struct ProcessorAccount {
    /// The totals since the worker was started, and the time at which they were read.
    struct Reading {
        /// The processor time of the process.
        let spent: Duration
        /// The time that answered calls took.
        let answered: Duration
        let time: MonotonicTime
    }

    /// A worker earns one part in 20 of all time without calls, for other work of the library and of the worker itself.
    private static let freeShare = 20

    private let advance: Duration
    private var balance: Duration
    private var last: Reading

    /// Makes an account with the full advance, which begins with this reading.
    init(advance: Duration, from reading: Reading) {
        self.advance = advance
        balance = advance
        last = reading
    }

    /// Updates the account. Returns whether the worker has used more time than it had.
    mutating func isOverdrawn(at reading: Reading) -> Bool {
        let earned = reading.answered - last.answered + (reading.time - last.time) / Self.freeShare
        balance = min(balance + earned - (reading.spent - last.spent), advance)
        last = reading
        return balance < .zero
    }
}
