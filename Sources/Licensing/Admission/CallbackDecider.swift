import ByteCoding
package import Entitlements
package import EventLoops
import KeyCrypto
import Synchronization
package import Telemetry

/// Carries a question to the operator's service.
package protocol CallbackTransport: Sendable {
    /// Sends the question, and returns the body of the answer. The caller is a task on `loop`, and goes on there.
    func ask(_ question: CallbackQuestion, on loop: LoopContext) async throws(CallbackOutage) -> [UInt8]
}

/// Why the operator's service gave no answer that decides.
package enum CallbackOutage: Error, Equatable, Sendable {
    /// This server has too many questions under way. The service is not at fault.
    case busy
    /// The service has failed too often. It is not asked again for this many seconds, at least 1.
    case breakerOpen(seconds: Int64)
    case timedOut
    /// The host name of the service resolves to an address that is not allowed.
    case addressForbidden
    /// The connection failed; `code` is the error number of the HTTP library.
    case failed(code: UInt32)
    case status(Int)
    case answerTooLarge
    case answerInvalid(CallbackAnswerFault)
    /// The answer allows a license by claims or a token that this server refuses.
    case answerRefused(EntitlementError)
}

extension CallbackOutage: CustomStringConvertible {
    /// Words for the log.
    package var description: String {
        switch self {
        case .busy: "this server has too many questions under way"
        case .breakerOpen(let seconds): "it has failed so often that it is not asked for \(seconds) s"
        case .timedOut: "it did not answer in time"
        case .addressForbidden: "its name leads to an address that it may not have"
        case .failed(let code): "the connection failed (libcurl's error \(code))"
        case .status(let status): "it answered with status \(status)"
        case .answerTooLarge: "its answer is too large"
        case .answerInvalid(let fault): "its answer cannot be used: \(fault)"
        case .answerRefused(let error): "its answer allows a license by claims that are refused: \(error)"
        }
    }
}

