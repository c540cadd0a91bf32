import ContentKeys
import EventLoops
import Synchronization
import Telemetry

/// Runs what blocks on a thread of its own, one after the other, so that no caller's thread waits for a disk. The
/// thread starts with the first call, and ends with this value.
final class BlockingThread: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isStopped = false
    }

    /// How many calls may wait.
    private static let queueLengthMaximum = 256

    private let name: String
    private let state = Monitor(State())
    private let isStarted = Mutex(false)

    init(name: String) {
        self.name = name
    }

    deinit {
        // Callers hold this value until they are answered, so nothing waits any more.
        state.update { $0.isStopped = true }
    }

    /// Throws `unavailable(.busy)` if too many calls wait, or the system gives no thread.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async throws(StoreError) -> Value {
        guard start() else { throw .unavailable(.busy) }
        let answer: Value? = await withCheckedContinuation { continuation in
            let isAccepted = state.update { state in
                guard state.waiting.count < Self.queueLengthMaximum else { return false }
                state.waiting.append { continuation.resume(returning: body()) }
                return true
            }
            if !isAccepted { continuation.resume(returning: nil) }
        }
        guard let answer else { throw .unavailable(.busy) }
        return answer
    }

    private func start() -> Bool {
        isStarted.withLock { isStarted in
            if isStarted { return true }
            // The thread holds the state alone, and is not waited for: its end may be on a loop.
            do throws(EventLoopError) {
                let thread = try NativeThread(name: name) { [state] in Self.work(on: state) }
                thread.detach()
                isStarted = true
            } catch {
                // The next call tries again.
            }
            return isStarted
        }
    }

    private static func work(on state: Monitor<State>) {
        while true {
            let next: (@Sendable () -> Void)? = state.wait { state in
                if !state.waiting.isEmpty { return .some(state.waiting.removeFirst()) }
                return state.isStopped ? .some(nil) : nil
            }
            guard let next else { return }
            next()
        }
    }
}
