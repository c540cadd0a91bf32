import Telemetry
import Testing

@testable import LadderWorkers

@Suite struct ProcessorAccountTests {
    /// A worker with its own clock, which is checked every 250 ms.
    private final class Worker {
        private var account: ProcessorAccount
        private var (spent, answered, elapsed) = (Duration.zero, Duration.zero, Duration.zero)

        init(advance: Duration, spentBefore: Duration = .zero) {
            spent = spentBefore
            account = ProcessorAccount(
                advance: advance,
                from: .init(spent: spentBefore, answered: .zero, time: MonotonicTime(nanoseconds: 0)))
        }

        /// Whether the account is overdrawn after `looks` checks. Between two checks, the worker spends and answers the
        /// given times.
        func isOverdrawn(looks: Int, spent: Duration, answered: Duration) -> Bool {
            for _ in 0..<looks {
                self.spent += spent
                self.answered += answered
                elapsed += .milliseconds(250)
                let time = MonotonicTime(nanoseconds: 0) + elapsed
                let reading = ProcessorAccount.Reading(spent: self.spent, answered: self.answered, time: time)
                if account.isOverdrawn(at: reading) { return true }
            }
            return false
        }
    }

    /// A day of successive calls on their own processor does not overdraw the account.
    @Test func lastsForAsLongAsCallsAreAnswered() {
        let worker = Worker(advance: .seconds(1))
        #expect(!worker.isOverdrawn(looks: 4 * 86_400, spent: .milliseconds(250), answered: .milliseconds(250)))
    }

    /// A worker also spends some time between calls, for example to wait for the next one.
    @Test func allowsATwentiethWithoutCalls() {
        let worker = Worker(advance: .seconds(1))
        #expect(!worker.isOverdrawn(looks: 4 * 86_400, spent: .microseconds(12_500), answered: .zero))
        #expect(worker.isOverdrawn(looks: 4 * 86_400, spent: .microseconds(12_600), answered: .zero))
    }

    @Test func endsWithTheAdvanceWhenNothingIsAnswered() {
        let worker = Worker(advance: .seconds(1), spentBefore: .seconds(100))
        // These are 3 × 237.5 ms, and a call that is not accounted yet.
        #expect(!worker.isOverdrawn(looks: 4, spent: .milliseconds(250), answered: .zero))
        #expect(worker.isOverdrawn(looks: 1, spent: .milliseconds(250), answered: .zero))
    }

    /// Sixty threads use up the advance of one second between two checks.
    @Test func countsAllThreads() {
        let worker = Worker(advance: .seconds(1))
        #expect(worker.isOverdrawn(looks: 1, spent: .seconds(15), answered: .milliseconds(250)))
    }

    /// A thread computes while calls are answered in time.
    @Test func seesWhatIsSpentBesideCalls() {
        let worker = Worker(advance: .seconds(1))
        #expect(worker.isOverdrawn(looks: 10, spent: .milliseconds(500), answered: .milliseconds(250)))
    }

    /// A long call is paid from the advance. When the call is answered, the advance is full again, but not larger than
    /// before.
    @Test func earnsUpToTheAdvance() {
        let worker = Worker(advance: .seconds(1))
        #expect(!worker.isOverdrawn(looks: 3, spent: .milliseconds(250), answered: .zero))
        #expect(!worker.isOverdrawn(looks: 1, spent: .zero, answered: .milliseconds(750)))
        #expect(!worker.isOverdrawn(looks: 400, spent: .zero, answered: .zero))
        #expect(!worker.isOverdrawn(looks: 1, spent: .milliseconds(1_000), answered: .zero))
        #expect(worker.isOverdrawn(looks: 1, spent: .milliseconds(50), answered: .zero))
    }
}
