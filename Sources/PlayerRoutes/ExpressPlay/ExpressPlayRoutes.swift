package import Entitlements
package import EventLoops
package import HTTPMessages
package import HTTPServing
package import Licensing
import RouteKit

/// The addresses of ExpressPlay's back ends, which make tokens and answer questions of entitlement.
///
/// Players redeem the tokens at addresses of licenses.
package struct ExpressPlayRoutes: Sendable {
    private let tokens: ExpressPlayTokenEndpoint
    private let sees: SEESEndpoint

    package init(service: ExpressPlayService) {
        tokens = ExpressPlayTokenEndpoint(service: service)
        sees = SEESEndpoint(service: service)
    }

    /// The answer at the address that makes tokens.
    package func answerToken(
        _ request: HTTPRequest, _ settings: ExpressPlaySettings, under rules: LicenseRules, id: RequestID,
        on loop: LoopContext
    ) -> HTTPAnswer? {
        tokens.answer(request, settings, under: rules, id: id, on: loop)
    }

    /// The answer at the address of the entitlement server.
    package func answerEntitlement(
        _ request: HTTPRequest, _ settings: ExpressPlaySettings, under rules: LicenseRules, id: RequestID,
        on loop: LoopContext
    ) -> HTTPAnswer? {
        sees.answer(request, settings, under: rules, id: id, on: loop)
    }

    /// Whether the head of a request to the entitlement server is enough to refuse it.
    package func refusesEntitlementHead(of request: HTTPRequest, under settings: ExpressPlaySettings?) -> Bool {
        guard let sees = settings?.sees else { return true }
        return !self.sees.isAuthentic(request, sees)
    }
}

extension HTTPRequest {
    /// The format of ExpressPlay's errors for this request: JSON if the query or `Accept` asks for it, otherwise HTML.
    package var expressPlayErrorFormat: ExpressPlayForm.ErrorFormat {
        if ExpressPlayForm(query: query, body: []).errorFormat == .json { return .json }
        return fields["Accept"]?.contains("application/json") == true ? .json : .html
    }
}

extension HTTPResponse {
    /// Returns a problem in ExpressPlay's form. Other responses are returned unchanged.
    ///
    /// The status and the other header fields of the problem stay as they are.
    package func restated(in format: ExpressPlayForm.ErrorFormat) -> HTTPResponse {
        guard status != .ok, let word = fields["X-Error-Code"], let code = ProblemCode(rawValue: word) else {
            return self
        }
        let error = ExpressPlayErrorBody(
            code: code.expressPlayCode?.rawValue, message: code.title, requestID: fields["X-Request-Id"] ?? "")
        var response = self
        response.fields.set("Content-Type", error.contentType(format))
        response.body = error.bytes(format)
        return response
    }
}

extension ProblemCode {
    /// ExpressPlay's number for this code; nil if ExpressPlay has none, as for errors of HTTP itself.
    var expressPlayCode: ExpressPlayCode? { Self.expressPlayCodes[rawValue] }

    /// ExpressPlay's numbers by our codes: the column EP of reference/errors.md.
    private static let expressPlayCodes: [String: ExpressPlayCode] = {
        let rows: [(ExpressPlayCode, [String])] = [
            (
                .keyDataInvalid,
                [
                    "spc_is_certificate", "body_empty", "body_unrecognised", "spc_double_base64", "spc_malformed",
                    "spc_version_unsupported", "spc_certificate_unknown",
                ]
            ),
            (.authenticatorMissing, ["token_missing"]),
            (
                .authenticatorInvalid,
                [
                    "token_alg", "kid_unknown", "kid_revoked", "token_signature", "token_audience", "token_issuer",
                ]
            ),
            (.expirationInvalid, ["token_expired", "token_not_yet", "token_life"]),
            (
                .tokenInvalid,
                [
                    "spc_replayed", "token_malformed", "token_ambiguous", "token_schema", "token_used",
                    "token_revoked", "concurrency_limit", "session_expired", "session_killed",
                ]
            ),
            (.keyIDInvalid, ["content_mismatch"]),
            (.rightsMissing, ["right_not_started", "entitlement_denied"]),
            (.rentalEndMissing, ["right_ended"]),
            (.deviceRefused, ["device_mismatch", "device_limit", "device_revoked"]),
            (.outputFlagsInvalid, ["security_level", "sdk_device"]),
            (.rentalDurationInvalid, ["offline_not_allowed", "terms_not_expressible", "sdk_terms"]),
            (.addressDenied, ["ip_denied", "geo_denied"]),
            (.keyNotFound, ["key_not_found", "key_store_timeout"]),
            (
                .serviceUnavailable,
                [
                    "entitlement_unavailable", "overloaded", "storage_unavailable", "clock_untrusted",
                    "module_unavailable",
                ]
            ),
            (.quotaExhausted, ["rate_limited"]),
            (.licenseNotMade, ["internal", "spc_rejected"]),
            (.accountDisabled, ["subject_disabled"]),
        ]
        return Dictionary(uniqueKeysWithValues: rows.flatMap { code, words in words.map { ($0, code) } })
    }()
}
