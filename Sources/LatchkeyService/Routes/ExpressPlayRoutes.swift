import Entitlements
import EventLoops
import ExpressPlay
import HTTPMessages
import HTTPServing
import Licensing

/// The addresses of ExpressPlay's apps and back ends: tokens are made, asked for by content, and redeemed.
struct ExpressPlayRoutes: Sendable {
    private let license: LicenseEndpoint
    private let tokens: ExpressPlayTokenEndpoint
    private let sees: SEESEndpoint
    private let refusals: Refusals

    init(service: ExpressPlayService, license: LicenseEndpoint, refusals: Refusals) {
        self.license = license
        self.refusals = refusals
        tokens = ExpressPlayTokenEndpoint(service: service)
        sees = SEESEndpoint(service: service)
    }

    /// Nil for every other address, and if no customer is configured who could use this one.
    func answer(
        _ request: HTTPRequest, under rules: LiveRules, id: RequestID, on loop: LoopContext
    ) -> HTTPAnswer? {
        guard let settings = rules.expressPlay else { return nil }
        switch request.path {
        case "/hms/fp/token":
            guard !settings.customers.isEmpty else { return nil }
            guard request.method == .get || request.method == .post else {
                return refuseMethod(of: request, under: rules, id)
            }
            return tokens.answer(request, settings, under: rules.license, id: id, on: loop)
        case "/sees/SEESServlet":
            guard settings.sees != nil else { return nil }
            guard request.method == .post else { return refuseMethod(of: request, under: rules, id) }
            return sees.answer(request, settings, under: rules.license, id: id, on: loop)
        case let path where settings.redeemPaths.contains(path):
            guard request.method == .post else { return refuseMethod(of: request, under: rules, id) }
            return redeem(request, under: rules.license, id: id, on: loop)
        default: return nil
        }
    }

    /// Whether a request is refused whatever its body holds; nil if its answer does not depend on a body. The form of
    /// a token request may hold the customer's secret, so its body is always wanted.
    func refusesHead(of request: HTTPRequest, under rules: LiveRules, on loop: LoopContext) -> Bool? {
        guard let settings = rules.expressPlay else { return nil }
        switch request.path {
        case "/hms/fp/token":
            let isServed = !settings.customers.isEmpty && (request.method == .get || request.method == .post)
            return isServed ? false : nil
        case "/sees/SEESServlet":
            guard let sees = settings.sees, request.method == .post else { return nil }
            return !self.sees.isAuthentic(request, sees)
        case let path where settings.redeemPaths.contains(path):
            guard request.method == .post else { return nil }
            return license.refusesHead(of: request, under: rules.license, on: loop)
        default: return nil
        }
    }

    /// As any licence request, but that refusals are told in ExpressPlay's manner.
    private func redeem(
        _ request: HTTPRequest, under rules: LicenseRules, id: RequestID, on loop: LoopContext
    ) -> HTTPAnswer {
        let format = Self.errorFormat(of: request)
        // What is accepted says here how refusals are written.
        switch license.answer(request, at: LicenseAddress(followsAccept: false), under: rules, id: id, on: loop) {
        case .now(let response): return .now(response.restated(in: format))
        case .later(let work): return .later { loop in await work(loop).restated(in: format) }
        }
    }

    /// The methods of an address, as OPTIONS and a refusal name them. Nil where `answer` gives none.
    func methods(at path: String, under rules: LiveRules) -> String? {
        guard let settings = rules.expressPlay else { return nil }
        switch path {
        case "/hms/fp/token": return settings.customers.isEmpty ? nil : "GET, POST, OPTIONS"
        case "/sees/SEESServlet": return settings.sees == nil ? nil : "POST, OPTIONS"
        default: return settings.redeemPaths.contains(path) ? "POST, OPTIONS" : nil
        }
    }

    private func refuseMethod(of request: HTTPRequest, under rules: LiveRules, _ id: RequestID) -> HTTPAnswer {
        let problem = Problem(.methodNotAllowed, allowedMethods: methods(at: request.path, under: rules))
        let response = refusals.response(
            to: "request_refused", problem, because: RefusalCause(problem.code.title), id: id)
        return .now(response.restated(in: Self.errorFormat(of: request)))
    }

    /// What the query says, or else what the client takes.
    private static func errorFormat(of request: HTTPRequest) -> ExpressPlayForm.ErrorFormat {
        if ExpressPlayForm(query: request.query, body: []).errorFormat == .json { return .json }
        return request.fields["Accept"]?.contains("application/json") == true ? .json : .html
    }
}

extension HTTPResponse {
    /// A problem in ExpressPlay's manner; every other response as it is. What the problem's fields say stays.
    func restated(in format: ExpressPlayForm.ErrorFormat) -> HTTPResponse {
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
    /// What ExpressPlay calls it; nil for what only HTTP knows.
    var expressPlayCode: ExpressPlayCode? { Self.expressPlayCodes[rawValue] }

    /// The column EP of the one table of errors, by our own codes.
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
            (.outputFlagsInvalid, ["security_level"]),
            (.rentalDurationInvalid, ["offline_not_allowed", "terms_not_expressible"]),
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
