package import HTTPServing
import POSIXSockets
import Synchronization
package import Telemetry

/// Slows down guesses at secrets: each client network may present a few wrong ones quickly, and then one per second.
///
/// The caller asks for the wait before it checks a secret. So a client cannot guess faster, and does not learn that a
/// guess is right before the wait is over. All threads may use it at the same time.
package final class GuessLimiter: Sendable {
    /// The number of wrong secrets that one network may present without a wait.
    package static let wrongMaximum = 10
    /// The time after which a network may present one more wrong secret.
    package static let wrongInterval: Duration = .seconds(1)
    /// The most networks that are remembered. If more send wrong secrets, all of them are forgotten.
    static let networksMaximum = 1024

    private struct Network: Hashable {
        /// Nil for clients of a unix socket.
        let address: IPAddress?

        init(_ peer: HTTPPeer) {
            address = peer.address.ip?.clientNetwork
        }
    }

    private let clock: any MonotonicClock
    /// For each network, the time at which all its wrong secrets will be forgotten.
    private let clearTimes = Mutex<[Network: MonotonicTime]>([:])

    package init(clock: any MonotonicClock = SystemMonotonicClock()) {
        self.clock = clock
    }

    /// The number of networks that are remembered.
    var rememberedCount: Int { clearTimes.withLock { $0.count } }

    /// The wait before a secret from the peer's network is checked, in whole seconds, at least 1. Nil for no wait.
    package func waitSeconds(of peer: HTTPPeer) -> Int64? {
        let now = clock.monotonicTime
        return clearTimes.withLock { clearTimes in
            guard let clearAt = clearTimes[Network(peer)] else { return nil }
            let wait = clearAt - now - Self.wrongInterval * (Self.wrongMaximum - 1)
            return wait > .zero ? (wait + .nanoseconds(999_999_999)).components.seconds : nil
        }
    }

    /// Notes that the peer has presented a wrong secret.
    package func noteWrongSecret(of peer: HTTPPeer) {
        let now = clock.monotonicTime
        let network = Network(peer)
        clearTimes.withLock { clearTimes in
            if clearTimes.count >= Self.networksMaximum {
                clearTimes = clearTimes.filter { now < $0.value }
                if clearTimes.count >= Self.networksMaximum { clearTimes = [:] }
            }
            clearTimes[network] = max(now, clearTimes[network] ?? now) + Self.wrongInterval
        }
    }
}
