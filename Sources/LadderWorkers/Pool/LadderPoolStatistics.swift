import FairPlay
import Synchronization

/// What a pool has done and how it stands, for a metrics page; read from any thread.
package final class LadderPoolStatistics: Sendable {
    private let alive = Atomic<Int>(0)
    private let queued = Atomic<Int>(0)
    private let sent = Atomic<Int>(0)
    private let counts = Counts()

    private struct Counts: ~Copyable, Sendable {
        let answers = Atomic<UInt64>(0)
        let refusals = Atomic<UInt64>(0)
        let failures = Atomic<UInt64>(0)
        let losses = Atomic<UInt64>(0)
        let rejections = Atomic<UInt64>(0)
        let deaths = Atomic<UInt64>(0)
        let startFailures = Atomic<UInt64>(0)
    }

    /// Workers that have opened the module and answer calls.
    package var aliveWorkerCount: Int { alive.load(ordering: .relaxed) }
    /// Calls that wait for a worker.
    package var queueLength: Int { queued.load(ordering: .relaxed) }
    /// Calls that lie at a worker: in work, or next.
    package var sentCallCount: Int { sent.load(ordering: .relaxed) }
    /// Calls that were answered.
    package var answerCount: UInt64 { counts.answers.load(ordering: .relaxed) }
    /// Calls whose SK..R1 block the module refused.
    package var refusalCount: UInt64 { counts.refusals.load(ordering: .relaxed) }
    /// Calls that the module could not answer, or answered with something that is no answer.
    package var failureCount: UInt64 { counts.failures.load(ordering: .relaxed) }
    /// Calls that were lost with their worker.
    package var lossCount: UInt64 { counts.losses.load(ordering: .relaxed) }
    /// Calls for which no worker was there in time.
    package var unavailableCount: UInt64 { counts.rejections.load(ordering: .relaxed) }
    /// Workers that ended without having been told to, after they had opened the module.
    package var deathCount: UInt64 { counts.deaths.load(ordering: .relaxed) }
    /// Workers that could not be started, or could not open the module.
    package var startFailureCount: UInt64 { counts.startFailures.load(ordering: .relaxed) }

    func workerBecameReady() { alive.add(1, ordering: .relaxed) }
    func workerIsGone() { alive.subtract(1, ordering: .relaxed) }
    func workerDied() { counts.deaths.add(1, ordering: .relaxed) }
    func startFailed() { counts.startFailures.add(1, ordering: .relaxed) }
    func workersHave(_ difference: Int) { sent.add(difference, ordering: .relaxed) }
    func queueHas(_ length: Int) { queued.store(length, ordering: .relaxed) }

    func callEnded(_ outcome: CallOutcome) {
        switch outcome {
        case .success: counts.answers.add(1, ordering: .relaxed)
        case .failure(.refused): counts.refusals.add(1, ordering: .relaxed)
        case .failure(.failed), .failure(.answerMalformed): counts.failures.add(1, ordering: .relaxed)
        case .failure(.workerLost): counts.losses.add(1, ordering: .relaxed)
        case .failure(.unavailable), .failure(.overloaded): counts.rejections.add(1, ordering: .relaxed)
        }
    }
}
