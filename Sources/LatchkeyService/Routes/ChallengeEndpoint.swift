import ByteCoding
import Entitlements
import EventLoops
import HTTPMessages
import HTTPServing
import Licensing
import POSIXSockets
import Telemetry

/// `POST /fps/challenge`: a number for the holder of a valid token, with which the next sync report shows that it is fresh.
struct ChallengeEndpoint: Sendable {
    private let issuer: LicenseIssuer
    private let refusals: Refusals
    private let clock: any Telemetry.WallClock
    private let rates: RequestRates
    private let tokens: PresentedTokens

    init(
        issuer: LicenseIssuer, refusals: Refusals, clock: any Telemetry.WallClock, rates: RequestRates,
        tokens: PresentedTokens
    ) {
        self.rates = rates
        self.tokens = tokens
        self.issuer = issuer
        self.refusals = refusals
        self.clock = clock
    }

    /// A challenge counts like a licence: both are bought with a verified token.
    func answer(_ request: HTTPRequest, id: RequestID, on loop: LoopContext) -> HTTPAnswer {
        let now = clock.wallTime.seconds
        if let wait = rates.admit(from: request.peer.address.ip) {
            return .now(refuse(after: wait.components.seconds, "too many requests of an address", id))
        }
        do throws(LicenseError) {
            let claims = try issuer.holder(of: try presented(by: request), now: now, on: loop)
            if let wait = rates.admit(claims, isRenewal: false) {
                return .now(refuse(after: wait.components.seconds, "too many requests of a subject", id))
            }
            return .later { loop in await issue(to: claims, now: now, id, on: loop) }
        } catch {
            return .now(refuse(Problem(for: error), error.cause, id))
        }
    }

    private func issue(
        to claims: Claims, now: Int64, _ id: RequestID, on loop: LoopContext
    ) async -> HTTPResponse {
        do throws(LicenseError) {
            try await rates.enter(isRenewal: false, on: loop)
            switch try await issuer.issueChallenge(to: claims, now: now, on: loop) {
            case .challenge(let challenge): return response(challenge, id)
            case .tooMany(let seconds): return refuse(after: seconds, "too many open challenges", id)
            }
        } catch {
            return refuse(Problem(for: error), error.cause, id)
        }
    }

    private func presented(by request: HTTPRequest) throws(LicenseError) -> PresentedToken? {
        do throws(EntitlementError) {
            return try tokens.token(of: request)
        } catch {
            throw .entitlement(error)
        }
    }

    private func response(_ challenge: UInt64, _ id: RequestID) -> HTTPResponse {
        let fields: HTTPFields = [
            "Content-Type": "application/json",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Request-Id": id.text,
        ]
        let body = JSONWriter.object { writer in
            writer.member("challenge", sixteenDigits(challenge))
            writer.member("expiresIn", ServerChallenges.life)
        }
        return HTTPResponse(status: .ok, fields: fields, body: body)
    }

    /// Rounded up: who comes back too early is refused again.
    private func refuse(after seconds: Int64, _ cause: String, _ id: RequestID) -> HTTPResponse {
        refuse(Problem(.rateLimited, retryAfterSeconds: seconds + 1), RefusalCause(cause), id)
    }

    private func refuse(_ problem: Problem, _ cause: RefusalCause, _ id: RequestID) -> HTTPResponse {
        refusals.response(to: "challenge_refused", problem, because: cause, id: id)
    }
}