/// Lets the operator's own service decide about tokens that only it can read (entitlement, section 4.9).
///
/// The content and the device stand inside the SPC, so an RSA operation is spent before the service can be asked. Only
/// these tokens allow that, and they have rates of their own. If the service has refused a content and track to a token
/// several times in a row, it is not asked about them for some seconds.
package final class CallbackDecider: Sendable {
    package struct Settings: Sendable {
        /// What happens to renewals while the service does not answer.
        package enum Failure: String, Sendable, CaseIterable {
            case closed
            /// A renewal is allowed for one more lease if its playback was allowed before.
            case grace
        }

        /// The name that takes the place of an issuer's name in the ledger and in revocations.
        package var name: String
        /// Every token from these sources is for the service.
        package var sources: Set<TokenSource>
        package var failure = Failure.closed
        package var memory = CallbackMemory.Limits()
        package var breaker = CircuitBreaker.Limits()
        /// How many SPCs may be opened for tokens that are not verified.
        package var rate = Rate(perSecond: 1000, burst: 2000)
        package var ratePerAddress = Rate(perSecond: 10, burst: 50)

        package init(name: String, sources: Set<TokenSource>) {
            self.name = name
            self.sources = sources
        }
    }

    private struct State {
        var breaker: CircuitBreaker
        var memory: CallbackMemory
    }

    package let settings: Settings
    package let counts: CallbackCounts
    private let transport: any CallbackTransport
    private let clock: any MonotonicClock
    private let state: Mutex<State>

    /// `counts` may be those of the decider before this one, so that a reload does not reset them.
    package init(
        _ settings: Settings, transport: any CallbackTransport, counts: CallbackCounts = CallbackCounts(),
        clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        self.settings = settings
        self.transport = transport
        self.counts = counts
        self.clock = clock
        state = Mutex(
            State(breaker: CircuitBreaker(settings.breaker), memory: CallbackMemory(settings.memory)))
    }

    /// Whether the service answers questions, as far as is known.
    package var isAvailable: Bool {
        state.withLock { state in
            if case .closed = state.breaker.state { return true }
            return false
        }
    }

    func decides(_ token: PresentedToken) -> Bool { settings.sources.contains(token.source) }

    /// The token as a party of its own, because only the service knows what the token says.
    func party(of token: PresentedToken, using crypto: CryptoContext) throws(CryptoError) -> TokenParty {
        .digest(try token.wholeDigest(using: crypto), issuer: settings.name)
    }

    static func single(_ token: PresentedToken) throws(LicenseError) -> [UInt8] {
        guard token.tokens.count == 1, let bytes = token.tokens.first else { throw .entitlement(.tokenAmbiguous) }
        guard bytes.count <= Token.sizeMaximum else {
            throw .entitlement(.tokenMalformed(.tooLarge(size: bytes.count)))
        }
        return bytes
    }

    /// The answer to a question, and what `noteIssued` needs once a license was issued by it.
    struct Decision {
        enum Origin { case service, memory, grace }

        let claims: Claims
        let origin: Origin
        let subject: CallbackMemory.Subject
    }

    /// Asks the service, unless it has answered the same question lately.
    ///
    /// `tokens` verifies a token that the service answers with. `wallTime` is in seconds since 1970.
    func decide(
        _ question: CallbackQuestion, tokens: VerifiedTokenCache, wallTime: Int64, using crypto: CryptoContext,
        on loop: LoopContext
    ) async throws(LicenseError) -> Decision {
        let subject = CallbackMemory.Subject(
            token: try Self.digest(of: question.token, crypto), content: question.content, device: question.device,
            use: question.use)
        if state.withLock({ [now] in $0.memory.isDenied(subject, now: now) }) {
            counts.note(.denied)
            throw .entitlementDenied(error: nil)
        }
        if let claims = state.withLock({ [now] in $0.memory.permission(for: subject, now: now) }),
            wallTime < claims.expiresAt
        {
            counts.note(.remembered)
            return Decision(claims: claims, origin: .memory, subject: subject)
        }
        let answer: CallbackAnswer
        do throws(CallbackOutage) {
            answer = try await ask(question, on: loop)
        } catch {
            return try survive(error, question, subject)
        }
        if case .denied(let error, _) = answer {
            state.withLock { [now] in $0.memory.noteDenial(of: subject, now: now) }
            counts.note(.denied)
            throw .entitlementDenied(error: error)
        }
        let claims: Claims
        do throws(EntitlementError) {
            claims = try self.claims(of: answer, to: question, verifiedBy: tokens, wallTime: wallTime, using: crypto)
        } catch {
            // The service has answered, so this is no outage and opens no breaker.
            counts.note(.failed)
            throw .entitlementUnavailable(.answerRefused(error))
        }
        counts.note(.allowed)
        return Decision(claims: claims, origin: .service, subject: subject)
    }

    /// Notes that a license was issued by a decision. `lease` is the lease of the license, in seconds.
    func noteIssued(_ decision: Decision, lease: UInt32?) {
        let lease = lease.map { Int64($0) }
        state.withLock { [now] state in
            switch decision.origin {
            case .service: state.memory.noteAnswer(decision.claims, for: decision.subject, lease: lease, now: now)
            case .memory: state.memory.noteRemembered(decision.subject, lease: lease, now: now)
            case .grace: break
            }
        }
    }

    // MARK: Asking

    private func ask(
        _ question: CallbackQuestion, on loop: LoopContext
    ) async throws(CallbackOutage) -> CallbackAnswer {
        let (call, wait) = state.withLock { [nanoseconds] state in
            (state.breaker.begin(now: nanoseconds), state.breaker.secondsUntilProbe(now: nanoseconds))
        }
        guard let call else { throw .breakerOpen(seconds: wait) }
        do throws(CallbackOutage) {
            let body = try await transport.ask(question, on: loop)
            let answer = try Self.read(body, question)
            state.withLock { $0.breaker.succeeded(call) }
            return answer
        } catch {
            state.withLock { [nanoseconds] state in
                if error == .busy {
                    state.breaker.abandoned(call, now: nanoseconds)
                } else {
                    state.breaker.failed(call, now: nanoseconds)
                }
            }
            throw error
        }
    }

    private static func read(
        _ body: [UInt8], _ question: CallbackQuestion
    ) throws(CallbackOutage) -> CallbackAnswer {
        try wrap(CallbackOutage.answerInvalid, try CallbackAnswer(parsing: body, to: question))
    }

    /// Decides without an answer: allows the question by grace, or throws.
    private func survive(
        _ outage: CallbackOutage, _ question: CallbackQuestion, _ subject: CallbackMemory.Subject
    ) throws(LicenseError) -> Decision {
        let isGracious = settings.failure == .grace && question.isRenewal
        if isGracious, let claims = state.withLock({ [now] in $0.memory.grace(for: subject, now: now) }) {
            counts.note(.grace)
            return Decision(claims: claims, origin: .grace, subject: subject)
        }
        counts.note(.failed)
        throw .entitlementUnavailable(outage)
    }

    /// The claims that an answer grants if it allows a license.
    private func claims(
        of answer: CallbackAnswer, to question: CallbackQuestion, verifiedBy tokens: VerifiedTokenCache,
        wallTime: Int64, using crypto: CryptoContext
    ) throws(EntitlementError) -> Claims {
        switch answer {
        case .policy(let policy): try .decided(by: settings.name, policy: policy, now: wallTime, life: Self.claimsLife)
        case .token(let token): try tokens.verify(token, now: wallTime, crypto: crypto)
        case .allowed, .denied:
            try .decided(by: settings.name, allowing: question.content, now: wallTime, life: Self.claimsLife)
        }
    }

    /// How long claims hold, in seconds. The memory forgets them sooner than this.
    private static let claimsLife: Int64 = 86_400

    private static func digest(of token: [UInt8], _ crypto: CryptoContext) throws(LicenseError) -> TokenDigest {
        try wrap(LicenseError.internalFailure, try TokenDigest(of: token, using: crypto))
    }

    private var nanoseconds: Int64 { clock.monotonicTime.nanoseconds }
    private var now: Int64 { nanoseconds / 1_000_000_000 }
}

/// Counts the questions to the service by their outcome.
package final class CallbackCounts: Sendable {
    package enum Outcome: Int, Sendable, CaseIterable {
        case allowed
        case denied
        /// A recent answer of the service decided, and the service was not asked.
        case remembered
        /// A renewal was allowed while the service did not answer.
        case grace
        case failed
    }

    private let counts = Mutex([UInt64](repeating: 0, count: Outcome.allCases.count))

    package init() {}

    package subscript(outcome: Outcome) -> UInt64 { counts.withLock { $0[outcome.rawValue] } }

    func note(_ outcome: Outcome) {
        counts.withLock { $0[outcome.rawValue] += 1 }
    }
}
