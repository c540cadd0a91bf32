import Telemetry
import Testing

@testable import LadderWorkers

@Suite struct ProcessorAccountTests {
    /// A worker on a clock of its own, looked at every 250 ms.
    private final class Worker {
        private var account: ProcessorAccount
        private var (spent, answered, elapsed) = (Duration.zero, Duration.zero, Duration.zero)

        init(advance: Duration, spentBefore: Duration = .zero) {
            spent = spentBefore
            account = ProcessorAccount(
                advance: advance,
                from: .init(spent: spentBefore, answered: .zero, time: MonotonicTime(nanoseconds: 0)))
        }

        /// Whether the account is overdrawn after so many looks, between each two of which so much was spent and
        /// answered.
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

    /// A day of calls, one behind the other, on a processor of their own.
    @Test func lastsForAsLongAsCallsAreAnswered() {
        let worker = Worker(advance: .seconds(1))
        #expect(!worker.isOverdrawn(looks: 4 * 86_400, spent: .milliseconds(250), answered: .milliseconds(250)))
    }

    /// What a worker spends around its calls, to wait for the next one, is more than nothing.
    @Test func allowsATwentiethWithoutCalls() {
        let worker = Worker(advance: .seconds(1))
        #expect(!worker.isOverdrawn(looks: 4 * 86_400, spent: .microseconds(12_500), answered: .zero))
        #expect(worker.isOverdrawn(looks: 4 * 86_400, spent: .microseconds(12_600), answered: .zero))
    }

    @Test func endsWithTheAdvanceWhenNothingIsAnswered() {
        let worker = Worker(advance: .seconds(1), spentBefore: .seconds(100))
        // 3 × 237.5 ms and a call of which nothing is known yet.
        #expect(!worker.isOverdrawn(looks: 4, spent: .milliseconds(250), answered: .zero))
        #expect(worker.isOverdrawn(looks: 1, spent: .milliseconds(250), answered: .zero))
    }

    /// Sixty threads use up the advance of a second between two looks.
    @Test func countsAllThreads() {
        let worker = Worker(advance: .seconds(1))
        #expect(worker.isOverdrawn(looks: 1, spent: .seconds(15), answered: .milliseconds(250)))
    }

    /// A thread that computes beside calls that are answered in time.
    @Test func seesWhatIsSpentBesideCalls() {
        let worker = Worker(advance: .seconds(1))
        #expect(worker.isOverdrawn(looks: 10, spent: .milliseconds(500), answered: .milliseconds(250)))
    }

    /// A long call is paid from the advance, and the advance is whole again when it is answered; but it does not grow.
    @Test func earnsUpToTheAdvance() {
        let worker = Worker(advance: .seconds(1))
        #expect(!worker.isOverdrawn(looks: 3, spent: .milliseconds(250), answered: .zero))
        #expect(!worker.isOverdrawn(looks: 1, spent: .zero, answered: .milliseconds(750)))
        #expect(!worker.isOverdrawn(looks: 400, spent: .zero, answered: .zero))
        #expect(!worker.isOverdrawn(looks: 1, spent: .milliseconds(1_000), answered: .zero))
        #expect(worker.isOverdrawn(looks: 1, spent: .milliseconds(50), answered: .zero))
    }
}
