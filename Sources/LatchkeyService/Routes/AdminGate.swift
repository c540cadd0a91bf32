import Entitlements
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import POSIXSockets
import ServiceConfiguration
import Synchronization
import Telemetry

/// Decides whether a request comes from the administrator: by the name that it asks for, and by its token.
///
/// Wrong tokens are slowed down: each client network has a few of them at once and then one in a second. Until then no
/// token of that network is looked at, so that guesses cannot be tried faster.
final class AdminGate: Sendable {
    /// Wrong tokens that one network may present at once, and the time after which it may present another one.
    static let wrongTokensMaximum = 10
    static let wrongTokenInterval: Duration = .seconds(1)
    /// So many networks are remembered; the others are forgotten together.
    static let networksMaximum = 1024

    /// Why a request is refused.
    struct Refusal: Error, Equatable {
        let code: ProblemCode
        var cause: String
        var retryAfterSeconds: Int64?
    }

    /// Why a token that was presented opened nothing; the labels of a metric.
    enum TokenRefusal: String, MetricLabels {
        /// It was looked at, and is no administrator's.
        case wrong
        /// It was not looked at, because of the wrong ones of its network before.
        case slowed

        static let labelNames = ["reason"]
    }

    private struct Network: Hashable {
        /// Nil for clients of a unix socket.
        let address: IPAddress?
    }

    /// Names beside numeric addresses and `localhost` by which the listener may be asked. Empty: any name, if there is
    /// a token.
    private let hosts: Set<String>
    private let clock: any MonotonicClock
    private let refusedTokens: MetricFamily<TokenRefusal, Counter>
    /// For each network when it will have presented no wrong token for long enough.
    private let wrongTokens = Mutex<[Network: MonotonicTime]>([:])

    /// - Parameter refusedTokens: Counts tokens that open nothing, for all admin listeners together.
    init(
        hosts: Set<String> = [], countingIn refusedTokens: MetricFamily<TokenRefusal, Counter>,
        clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        self.hosts = hosts
        self.refusedTokens = refusedTokens
        self.clock = clock
    }

    /// Networks that are remembered.
    var rememberedCount: Int { wrongTokens.withLock { $0.count } }

    // MARK: Names

    /// Why the listener must not be asked by this name; nil if it may. A web page that has its own name point to this
    /// machine sends that name, so a listener that asks for no token takes numbers, `localhost` and listed names alone.
    func refusal(ofHostIn request: HTTPRequest, hasToken: Bool) -> Refusal? {
        guard let host = request.fields["Host"], !host.isEmpty else { return nil }
        if hosts.isEmpty && hasToken { return nil }
        let name = Self.name(in: host)
        if name == "localhost" || IPAddress(name) != nil || hosts.contains(name) { return nil }
        return Refusal(code: .badRequest, cause: "the name in Host is not in listeners.admin[].hosts")
    }

    /// The host without its port and brackets, in lower case.
    private static func name(in host: String) -> String {
        var name = host.lowercased()[...]
        if name.hasPrefix("["), let end = name.firstIndex(of: "]") {
            name = name[..<end].dropFirst()
        } else if let colon = name.lastIndex(of: ":") {
            name = name[..<colon]
        }
        return String(name)
    }

    // MARK: Tokens

    /// The name of the token that a request presents. Throws why the sender is no administrator.
    func holder(
        in request: HTTPRequest, of tokens: [LoadedConfiguration.AdminToken]
    ) throws(Refusal) -> String {
        guard case .one(let presented) = BearerToken.presented(in: request.fields) else {
            throw Refusal(code: .adminTokenInvalid, cause: "no token, or more than one")
        }
        let network = Network(address: request.peer.address.ip?.clientNetwork)
        if let wait = wait(of: network) {
            refusedTokens[.slowed].increment()
            throw Refusal(
                code: .rateLimited, cause: "too many wrong tokens of this network",
                retryAfterSeconds: (wait + .nanoseconds(999_999_999)).components.seconds)
        }
        // With every token in constant time, so that the time tells nothing of them.
        let secret = SecretBytes(copying: presented)
        var holder: String?
        for token in tokens where token.secret.bytes.isEqual(to: secret) { holder = holder ?? token.name }
        if let holder { return holder }
        noteWrongToken(of: network)
        throw Refusal(code: .adminTokenInvalid, cause: "a wrong token")
    }

    private func wait(of network: Network) -> Duration? {
        let now = clock.monotonicTime
        return wrongTokens.withLock { wrongTokens in
            guard let clearAt = wrongTokens[network] else { return nil }
            let wait = clearAt - now - Self.wrongTokenInterval * (Self.wrongTokensMaximum - 1)
            return wait > .zero ? wait : nil
        }
    }

    private func noteWrongToken(of network: Network) {
        refusedTokens[.wrong].increment()
        let now = clock.monotonicTime
        wrongTokens.withLock { wrongTokens in
            if wrongTokens.count >= Self.networksMaximum {
                wrongTokens = wrongTokens.filter { now < $0.value }
                if wrongTokens.count >= Self.networksMaximum { wrongTokens = [:] }
            }
            wrongTokens[network] = max(now, wrongTokens[network] ?? now) + Self.wrongTokenInterval
        }
    }
}
