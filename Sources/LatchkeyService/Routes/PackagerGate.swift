import Entitlements
import HTTPMessages
import HTTPServing
import Licensing
import PackagerAPI
import Telemetry

/// Decides which packager sends a request, and how often it may ask (packagers, section 7.4).
///
/// Three questions in this order: whether the request came in a way that shows its secret to no stranger, whose it is,
/// and whether its packager may ask now. What the packager may do with a content is for `Packager.permits` to say.
/// Wrong credentials are slowed down as those of administrators are.
final class PackagerGate: Sendable {
    /// Why a request is refused.
    enum Refusal: Error, Equatable {
        /// Plain HTTP from another machine, without a trusted proxy between. The credential was not looked at.
        case plaintext
        /// The request comes from no packager. The answer must not tell which case it is.
        case credential(PackagerRefusal)
        /// Its network has presented too many wrong credentials. This one was not looked at.
        case slowed(retryAfterSeconds: Int64)
        /// The packager of this name asks too often.
        case rate(packager: String, retryAfterSeconds: Int64)

        /// For the log.
        var cause: RefusalCause {
            switch self {
            case .plaintext: RefusalCause("plain HTTP from another machine, without a trusted proxy")
            case .credential(.missing): RefusalCause("no packager's credential")
            case .credential(.malformed): RefusalCause("a credential that is not readable, or of an unknown scheme")
            case .credential(.ambiguous): RefusalCause("two different credentials")
            case .credential(.wrong): RefusalCause("a wrong credential")
            case .credential(.disabled(let name)): RefusalCause("the packager \(name) is disabled")
            case .slowed: RefusalCause("too many wrong credentials of this network")
            case .rate(let name, _): RefusalCause("too many requests of the packager \(name)")
            }
        }

        var retryAfterSeconds: Int64? {
            switch self {
            case .plaintext, .credential: nil
            case .slowed(let seconds), .rate(_, let seconds): seconds
            }
        }
    }

    /// Why a credential that was presented opened nothing; the labels of a metric.
    enum CredentialRefusal: String, MetricLabels {
        /// It was looked at, and is no packager's, or that of a disabled one.
        case wrong
        /// It was not looked at, because of the wrong ones of its network before.
        case slowed

        static let labelNames = ["reason"]
    }

    private let guesses: GuessLimiter
    private let rates: RateLimiter<String>
    private let refusedCredentials: MetricFamily<CredentialRefusal, Counter>

    /// - Parameter refusedCredentials: Counts secrets that open nothing, for all listeners together.
    init(
        countingIn refusedCredentials: MetricFamily<CredentialRefusal, Counter>,
        clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        guesses = GuessLimiter(clock: clock)
        rates = RateLimiter(capacity: 4096, clock: clock)
        self.refusedCredentials = refusedCredentials
    }

    /// The packager that sends the request, by its head alone. Takes nothing of the packager's rate, so that the head
    /// can be judged before the body, and the whole request after it.
    func sender(of request: HTTPRequest, in directory: PackagerDirectory) throws(Refusal) -> Packager {
        guard request.peer.hidesSecrets else { throw .plaintext }
        let credentials = PackagerCredentials(request)
        if credentials.maySpellAGuess, let seconds = guesses.waitSeconds(of: request.peer) {
            refusedCredentials[.slowed].increment()
            throw .slowed(retryAfterSeconds: seconds)
        }
        do throws(PackagerRefusal) {
            return try directory.judge(credentials)
        } catch {
            // A disabled packager's secret counts too, or the wait would tell that it is right.
            if credentials.maySpellAGuess {
                guesses.noteWrongSecret(of: request.peer)
                refusedCredentials[.wrong].increment()
            }
            throw .credential(error)
        }
    }

    /// Counts a request of a packager, or refuses it because the packager asks too often.
    func admit(_ packager: Packager) throws(Refusal) {
        guard let rate = packager.rate, let wait = rates.take(packager.name, at: rate) else { return }
        // Rounded up: a packager that comes back too early is refused again.
        throw .rate(packager: packager.name, retryAfterSeconds: (wait + .nanoseconds(999_999_999)).components.seconds)
    }
}

extension PackagerCredentials {
    /// What a request presents.
    init(_ request: HTTPRequest) {
        // The connection of a proxy that sends requests on has the proxy's own certificate.
        let certificate = request.peer.isBehindTrustedProxy ? nil : request.peer.tls?.clientCertificate
        self.init(
            authorization: request.fields.allBytes(of: "Authorization"),
            apiKeys: request.fields.allBytes(of: "x-api-key"),
            certificate: certificate.map { .init(subject: $0.subject, sha256: $0.sha256) })
    }
}

extension HTTPPeer {
    /// Whether no other machine can read the request on its way to this one, as far as it can be known: it came with
    /// TLS, from this machine, or from a trusted proxy. How clients reach the proxy is the operator's concern.
    var hidesSecrets: Bool { tls != nil || isBehindTrustedProxy || hasProxyHeader || isLoopback }
}
