import Synchronization

/// Calls a closure once so many things have ended.
final class Countdown: Sendable {
    private struct State {
        var left = 0
        var atEnd: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    func start(_ count: Int, atEnd: @escaping @Sendable () -> Void) {
        state.withLock { $0 = State(left: count, atEnd: atEnd) }
    }

    /// Notes that one of them has ended.
    func count() {
        let atEnd = state.withLock { state in
            state.left -= 1
            return state.left == 0 ? state.atEnd : nil
        }
        atEnd?()
    }
}
