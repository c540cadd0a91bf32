import Entitlements
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import POSIXSockets
import ServiceConfiguration
import Telemetry

/// Decides whether a request comes from an administrator, by its host name and its token.
///
/// A `GuessLimiter` slows down clients that send wrong tokens.
final class AdminGate: Sendable {
    /// Why a request is refused.
    struct Refusal: Error, Equatable {
        let code: ProblemCode
        var cause: String
        var retryAfterSeconds: Int64?
    }

    /// Why a presented token was refused; the labels of a metric.
    enum TokenRefusal: String, MetricLabels {
        /// The token was checked, and is not an administrator's.
        case wrong
        /// The token was not checked, because its network has sent wrong ones before.
        case slowed

        static let labelNames = ["reason"]
    }

    /// The host names that requests may have, besides numeric addresses and `localhost`.
    ///
    /// If empty, a listener with a token accepts any name.
    private let hosts: Set<String>
    private let guesses: GuessLimiter
    private let refusedTokens: MetricFamily<TokenRefusal, Counter>

    /// - Parameter refusedTokens: Counts refused tokens, for all admin listeners together.
    init(
        hosts: Set<String> = [], countingIn refusedTokens: MetricFamily<TokenRefusal, Counter>,
        clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        self.hosts = hosts
        self.refusedTokens = refusedTokens
        guesses = GuessLimiter(clock: clock)
    }

    // MARK: Names

    /// The refusal for a request whose host name is not allowed; nil if it is allowed.
    ///
    /// A web page can make its own host name point to this machine (DNS rebinding), and requests from it then have that
    /// name. So a listener without a token accepts only numeric addresses, `localhost` and listed names.
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

    /// The name of the token that a request presents. Throws if the sender is not an administrator.
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
        // Compares with every token, each in constant time, so that the time does not show how much is right.
        let secret = SecretBytes(copying: presented)
        var holder: String?
        for token in tokens where token.secret.bytes.isEqual(to: secret) { holder = holder ?? token.name }
        if let holder { return holder }
        refusedTokens[.wrong].increment()
        guesses.noteWrongSecret(of: request.peer)
        throw Refusal(code: .adminTokenInvalid, cause: "a wrong token")
    }
}
