import ByteCoding
import ContentKeys
import Entitlements
import EventLoops
import FairPlay
import HTTPMessages
import HTTPServing
import Licensing
import POSIXSockets
import Records
import Telemetry

/// `POST /fps/license`: a raw SPC in, a CKC out in the shape that was asked for; for a sync SPC what it reports, as JSON.
struct LicenseEndpoint: Sendable {
    private let issuer: LicenseIssuer
    private let metrics: ServiceMetrics
    private let logger: Logger
    private let refusals: Refusals
    private let clock: any Telemetry.WallClock
    private let rates: RequestRates
    private let tokens: PresentedTokens
    private let origins: RequestOrigins

    init(
        issuer: LicenseIssuer, metrics: ServiceMetrics, logger: Logger, clock: any Telemetry.WallClock,
        rates: RequestRates, tokens: PresentedTokens,
        origins: RequestOrigins = RequestOrigins()
    ) {
        self.rates = rates
        self.tokens = tokens
        self.origins = origins
        self.issuer = issuer
        self.metrics = metrics
        self.logger = logger
        self.clock = clock
        refusals = Refusals(logger: logger, clock: clock)
    }

    /// Refuses at once what costs no RSA to refuse; else hands back the rest of the way.
    func answer(
        _ request: HTTPRequest, id: RequestID, on loop: LoopContext, formFollowsAccept: Bool = true
    ) -> HTTPAnswer {
        let start = loop.now
        guard
            let wish = LicenseWish(
                query: request.query, fields: request.fields, formFollowsAccept: formFollowsAccept)
        else {
            return .now(
                refuse(
                    Problem(.badRequest),
                    RefusalCause("the query's offline, renew, previous or format is not readable"), id))
        }
        if let wait = rates.admit(from: request.peer.address.ip) {
            return .now(refuse(tooManyAfter: wait, "of an address", id))
        }
        do throws(LicenseError) {
            let licenseRequest = LicenseRequest(
                message: request.body, token: try presented(by: request), use: wish.use,
                origin: origins.origin(of: request), renewal: wish.renewal)
            if let opaque = try issuer.admitOpaque(licenseRequest, on: loop) {
                return .later { loop in
                    await issue(opaque.envelope.version, as: wish.form, id: id, since: start, on: loop) {
                        (now) throws(LicenseError) in
                        try await rates.enter(isRenewal: wish.renewal.isRenewal, on: loop)
                        return try await issuer.issue(opaque, now: now, on: loop)
                    }
                }
            }
            let admission = try issuer.admit(licenseRequest, now: clock.wallTime.seconds, on: loop)
            if let wait = rates.admit(admission.claims, isRenewal: admission.isRenewal) {
                return .now(refuse(tooManyAfter: wait, "of a subject", id))
            }
            return .later { loop in
                await issue(admission.envelope.version, as: wish.form, id: id, since: start, on: loop) {
                    (now) throws(LicenseError) in
                    try await rates.enter(isRenewal: admission.isRenewal, on: loop)
                    return try await issuer.issue(admission, now: now, on: loop)
                }
            }
        } catch {
            return .now(refuse(error, id))
        }
    }

    private func presented(by request: HTTPRequest) throws(LicenseError) -> PresentedToken? {
        do throws(EntitlementError) {
            return try tokens.token(of: request)
        } catch {
            throw .entitlement(error)
        }
    }

    private func issue(
        _ version: SPCVersion, as form: LicenseAnswerForm, id: RequestID, since start: MonotonicTime,
        on loop: LoopContext, _ outcome: (Int64) async throws(LicenseError) -> LicenseOutcome
    ) async -> HTTPResponse {
        do throws(LicenseError) {
            let now = clock.wallTime.seconds
            switch try await outcome(now) {
            case .license(let license):
                metrics.issued(version, after: loop.now - start)
                log(license, id)
                return LicenseAnswer.response(with: license, as: form, at: clock.wallTime, id)
            case .syncReport(let accepted):
                metrics.acceptedSyncReport()
                log(accepted, id)
                return SyncAnswer.response(to: accepted, now: now, id: id)
            }
        } catch {
            return refuse(error, id, version: version)
        }
    }

    /// The seconds are rounded up: who comes back too early is refused again.
    private func refuse(tooManyAfter wait: Duration, _ party: StaticString, _ id: RequestID) -> HTTPResponse {
        let problem = Problem(.rateLimited, retryAfterSeconds: wait.components.seconds + 1)
        return refuse(problem, RefusalCause("too many requests \(party)"), id)
    }

    private func refuse(_ error: LicenseError, _ id: RequestID, version: SPCVersion? = nil) -> HTTPResponse {
        refuse(Problem(for: error), error.cause, id, version: version)
    }

    private func refuse(
        _ problem: Problem, _ cause: RefusalCause, _ id: RequestID, version: SPCVersion? = nil
    ) -> HTTPResponse {
        metrics.refused(problem.code)
        return refusals.response(
            to: "license_refused", problem, because: cause, id: id, spcVersion: version?.rawValue ?? 0)
    }

    private func log(_ license: IssuedLicense, _ id: RequestID) {
        logger.debug(
            "license_issued",
            [
                .string("request_id", id.text), .string("license", license.id.description),
                .string("credential", license.credentialName), .string("kid", license.key.keyID.description),
                .string("content", license.key.contentID.text),
                .string("validity", license.terms.validity.name),
                .unsigned("lease", UInt64(license.terms.lease?.value ?? 0)),
                .unsigned("rental", UInt64(license.terms.rental?.value ?? 0)),
            ])
    }

    private func log(_ accepted: AcceptedSyncReport, _ id: RequestID) {
        logger.debug(
            "sync_report_accepted",
            [
                .string("request_id", id.text), .string("credential", accepted.credentialName),
                .bool("challenge_accepted", accepted.isChallengeAccepted),
                .unsigned("duration_to_expiry", UInt64(accepted.report.remaining.wireValue)),
            ])
    }
}
