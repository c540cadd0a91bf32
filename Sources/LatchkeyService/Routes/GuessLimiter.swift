import HTTPServing
import POSIXSockets
import Synchronization
import Telemetry

/// Slows down guesses at secrets: each client network may present a few wrong ones at once, and then one in a second.
///
/// The caller asks for the wait before it looks at a secret. So guesses cannot be tried faster, and a right one is not
/// told either until the wait is over. All threads may use it at once.
final class GuessLimiter: Sendable {
    /// Wrong secrets that one network may present at once, and the time after which it may present another one.
    static let wrongMaximum = 10
    static let wrongInterval: Duration = .seconds(1)
    /// So many networks are remembered; the others are forgotten together.
    static let networksMaximum = 1024

    private struct Network: Hashable {
        /// Nil for clients of a unix socket.
        let address: IPAddress?

        init(_ peer: HTTPPeer) {
            address = peer.address.ip?.clientNetwork
        }
    }

    private let clock: any MonotonicClock
    /// For each network when it will have presented no wrong secret for long enough.
    private let clearTimes = Mutex<[Network: MonotonicTime]>([:])

    init(clock: any MonotonicClock = SystemMonotonicClock()) {
        self.clock = clock
    }

    /// Networks that are remembered.
    var rememberedCount: Int { clearTimes.withLock { $0.count } }

    /// How long the peer's network must wait until a secret of it is looked at, in whole seconds and at least one. Nil
    /// if it need not wait.
    func waitSeconds(of peer: HTTPPeer) -> Int64? {
        let now = clock.monotonicTime
        return clearTimes.withLock { clearTimes in
            guard let clearAt = clearTimes[Network(peer)] else { return nil }
            let wait = clearAt - now - Self.wrongInterval * (Self.wrongMaximum - 1)
            return wait > .zero ? (wait + .nanoseconds(999_999_999)).components.seconds : nil
        }
    }

    /// Notes that the peer has presented a wrong secret.
    func noteWrongSecret(of peer: HTTPPeer) {
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
