package import EventLoops
import Synchronization
import Telemetry

/// Limits how long requests wait for the nodes' database if they can be served without its answer.
///
/// A request that gets no answer within the limit goes on without it, while its question stays under way. Such a late
/// question opens a breaker. While the breaker is open, no request waits. The next question that is answered within the
/// limit closes it. While the breaker is open and `questionsMaximum` questions are under way, nothing more is asked.
package final class Patience: Sendable {
    package static let limitDefault: Duration = .milliseconds(200)
    /// How many questions may be under way at the same time while the breaker is open.
    static let questionsMaximum = 256

    private let loops: [LoopContext]
    private let limit: Duration
    private let isBroken = Atomic<Bool>(false)
    private let underWay = Atomic<Int>(0)
    private let late = Atomic<UInt64>(0)

    /// Timers and questions run on the caller's loop if it is one of `loops`, and otherwise on the first of them. There
    /// must be at least one.
    package init(on loops: [LoopContext], limit: Duration = Patience.limitDefault) {
        precondition(!loops.isEmpty, "questions need a loop")
        self.loops = loops
        self.limit = limit
    }

    /// Whether the breaker is open, so that no request waits.
    package var isOpen: Bool { isBroken.load(ordering: .relaxed) }
    /// How many requests went on without an answer.
    package var lateCount: UInt64 { late.load(ordering: .relaxed) }

    /// Asks the question and returns its answer; returns nil if the answer is late or the breaker is open.
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

/// Resumes its continuation once, with the answer or the end of the time limit, whichever comes first.
private final class PatientAsker<Answer: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Answer?, Never>?>

    init(_ continuation: CheckedContinuation<Answer?, Never>) {
        self.continuation = Mutex(continuation)
    }

    func resume(_ answer: Answer?) {
        continuation.withLock { $0.take() }?.resume(returning: answer)
    }
}
