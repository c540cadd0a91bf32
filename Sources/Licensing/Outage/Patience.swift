package import EventLoops
import Synchronization
import Telemetry

/// Waits for answers of the nodes' database, for requests that can be served without one.
///
/// A question that has no answer within the limit goes on, and its asker goes on without it. Such a question opens a
/// breaker: then no asker waits. The next question that is answered within the limit closes it. Questions without an
/// asker are bounded; beyond that nothing is asked.
package final class Patience: Sendable {
    package static let limitDefault: Duration = .milliseconds(200)
    /// Questions that are under way at once.
    static let questionsMaximum = 256

    private let loops: [LoopContext]
    private let limit: Duration
    private let isBroken = Atomic<Bool>(false)
    private let underWay = Atomic<Int>(0)
    private let late = Atomic<UInt64>(0)

    /// Timers and questions run on the asker's loop if it is one of `loops`, and on the first one otherwise; there is
    /// at least one.
    package init(on loops: [LoopContext], limit: Duration = Patience.limitDefault) {
        precondition(!loops.isEmpty, "questions need a loop")
        self.loops = loops
        self.limit = limit
    }

    /// Whether the breaker is open: no asker waits.
    package var isOpen: Bool { isBroken.load(ordering: .relaxed) }
    /// How many askers went on without an answer.
    package var lateCount: UInt64 { late.load(ordering: .relaxed) }

    /// The answer, or nil if it is not there in time or the breaker is open.
    func answer<Answer: Sendable>(
        to question: @escaping @Sendable () async -> Answer
    ) async -> Answer? {
        guard underWay.add(1, ordering: .relaxed).newValue <= Self.questionsMaximum || !isOpen else {
            underWay.subtract(1, ordering: .relaxed)
            late.add(1, ordering: .relaxed)
            return nil
        }
        let loop = loops.first(where: \.isCurrent) ?? loops[0]
        let answer = await withCheckedContinuation { (continuation: CheckedContinuation<Answer?, Never>) in
            let asker = PatientAsker(continuation)
            if isOpen { asker.resume(nil) }
            let isAccepted = loop.execute { [self] in ask(question, for: asker, on: loop) }
            if !isAccepted {
                underWay.subtract(1, ordering: .relaxed)
                asker.resume(nil)
            }
        }
        if answer == nil { late.add(1, ordering: .relaxed) }
        return answer
    }

    private func ask<Answer: Sendable>(
        _ question: @escaping @Sendable () async -> Answer, for asker: PatientAsker<Answer>, on loop: LoopContext
    ) {
        let end = loop.now + limit
        let timer = loop.schedule(at: end) { [self] in
            isBroken.store(true, ordering: .relaxed)
            asker.resume(nil)
        }
        loop.spawn { [self] in
            let answer = await question()
            underWay.subtract(1, ordering: .relaxed)
            if loop.now < end {
                loop.cancel(timer)
                isBroken.store(false, ordering: .relaxed)
            }
            asker.resume(answer)
        }
    }
}

/// Resumes its continuation once, with what comes first.
private final class PatientAsker<Answer: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Answer?, Never>?>

    init(_ continuation: CheckedContinuation<Answer?, Never>) {
        self.continuation = Mutex(continuation)
    }

    func resume(_ answer: Answer?) {
        continuation.withLock { $0.take() }?.resume(returning: answer)
    }
}
