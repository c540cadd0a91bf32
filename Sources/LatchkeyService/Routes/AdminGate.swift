import Entitlements
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import POSIXSockets
import ServiceConfiguration
import Telemetry

/// Decides whether a request comes from the administrator: by the name that it asks for, and by its token.
///
/// Wrong tokens are slowed down, as `GuessLimiter` has it.
final class AdminGate: Sendable {
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

    /// Names beside numeric addresses and `localhost` by which the listener may be asked. Empty: any name, if there is
    /// a token.
    private let hosts: Set<String>
    private let guesses: GuessLimiter
    private let refusedTokens: MetricFamily<TokenRefusal, Counter>

    /// - Parameter refusedTokens: Counts tokens that open nothing, for all admin listeners together.
    init(
        hosts: Set<String> = [], countingIn refusedTokens: MetricFamily<TokenRefusal, Counter>,
        clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        self.hosts = hosts
        self.refusedTokens = refusedTokens
        guesses = GuessLimiter(clock: clock)
    }

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
        if let seconds = guesses.waitSeconds(of: request.peer) {
            refusedTokens[.slowed].increment()
            throw Refusal(
                code: .rateLimited, cause: "too many wrong tokens of this network", retryAfterSeconds: seconds)
        }
        // With every token in constant time, so that the time tells nothing of them.
        let secret = SecretBytes(copying: presented)
        var holder: String?
        for token in tokens where token.secret.bytes.isEqual(to: secret) { holder = holder ?? token.name }
        if let holder { return holder }
        refusedTokens[.wrong].increment()
        guesses.noteWrongSecret(of: request.peer)
        throw Refusal(code: .adminTokenInvalid, cause: "a wrong token")
    }
}
