package import HTTPServing
import POSIXSockets
import Synchronization
package import Telemetry

/// Decides how wrong secrets are answered: each client network may present a few quickly, and then one per second. More
/// are answered with a wait.
///
/// The caller checks every secret first, and asks only about wrong ones. So a right secret is never refused, and the
/// guesses of one client lock out no other client behind the same address. The wait asks programs with an old secret to
/// slow down. It does not protect secrets: their length does. All threads may use the limiter at the same time.
package final class GuessLimiter: Sendable {
    /// The number of wrong secrets that one network may present without a wait.
    package static let wrongMaximum = 10
    /// The time after which a network may present one more wrong secret.
    package static let wrongInterval: Duration = .seconds(1)
    /// The most networks that are remembered. If there are more, all of them are forgotten.
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

    /// Notes that the peer has presented a wrong secret. Returns the wait to answer with, in whole seconds, at least 1;
    /// nil if the peer's network has not presented too many.
    ///
    /// A wrong secret that is answered with a wait does not make the next wait longer.
    package func waitSeconds(afterWrongSecretOf peer: HTTPPeer) -> Int64? {
        let now = clock.monotonicTime
        let network = Network(peer)
        return clearTimes.withLock { clearTimes in
            let clearAt = max(now, clearTimes[network] ?? now)
            let wait = clearAt - now - Self.wrongInterval * (Self.wrongMaximum - 1)
            guard wait <= .zero else { return (wait + .nanoseconds(999_999_999)).components.seconds }
            if clearTimes.count >= Self.networksMaximum {
                clearTimes = clearTimes.filter { now < $0.value }
                if clearTimes.count >= Self.networksMaximum { clearTimes = [:] }
            }
            clearTimes[network] = clearAt + Self.wrongInterval
            return nil
        }
    }
}
