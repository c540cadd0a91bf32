import ByteCoding
package import HTTPServing
import KeyCrypto
import POSIXSockets
import Synchronization
package import Telemetry

/// Slows down guesses at secrets: each client network may present a few wrong ones quickly, and then one per second.
///
/// The caller asks for the wait before it checks a secret. So a client cannot guess faster, and does not learn that a
/// guess is right before the wait is over.
///
/// There is no wait for a secret that was right for the same network within the last hour. Otherwise the guesses of one
/// client would lock out another client behind the same address. For a client of another network, such a secret is as
/// slow as a wrong one. All threads may use the limiter at the same time.
package final class GuessLimiter: Sendable {
    /// The number of wrong secrets that one network may present without a wait.
    package static let wrongMaximum = 10
    /// The time after which a network may present one more wrong secret.
    package static let wrongInterval: Duration = .seconds(1)
    /// The time for which a right secret is remembered after its last use.
    package static let rightLife: Duration = .seconds(3600)
    /// The most networks that are remembered for wrong secrets. If there are more, all of them are forgotten.
    static let networksMaximum = 1024
    /// The most right secrets that are remembered, each for one network. If there are more, all of them are forgotten.
    static let rightMaximum = 4096

    private struct Network: Hashable {
        /// Nil for clients of a unix socket.
        let address: IPAddress?

        init(_ peer: HTTPPeer) {
            address = peer.address.ip?.clientNetwork
        }
    }

    /// A secret that was right for a network.
    private struct Right: Hashable {
        let network: Network
        /// Made with the key of this limiter, so that the time of a look-up tells nothing about the secret.
        let digest: Bytes32
    }

    private struct State {
        /// For each network, the time at which all its wrong secrets will be forgotten.
        var clearTimes: [Network: MonotonicTime] = [:]
        /// For each right secret, the time at which it will be forgotten.
        var rightEnds: [Right: MonotonicTime] = [:]
    }

    private let clock: any MonotonicClock
    /// Nil if OpenSSL has no random bytes. Then no secret is remembered as right.
    private let digestKey = try? HMACSHA256Key(SecretBytes.random(count: HMACSHA256Key.codeSize))
    private let state = Mutex(State())

    package init(clock: any MonotonicClock = SystemMonotonicClock()) {
        self.clock = clock
    }

    /// The number of networks that are remembered for wrong secrets.
    var rememberedCount: Int { state.withLock { $0.clearTimes.count } }

    /// The number of right secrets that are remembered.
    var rightCount: Int { state.withLock { $0.rightEnds.count } }

    /// The wait before a secret from the peer's network is checked, in whole seconds, at least 1. Nil for no wait.
    /// `secret` is nil if the request presents something that cannot be one.
    package func waitSeconds(of peer: HTTPPeer, with secret: [UInt8]?) -> Int64? {
        let now = clock.monotonicTime
        let clearAt = state.withLock { $0.clearTimes[Network(peer)] }
        guard let clearAt else { return nil }
        let wait = clearAt - now - Self.wrongInterval * (Self.wrongMaximum - 1)
        guard wait > .zero else { return nil }
        if let right = right(secret, of: peer), state.withLock({ now < $0.rightEnds[right] ?? now }) { return nil }
        return (wait + .nanoseconds(999_999_999)).components.seconds
    }

    /// Notes that the peer has presented a wrong secret. It may have been right before.
    package func noteWrongSecret(_ secret: [UInt8]?, of peer: HTTPPeer) {
        let now = clock.monotonicTime
        let network = Network(peer)
        let right = right(secret, of: peer)
        state.withLock { state in
            if let right { state.rightEnds[right] = nil }
            Self.makeRoom(in: &state.clearTimes, below: Self.networksMaximum, now)
            state.clearTimes[network] = max(now, state.clearTimes[network] ?? now) + Self.wrongInterval
        }
    }

    /// Notes that the peer has presented a right secret. What the network has guessed before still counts.
    package func noteRightSecret(_ secret: [UInt8], of peer: HTTPPeer) {
        guard let right = right(secret, of: peer) else { return }
        let now = clock.monotonicTime
        state.withLock { state in
            Self.makeRoom(in: &state.rightEnds, below: Self.rightMaximum, now)
            state.rightEnds[right] = now + Self.rightLife
        }
    }

    private func right(_ secret: [UInt8]?, of peer: HTTPPeer) -> Right? {
        guard let secret, let digest = try? digestKey?.value(for: secret[...]) else { return nil }
        return Right(network: Network(peer), digest: digest)
    }

    private static func makeRoom<Key>(
        in ends: inout [Key: MonotonicTime], below maximum: Int, _ now: MonotonicTime
    ) {
        guard ends.count >= maximum else { return }
        ends = ends.filter { now < $0.value }
        if ends.count >= maximum { ends = [:] }
    }
}
