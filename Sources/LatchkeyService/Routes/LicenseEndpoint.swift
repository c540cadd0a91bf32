import ByteCoding
import ContentKeys
import Entitlements
import EventLoops
import FairPlay
import HTTPMessages
import HTTPServing
import Licensing
import PlayerMessages
import Records
import Telemetry

/// `POST /fps/license`: a raw SPC in, a CKC out in the shape that was asked for; for a sync SPC what it reports, and
/// for a playback that has stopped a few words, as JSON.
struct LicenseEndpoint: Sendable {
    private let pipelines: LicensePipelines
    private let metrics: ServiceMetrics
    private let logger: Logger
    private let refusals: Refusals
    private let clock: any WallClock

    init(
        pipelines: LicensePipelines, metrics: ServiceMetrics, refusals: Refusals, logger: Logger, clock: any WallClock
    ) {
        self.pipelines = pipelines
        self.metrics = metrics
        self.logger = logger
        self.clock = clock
        self.refusals = refusals
    }

    /// Refuses at once what costs no RSA to refuse; else hands back the rest of the way.
    func answer(
        _ request: HTTPRequest, at address: LicenseAddress = LicenseAddress(), under rules: LicenseRules,
        id: RequestID, on loop: LoopContext
    ) -> HTTPAnswer {
        let start = loop.now
        let wish: LicenseWish
        do throws(LicenseWish.Fault) {
            wish = try LicenseWish(
                query: request.query, fields: request.fields, standard: address.answer,
                followsAccept: address.followsAccept)
        } catch {
            let cause = RefusalCause("the query's \(error.parameter.rawValue) is not readable")
            return .now(refuse(Problem(for: error), cause, id))
        }
        do throws(LicenseError) {
            let admission = try pipelines.pipeline(on: loop).admissionControl.admit(
                LicenseRequest(
                    message: request.body, use: wish.use,
                    origin: request.origin(countryField: rules.entitlement.countryField), renewal: wish.renewal,
                    assetHint: address.assetHint, id: id.text),
                presenting: request.tokenCarriers, under: rules, now: clock.wallTime.seconds)
            let shape = wish.answer.shape(for: .raw)
            return .later { loop in await respond(to: admission, as: shape, id: id, since: start, on: loop) }
        } catch {
            return .now(refuse(error, id))
        }
    }

    /// Whether the request is refused whatever its body holds. `answer` says why.
    func refusesHead(of request: HTTPRequest, under rules: LicenseRules, on loop: LoopContext) -> Bool {
        do throws(LicenseError) {
            return try pipelines.pipeline(on: loop).admissionControl.refusesHead(
                presenting: request.tokenCarriers, from: request.origin(countryField: nil).address, under: rules,
                now: clock.wallTime.seconds)
        } catch {
            // Without a pipeline no request is served.
            return true
        }
    }

    private func respond(
        to admission: Admission, as shape: AnswerShape, id: RequestID, since start: MonotonicTime,
        on loop: LoopContext
    ) async -> HTTPResponse {
        do throws(LicenseError) {
            let outcome = try await outcome(of: admission, id: id, since: start, on: loop)
            return LicenseAnswer.response(to: [KeyResult(outcome)], as: shape, at: clock.wallTime, id)
        } catch {
            return refuse(error, id, version: admission.envelope.version)
        }
    }

    /// What an SPC came to, counted and logged.
    private func outcome(
        of admission: Admission, id: RequestID, since start: MonotonicTime, on loop: LoopContext
    ) async throws(LicenseError) -> KeyOutcome {
        switch try await pipelines.pipeline(on: loop).answer(admission, now: clock.wallTime.seconds) {
        case .license(let license):
            metrics.issued(admission.envelope.version, after: loop.now - start)
            log(license, id)
            return .license(license)
        case .syncReport(let accepted):
            metrics.acceptedSyncReport()
            log(accepted, id)
            return .syncReport(accepted)
        case .playbackEnded(let ended):
            log(ended, id)
            return .playbackEnded(ended)
        }
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
        logger.log(
            .debug, "license_issued", from: .client,
            [
                .string("request_id", id.text), .string("license", license.id.description),
                .string("credential", license.credentialName), .string("kid", license.key.keyID.description),
                .string("content", license.key.contentID.text),
                .string("validity", license.terms.validity.name),
                .unsigned("lease", UInt64(license.terms.lease?.value ?? 0)),
                .unsigned("rental", UInt64(license.terms.rental?.value ?? 0)),
            ])
    }

    private func log(_ ended: EndedPlayback, _ id: RequestID) {
        logger.log(
            .debug, "playback_ended", from: .client,
            [
                .string("request_id", id.text), .string("credential", ended.credentialName),
                .string("kid", ended.keyID.description),
            ])
    }

    private func log(_ accepted: AcceptedSyncReport, _ id: RequestID) {
        logger.log(
            .debug, "sync_report_accepted", from: .client,
            [
                .string("request_id", id.text), .string("credential", accepted.credentialName),
                .bool("challenge_accepted", accepted.isChallengeAccepted),
                .unsigned("duration_to_expiry", UInt64(accepted.report.remaining.wireValue)),
            ])
    }
}
