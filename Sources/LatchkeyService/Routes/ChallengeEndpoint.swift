import ByteCoding
import Entitlements
import EventLoops
import HTTPMessages
import HTTPServing
import Licensing
import Telemetry

/// `POST /fps/challenge`: a number for the holder of a valid token, with which the next sync report shows that it is fresh.
struct ChallengeEndpoint: Sendable {
    private let issuer: LicenseIssuer
    private let refusals: Refusals
    private let clock: any Telemetry.WallClock
    private let tokens: PresentedTokens

    init(
        issuer: LicenseIssuer, refusals: Refusals, clock: any Telemetry.WallClock, tokens: PresentedTokens
    ) {
        self.tokens = tokens
        self.issuer = issuer
        self.refusals = refusals
        self.clock = clock
    }

    func answer(_ request: HTTPRequest, id: RequestID, on loop: LoopContext) -> HTTPResponse {
        do throws(LicenseError) {
            switch try issuer.issueChallenge(token: presented(by: request), now: clock.wallTime.seconds, on: loop) {
            case .challenge(let challenge): return response(challenge, id)
            case .tooMany(let wait):
                // Rounded up: who comes back too early is refused again.
                let problem = Problem(.rateLimited, retryAfterSeconds: wait.components.seconds + 1)
                return refuse(problem, RefusalCause("too many open challenges"), id)
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
            writer.member("expiresIn", issuer.challenges.limits.life.components.seconds)
        }
        return HTTPResponse(status: .ok, fields: fields, body: body)
    }

    private func refuse(_ problem: Problem, _ cause: RefusalCause, _ id: RequestID) -> HTTPResponse {
        refusals.response(to: "challenge_refused", problem, because: cause, id: id)
    }
}
