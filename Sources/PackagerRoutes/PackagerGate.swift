import Entitlements
import HTTPMessages
package import HTTPServing
import Licensing
package import PackagerAPI
import RouteKit
package import Telemetry

/// Decides which packager sends a request, and how often it may ask (packagers, section 7.4).
///
/// It checks in this order that no other machine could read the secret on the way, which packager the secret belongs
/// to, and that the packager may ask now. `Packager.permits` then decides what the packager may do with a content. A
/// `GuessLimiter` answers most of many wrong credentials with a wait, as for administrators.
package final class PackagerGate: Sendable {
    /// Why a request is refused.
    package enum Refusal: Error, Equatable {
        /// Plain HTTP from another machine, without a trusted proxy between. The credential was not checked.
        case plaintext
        /// The request does not come from a packager. The answer must not show which case it is.
        case credential(PackagerRefusal)
        /// The credential is wrong, and the client's network has presented too many wrong ones.
        case slowed(retryAfterSeconds: Int64)
        /// The packager of this name sends too many requests.
        case rate(packager: String, retryAfterSeconds: Int64)

        /// The cause for the log.
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

        /// What the gate looked at and what it would have accepted, for the log.
        func values(of request: HTTPRequest, in directory: PackagerDirectory) -> CheckedValues {
            switch self {
            case .plaintext:
                CheckedValues(
                    found: "plain HTTP from another machine", expected: "TLS, or a proxy that trustedProxies names")
            case .credential(.disabled(let name)):
                CheckedValues(found: "a credential of \(name), which is disabled", expected: "disabled: false")
            case .credential: directory.values(of: PackagerCredentials(request))
            case .slowed:
                CheckedValues(
                    found: "more wrong credentials than the client's network may present",
                    expected: "\(GuessLimiter.wrongMaximum) at once, then one in \(GuessLimiter.wrongInterval)")
            case .rate(let name, _): CheckedValues(found: "too many requests of the packager \(name)")
            }
        }

        /// The packager whose credential was presented; nil if it is not known.
        var packager: String? {
            switch self {
            case .credential(.disabled(let name)), .rate(let name, _): name
            case .plaintext, .credential, .slowed: nil
            }
        }

        var retryAfterSeconds: Int64? {
            switch self {
            case .plaintext, .credential: nil
            case .slowed(let seconds), .rate(_, let seconds): seconds
            }
        }
    }

    /// Why a presented credential was refused; the labels of a metric.
    package enum CredentialRefusal: String, MetricLabels {
        /// The credential belongs to no packager, or to a disabled one.
        case wrong
        /// The credential is wrong too, but was answered with a wait: its network has sent too many wrong ones.
        case slowed

        package static let labelNames = ["reason"]
    }

    private let guesses: GuessLimiter
    private let rates: RateLimiter<String>
    private let refusedCredentials: MetricFamily<CredentialRefusal, Counter>

    /// - Parameter refusedCredentials: Counts refused secrets, for all listeners together.
    package init(
        countingIn refusedCredentials: MetricFamily<CredentialRefusal, Counter>,
        clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        guesses = GuessLimiter(clock: clock)
        rates = RateLimiter(capacity: 4096, clock: clock)
        self.refusedCredentials = refusedCredentials
    }

    /// The packager that sends the request, found by the head of the request.
    ///
    /// It does not count towards the packager's rate limit. So it can be called for the head before the body is read,
    /// and again for the whole request.
    package func sender(of request: HTTPRequest, in directory: PackagerDirectory) throws(Refusal) -> Packager {
        guard request.peer.hidesSecrets else { throw .plaintext }
        let credentials = PackagerCredentials(request)
        do throws(PackagerRefusal) {
            return try directory.judge(credentials)
        } catch {
            // A disabled packager's secret counts too. Otherwise the missing wait would show that it is right.
            if credentials.maySpellAGuess {
                if let seconds = guesses.waitSeconds(afterWrongSecretOf: request.peer) {
                    refusedCredentials[.slowed].increment()
                    throw .slowed(retryAfterSeconds: seconds)
                }
                refusedCredentials[.wrong].increment()
            }
            throw .credential(error)
        }
    }

    /// Counts a request of a packager, or refuses it because the packager asks too often.
    package func admit(_ packager: Packager) throws(Refusal) {
        guard let rate = packager.rate, let wait = rates.take(packager.name, at: rate) else { return }
        // Rounded up, because a packager that comes back too early is refused again.
        throw .rate(packager: packager.name, retryAfterSeconds: (wait + .nanoseconds(999_999_999)).components.seconds)
    }
}

extension PackagerCredentials {
    /// The credentials that a request presents.
    init(_ request: HTTPRequest) {
        // The certificate on a proxy's connection is the proxy's own, not the packager's.
        let certificate = request.peer.isBehindTrustedProxy ? nil : request.peer.tls?.clientCertificate
        self.init(
            authorization: request.fields.allBytes(of: "Authorization"),
            apiKeys: request.fields.allBytes(of: "x-api-key"),
            certificate: certificate.map { .init(subject: $0.subject, sha256: $0.sha256) })
    }
}

extension HTTPPeer {
    /// Whether the request came by TLS, from this machine, or from a trusted proxy, so that no other machine could read
    /// it on the way.
    ///
    /// How clients reach the proxy is the operator's responsibility.
    var hidesSecrets: Bool { tls != nil || isBehindTrustedProxy || hasProxyHeader || isLoopback }
}
