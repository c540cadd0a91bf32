package import EventLoops
import Synchronization

/// The connections to the nodes' database on which this node may decide.
///
/// A new connection may lead to another database: one that has taken over, and lacks the last commits. It would give a
/// use again that this node has given. So `Recount` first settles there what this node has decided lately.
package final class SettledConnections: Sendable {
    /// How long a decision waits for such a connection.
    private static let patience: Duration = .milliseconds(200)

    private struct State {
        var newest = 0
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var nextWaiter: UInt64 = 0
        /// Whether waiting is worth it: false after a caller has waited in vain.
        var isHopeful = true
    }

    private let loops: [LoopContext]
    private let state = Mutex(State())

    /// - Parameter loops: Where timers run; at least one loop.
    package init(on loops: [LoopContext]) {
        precondition(!loops.isEmpty, "timers need a loop")
        self.loops = loops
    }

    /// The number of the newest connection on which decisions may run; 0 before the first pass.
    var newest: Int { state.withLock { $0.newest } }

    /// Allows decisions on connections up to this number. Called after each pass of the recount.
    package func allow(upTo newest: Int) {
        let waiting = state.withLock { state -> [UInt64: CheckedContinuation<Bool, Never>] in
            state.isHopeful = true
            guard newest > state.newest else { return [:] }
            state.newest = newest
            defer { state.waiting = [:] }
            return state.waiting
        }
        for caller in waiting.values { caller.resume(returning: true) }
    }

    /// Waits for a newer connection than `newest` on which decisions may run. Returns false if that takes too long.
    /// After that no caller waits until a pass has ended, so that requests do not wait in an outage.
    func waitForNewer(than newest: Int) async -> Bool {
        await withCheckedContinuation { caller in
            let (waiter, isThere) = state.withLock { state -> (UInt64?, Bool) in
                guard state.newest <= newest, state.isHopeful else { return (nil, state.newest > newest) }
                state.nextWaiter += 1
                state.waiting[state.nextWaiter] = caller
                return (state.nextWaiter, false)
            }
            guard let waiter else { return caller.resume(returning: isThere) }
            let loop = loops.first(where: \.isCurrent) ?? loops[0]
            let isAccepted = loop.execute { [self] in
                _ = loop.schedule(after: Self.patience) { [self] in giveUp(waiter) }
            }
            if !isAccepted { giveUp(waiter) }
        }
    }

    private func giveUp(_ waiter: UInt64) {
        let caller = state.withLock { state in
            let caller = state.waiting.removeValue(forKey: waiter)
            if caller != nil { state.isHopeful = false }
            return caller
        }
        caller?.resume(returning: false)
    }
}
