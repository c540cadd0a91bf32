import ContentKeys
import EventLoops
import Synchronization
import Telemetry

/// Runs blocking calls one after the other on a thread of its own, so that no caller's thread waits for a disk.
///
/// The thread starts with the first call. It ends when this value is released.
final class BlockingThread: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isStopped = false
    }

    /// The largest number of calls that may wait.
    private static let queueLengthMaximum = 256

    private let name: String
    private let state = Monitor(State())
    private let isStarted = Mutex(false)

    init(name: String) {
        self.name = name
    }

    deinit {
        // Each caller holds this value until it has its answer, so no call waits any more.
        state.update { $0.isStopped = true }
    }

    /// Runs `body` on the thread and returns its result.
    ///
    /// Throws `unavailable(.busy)` if too many calls wait, or if the system cannot start a thread.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async throws(StoreError) -> Value {
        guard start() else { throw .unavailable(.busy) }
        // Safe: only the thread uses it from here on. It is released before the caller goes on, so that nothing that
        // the call needs, such as an open database, outlives the call.
        nonisolated(unsafe) var body: (@Sendable () -> Value)? = body
        let answer: Value? = await withCheckedContinuation { continuation in
            let isAccepted = state.update { state in
                guard state.waiting.count < Self.queueLengthMaximum else { return false }
                state.waiting.append {
                    let answer = unsafe body?()
                    unsafe body = nil
                    continuation.resume(returning: answer)
                }
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
            // The thread refers only to the state. It is detached because `deinit` may run on a loop, which must not
            // wait.
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
