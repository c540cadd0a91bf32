import EventLoops
import HTTPMessages
import HTTPServing
import Licensing

/// What strangers can reach: licences, certificates, and whether the daemon is there.
struct PublicRoutes: HTTPHandler {
    let rules: LiveRulesCell
    let license: LicenseEndpoint
    let query: LicenseQueryEndpoint
    let challenge: ChallengeEndpoint
    let health: Health
    let requestIDs: RequestIDs
    let refusals: Refusals
    var expressPlay: ExpressPlayRoutes?

    func answer(_ request: HTTPRequest, on loop: LoopContext) -> HTTPAnswer {
        let rules = rules.current
        let methods = Self.methods(at: request.path) ?? expressPlay?.methods(at: request.path, under: rules)
        return rules.cors.answer(request, methods: methods ?? Self.allMethods) {
            let answer = route(request, under: rules, on: loop)
            return request.expectsNAGRAErrors ? answer.restatedForNAGRA() : answer
        }
    }

    /// Refuses by its head what no body can make good, and drops bodies on which no answer depends: strangers cannot
    /// have bodies kept. The refusal is the one that `answer` gives.
    func decideBody(of request: HTTPRequest, on loop: LoopContext) -> HTTPBodyDecision {
        let rules = rules.current
        let isRefused: Bool
        switch request.path {
        case "/fps/license", "/fps/licenses/query", "/fps/challenge":
            guard request.method == .post else { return .drop }
            isRefused = license.refusesHead(of: request, under: rules.license, on: loop)
        default:
            guard let expressPlay else { return .drop }
            switch expressPlay.refusesHead(of: request, under: rules, on: loop) {
            case .some(let verdict): isRefused = verdict
            case nil: return .drop
            }
        }
        // A request whose token has come of age since then is not refused.
        guard isRefused, case .now(let response) = answer(request, on: loop) else { return .keep }
        return .refuse(response)
    }

    /// What `*` and addresses that are not there answer OPTIONS with.
    private static let allMethods = "GET, HEAD, POST, OPTIONS"

    /// The methods of an address, as OPTIONS and a refusal name them; nil if the address is not there.
    private static func methods(at path: String) -> String? {
        switch path {
        case "/fps/license", "/fps/licenses/query", "/fps/challenge": "POST, OPTIONS"
        case "/fps/certificate", "/livez", "/readyz": "GET, HEAD, OPTIONS"
        default: nil
        }
    }

    private func route(_ request: HTTPRequest, under rules: LiveRules, on loop: LoopContext) -> HTTPAnswer {
        let id = requestIDs.next(on: loop)
        switch request.path {
        case "/fps/license":
            guard request.method == .post else { return refuseMethod(of: request, id) }
            return license.answer(request, under: rules.license, id: id, on: loop)
        case "/fps/licenses/query":
            guard request.method == .post else { return refuseMethod(of: request, id) }
            return query.answer(request, under: rules.license, id: id, on: loop)
        case "/fps/challenge":
            guard request.method == .post else { return refuseMethod(of: request, id) }
            return challenge.answer(request, under: rules.license, id: id, on: loop)
        case "/fps/certificate":
            guard request.method.isRead else { return refuseMethod(of: request, id) }
            guard let response = rules.certificates.response(to: request, id: id) else { return refuse(.notFound, id) }
            return .now(response)
        case "/livez", "/readyz":
            guard request.method.isRead else { return refuseMethod(of: request, id) }
            return .now(request.path == "/livez" ? health.liveResponse(id) : health.readyResponse(id))
        default:
            return expressPlay?.answer(request, under: rules, id: id, on: loop) ?? refuse(.notFound, id)
        }
    }

    /// What never became a request has no origin that was read right: only a policy for all pages opens it.
    func refusal(of problem: HTTPProblem, from peer: HTTPPeer, on loop: LoopContext) -> HTTPResponse {
        let response = refusals.response(
            to: "input_refused", Problem(for: problem), because: RefusalCause("\(problem)"),
            id: requestIDs.next(on: loop))
        return rules.current.cors.decorate(response, for: nil)
    }

    private func refuseMethod(of request: HTTPRequest, _ id: RequestID) -> HTTPAnswer {
        refuse(.methodNotAllowed, id, allow: Self.methods(at: request.path))
    }

    private func refuse(_ code: ProblemCode, _ id: RequestID, allow: String? = nil) -> HTTPAnswer {
        let problem = Problem(code, allowedMethods: allow)
        return .now(refusals.response(to: "request_refused", problem, because: RefusalCause(code.title), id: id))
    }
}

extension HTTPMethod {
    /// Whether the method only reads.
    var isRead: Bool { self == .get || self == .head }
}
