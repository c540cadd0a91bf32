import Synchronization

/// The number that a node counts up in the nodes' database (`DecisionKeeping`).
package final class NodeMark: Sendable {
    private struct State {
        var latest: Int64 = 0
        /// Whether a decision was kept under the latest number.
        var isUsed = false
    }

    private let state = Mutex(State())

    package init() {}

    /// The latest number.
    package var latest: Int64 { state.withLock { $0.latest } }

    /// Returns the mark under which a decision is kept that was settled just now.
    func use() -> Int64 {
        state.withLock { state in
            state.isUsed = true
            return state.latest
        }
    }

    /// Returns the number to send now: a new one if decisions were kept under the latest one.
    func next() -> Int64 {
        state.withLock { state in
            if state.isUsed || state.latest == 0 { state.latest += 1 }
            state.isUsed = false
            return state.latest
        }
    }

    func raise(to number: Int64) {
        state.withLock { $0.latest = max($0.latest, number) }
    }
}
