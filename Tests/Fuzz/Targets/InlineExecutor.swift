import Synchronization

/// Runs the pieces of a task at once, on the thread that would enqueue them.
final class InlineExecutor: TaskExecutor {
    /// What `body` gives. It must never wait: it runs to its end within this call, on this thread.
    static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () async throws(Failure) -> Value
    ) throws -> Result<Value, Failure> {
        let box = ResultBox<Value, Failure>()
        Task(executorPreference: InlineExecutor()) {
            do throws(Failure) {
                box.fill(.success(try await body()))
            } catch {
                box.fill(.failure(error))
            }
        }
        return try require(box.result, "what was run has not waited")
    }

    func enqueue(_ job: consuming ExecutorJob) {
        unsafe UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }

    private final class ResultBox<Value: Sendable, Failure: Error>: Sendable {
        private let content = Mutex<Result<Value, Failure>?>(nil)

        var result: Result<Value, Failure>? { content.withLock { $0 } }

        func fill(_ result: Result<Value, Failure>) {
            content.withLock { $0 = result }
        }
    }
}
