import Synchronization
import Telemetry

/// Threads for blocking calls, such as reads from a database.
///
/// The number of threads, the number of waiting calls and the time of each call are limited on purpose. If a call is
/// refused or too late, its caller must answer without the result, and not wait longer.
package final class BlockingWorkerPool: Sendable {
    private struct State {
        var waiting: [Call] = []
        var isStopped = false

        mutating func takeWaiting() -> [Call] {
            defer { waiting = [] }
            return waiting
        }
    }

    private let queueLengthMaximum: Int
    private let state = Monitor(State())
    private let threads = Mutex<[JoinableThread]>([])

    /// Starts `threadCount` threads that share one queue of at most `queueLengthMaximum` calls.
    package init(
        threadCount: Int, queueLengthMaximum: Int, name: String = "worker"
    ) throws(EventLoopError) {
        precondition(threadCount > 0 && queueLengthMaximum > 0, "a pool needs a thread and a place to wait")
        self.queueLengthMaximum = queueLengthMaximum
        for index in 0..<threadCount {
            do throws(EventLoopError) {
                let state = state
                let thread = JoinableThread(try NativeThread(name: "\(name)-\(index)") { Self.work(on: state) })
                threads.withLock { $0.append(thread) }
            } catch {
                stop()
                throw error
            }
        }
    }

    deinit {
        // It does not wait, because this may run on a loop's thread. The threads own only the state, and end by
        // themselves.
        state.update { $0.isStopped = true }
    }

    /// Runs `body` on a thread of the pool, and returns its result on the caller's loop.
    ///
    /// It is called from a task on `loop`. Waiting and running together may take `limit` on the clock of the loop. If
    /// `body` has begun, it runs to its end even if its caller no longer waits.
    package func run<Result: Sendable>(
        on loop: LoopContext, within limit: Duration, _ body: @escaping @Sendable () -> Result
    ) async throws(WorkerPoolError) -> Result {
        let outcome = await withCheckedContinuation { (continuation: AnswerContinuation<Result>) in
            let answer = OneAnswer(continuation)
            let timer = loop.schedule(after: limit) { answer.give(.failure(.deadlineExceeded)) }
            // The body ends on a thread of the pool, but only the loop may cancel its timer.
            answer.atEnd { loop.execute { loop.cancel(timer) } }
            let call = Call(
                isWanted: { answer.isWanted }, body: { answer.give(.success(body())) },
                refuse: { answer.give(.failure($0)) })
            if let refusal = enqueue(call) { call.refuse(refusal) }
        }
        return try outcome.get()
    }

    /// Refuses new and waiting calls, and waits for the running ones. It must not be called on a thread of the pool.
    package func stop() {
        let waiting = state.update { state in
            state.isStopped = true
            return state.takeWaiting()
        }
        for call in waiting { call.refuse(.stopped) }
        for thread in threads.withLock({ $0 }) { thread.join() }
    }

    /// The number of calls that wait for a thread.
    package var queueLength: Int { state.update { $0.waiting.count } }

    private func enqueue(_ call: Call) -> WorkerPoolError? {
        state.update { state in
            if state.isStopped { return .stopped }
            if state.waiting.count >= queueLengthMaximum { state.waiting.removeAll { !$0.isWanted() } }
            if state.waiting.count >= queueLengthMaximum { return .queueFull }
            state.waiting.append(call)
            return nil
        }
    }

    private static func work(on state: Monitor<State>) {
        while true {
            let next: Call? = state.wait { state in
                if state.isStopped { return .some(nil) }
                return state.waiting.isEmpty ? nil : .some(state.waiting.removeFirst())
            }
            guard let next else { return }
            if next.isWanted() { next.body() }
        }
    }
}

/// Why a blocking call has no result.
package enum WorkerPoolError: Error, Equatable, Sendable {
    /// Too many calls wait.
    case queueFull
    /// The result did not arrive within the limit.
    case deadlineExceeded
    /// The pool has stopped.
    case stopped
}

private struct Call: Sendable {
    /// Whether the caller still waits for the result.
    let isWanted: @Sendable () -> Bool
    let body: @Sendable () -> Void
    let refuse: @Sendable (WorkerPoolError) -> Void
}

private typealias AnswerContinuation<Value> = CheckedContinuation<Result<Value, WorkerPoolError>, Never>

/// Resumes its continuation with the first answer given, from any thread, and ignores later ones.
private final class OneAnswer<Value: Sendable>: Sendable {
    private struct State {
        var continuation: AnswerContinuation<Value>?
        var end: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>

    init(_ continuation: AnswerContinuation<Value>) {
        state = Mutex(State(continuation: continuation))
    }

    /// Whether no answer was given yet.
    var isWanted: Bool { state.withLock { $0.continuation != nil } }

    /// Sets a closure that runs with the first answer. It must be called before any answer can be given.
    func atEnd(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.end = body }
    }

    func give(_ answer: Result<Value, WorkerPoolError>) {
        let (continuation, end) = state.withLock { state in
            defer { state = State() }
            return (state.continuation, state.end)
        }
        end?()
        continuation?.resume(returning: answer)
    }
}
