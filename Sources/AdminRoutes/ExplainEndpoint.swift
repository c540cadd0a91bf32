import Administration
import ByteCoding
import Entitlements
import EventLoops
import HTTPMessages
package import HTTPServing
import KeyCrypto
package import Licensing
import POSIXSockets
package import RouteKit
package import Telemetry

/// `POST /v1/explain` of the admin listener: shows every check of a token and an SPC, its verdict, and the terms of the
/// license.
///
/// The body is an object with `token`, and optionally `spc` (Base64), `offline`, `address` and `country`. No license is
/// issued.
package struct ExplainEndpoint: Sendable {
    private let pipelines: LicensePipelines
    private let refusals: Refusals
    private let logger: Logger
    private let clock: any WallClock

    /// Enough for an SPC of the largest size in Base64, a token of the largest size, and the other members.
    private static let limits = JSONLimits(sizeMaximum: 128 * 1024, depthMaximum: 4)

    package init(pipelines: LicensePipelines, refusals: Refusals, logger: Logger, clock: any WallClock) {
        self.pipelines = pipelines
        self.logger = logger
        self.clock = clock
        self.refusals = refusals
    }

    /// Answers a request. The caller has checked that it comes from an administrator.
    package func answer(_ request: HTTPRequest, under rules: LicenseRules, id: RequestID) -> HTTPAnswer {
        guard let subject = Self.subject(in: request.body) else {
            let problem = Problem(
                .requestInvalid,
                detail: "The body must be an object with token, and may also have spc, offline, address and country")
            let cause = RefusalCause("the body is not an object with the known members")
            return .now(refusals.response(to: "explain_refused", problem, because: cause, id: id))
        }
        return .later { _ in await respond(to: subject, under: rules, id: id) }
    }

    private func respond(
        to subject: LicenseExplainer.Subject, under rules: LicenseRules, id: RequestID
    ) async -> HTTPResponse {
        do throws(CryptoError) {
            let explanation = try await pipelines.explainer(under: rules).explain(
                subject, now: clock.wallTime.seconds)
            let report = try ExplanationReport(explanation)
            logger.log(
                .info, "explained", from: .client,
                id.logFields + [
                    .string("code", explanation.refusal.map { ExplainedCheck.code(of: $0) } ?? "none")
                ])
            return .json(id, report.write)
        } catch {
            let cause = RefusalCause("cryptography: \(error)")
            return refusals.response(to: "explain_refused", Problem(.internalError), because: cause, id: id)
        }
    }

    private static func subject(in body: [UInt8]) -> LicenseExplainer.Subject? {
        guard let object = try? JSONReader.parse(body, limits: limits).object,
            object.members.allSatisfy({ ["token", "spc", "offline", "address", "country"].contains($0.name) }),
            let token = object["token"]?.string
        else { return nil }
        var subject = LicenseExplainer.Subject(token: Array(token.utf8))
        if let member = object["spc"] {
            guard let text = member.string, let message = try? Base64.decode(text) else { return nil }
            subject.message = message
        }
        if let member = object["offline"] {
            guard let isOffline = member.bool else { return nil }
            subject.use = isOffline ? .offline : .streaming
        }
        if let member = object["address"] {
            guard let text = member.string, let address = IPAddress(text) else { return nil }
            subject.origin = RequestOrigin(address: address)
        }
        if let member = object["country"] {
            guard let text = member.string, let country = CountryCode(text) else { return nil }
            subject.origin = RequestOrigin(address: subject.origin.address, country: country)
        }
        return subject
    }
}
