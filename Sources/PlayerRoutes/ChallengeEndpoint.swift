import ByteCoding
package import EventLoops
import HTTPMessages
package import HTTPServing
package import Licensing
import Records
package import RouteKit
package import Telemetry

/// `POST /fps/challenge`: gives the holder of a valid token a random number, which proves that the next sync report is
/// fresh.
///
/// A token that only the operator's service can read gets a challenge too, within the rate limits for such tokens. That
/// service then decides about the report.
package struct ChallengeEndpoint: Sendable {
    private let pipelines: LicensePipelines
    private let refusals: Refusals
    private let clock: any WallClock

    package init(pipelines: LicensePipelines, refusals: Refusals, clock: any WallClock) {
        self.pipelines = pipelines
        self.refusals = refusals
        self.clock = clock
    }

    /// Issues a challenge. It counts towards the rate limits like a license, since both need a verified token.
    package func answer(
        _ request: HTTPRequest, under rules: LicenseRules, id: RequestID, on loop: LoopContext
    ) -> HTTPAnswer {
        let now = clock.wallTime.seconds
        let origin = request.origin(countryField: rules.entitlement.countryField)
        do throws(LicenseError) {
            let sender = try pipelines.pipeline(on: loop).admissionControl.admitSender(
                presenting: request.tokenCarriers, from: origin, under: rules, now: now, id: id.text)
            return .later { loop in await issue(to: sender, now: now, id, on: loop) }
        } catch {
            let (problem, facts) = pipelines.refusal(
                of: error, in: request, from: origin, under: rules, now: now, on: loop)
            return .now(refuse(problem, because: error.cause, id, facts))
        }
    }

    private func issue(
        to sender: TokenSender, now: Int64, _ id: RequestID, on loop: LoopContext
    ) async -> HTTPResponse {
        do throws(LicenseError) {
            switch try await pipelines.pipeline(on: loop).issueChallenge(to: sender, now: now) {
            case .challenge(let challenge): return response(challenge, id)
            case .tooMany(let seconds):
                // Rounded up, because a client that comes back too early is refused again.
                let problem = Problem(.rateLimited, retryAfterSeconds: seconds + 1)
                return refuse(problem, because: RefusalCause("too many open challenges"), id)
            }
        } catch {
            return refuse(Problem(for: error), because: error.cause, id)
        }
    }

    private func response(_ challenge: UInt64, _ id: RequestID) -> HTTPResponse {
        .json(id) { writer in
            writer.member("challenge", sixteenDigits(challenge))
            writer.member("expiresIn", ServerChallenges.life)
        }
    }

    private func refuse(
        _ problem: Problem, because cause: RefusalCause, _ id: RequestID, _ facts: RefusalFacts = RefusalFacts()
    ) -> HTTPResponse {
        refusals.response(to: "challenge_refused", problem, because: cause, id: id, facts: facts)
    }
}
