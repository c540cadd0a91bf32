import Entitlements
import EventLoops
import HTTPMessages
import HTTPServing
import Licensing

/// The addresses of ExpressPlay's apps and back ends: tokens are made, asked for by content, and redeemed.
struct ExpressPlayRoutes: Sendable {
    private let service: ExpressPlayService
    private let license: LicenseEndpoint
    private let tokens: ExpressPlayTokenEndpoint
    private let sees: SEESEndpoint
    private let refusals: Refusals

    init(service: ExpressPlayService, license: LicenseEndpoint, refusals: Refusals) {
        self.service = service
        self.license = license
        self.refusals = refusals
        tokens = ExpressPlayTokenEndpoint(service: service)
        sees = SEESEndpoint(service: service)
    }

    /// Nil for every other address, and where nobody is configured who could use this one.
    func answer(
        _ request: HTTPRequest, under rules: LicenseRules, id: RequestID, on loop: LoopContext
    ) -> HTTPAnswer? {
        let settings = service.settings
        switch request.path {
        case "/hms/fp/token":
            guard !settings.customers.isEmpty else { return nil }
            guard request.method == .get || request.method == .post else {
                return refuseMethod(of: request, allowing: "GET, POST", id)
            }
            return tokens.answer(request, under: rules, id: id, on: loop)
        case "/sees/SEESServlet":
            guard let settings = settings.sees else { return nil }
            guard request.method == .post else { return refuseMethod(of: request, allowing: "POST", id) }
            return sees.answer(request, settings, under: rules, id: id, on: loop)
        case let path where settings.redeemPaths.contains(path):
            guard request.method == .post else { return refuseMethod(of: request, allowing: "POST", id) }
            return redeem(request, under: rules, id: id, on: loop)
        default: return nil
        }
    }

    /// As any licence request, but that refusals are told in ExpressPlay's manner.
    private func redeem(
        _ request: HTTPRequest, under rules: LicenseRules, id: RequestID, on loop: LoopContext
    ) -> HTTPAnswer {
        let format = Self.errorFormat(of: request)
        // What is accepted says here how refusals are written.
        switch license.answer(request, under: rules, id: id, on: loop, formFollowsAccept: false) {
        case .now(let response): return .now(response.restated(in: format))
        case .later(let work): return .later { loop in await work(loop).restated(in: format) }
        }
    }

    private func refuseMethod(of request: HTTPRequest, allowing methods: String, _ id: RequestID) -> HTTPAnswer {
        let problem = Problem(.methodNotAllowed, allowedMethods: methods)
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
