import EventLoops
import HTTPMessages
import HTTPServing
import Licensing

/// What strangers can reach: licences, certificates, and whether the daemon is there.
struct PublicRoutes: HTTPHandler {
    let license: LicenseEndpoint
    let query: LicenseQueryEndpoint
    let challenge: ChallengeEndpoint
    let certificate: CertificateEndpoint
    let health: Health
    let requestIDs: RequestIDs
    let refusals: Refusals
    var expressPlay: ExpressPlayRoutes?

    func answer(_ request: HTTPRequest, on loop: LoopContext) -> HTTPAnswer {
        let id = requestIDs.next(on: loop)
        switch request.path {
        case "/fps/license":
            guard request.method == .post else { return refuse(.methodNotAllowed, id, allow: "POST") }
            return license.answer(request, id: id, on: loop)
        case "/fps/licenses/query":
            guard request.method == .post else { return refuse(.methodNotAllowed, id, allow: "POST") }
            return query.answer(request, id: id, on: loop)
        case "/fps/challenge":
            guard request.method == .post else { return refuse(.methodNotAllowed, id, allow: "POST") }
            return challenge.answer(request, id: id, on: loop)
        case "/fps/certificate":
            guard request.method.isRead else { return refuse(.methodNotAllowed, id, allow: "GET, HEAD") }
            guard let response = certificate.response(to: request, id: id) else { return refuse(.notFound, id) }
            return .now(response)
        case "/livez", "/readyz":
            guard request.method.isRead else { return refuse(.methodNotAllowed, id, allow: "GET, HEAD") }
            return .now(request.path == "/livez" ? health.liveResponse(id) : health.readyResponse(id))
        default:
            return expressPlay?.answer(request, id: id, on: loop) ?? refuse(.notFound, id)
        }
    }

    func refusal(of problem: HTTPProblem, from peer: HTTPPeer, on loop: LoopContext) -> HTTPResponse {
        refusals.response(
            to: "input_refused", Problem(for: problem), because: RefusalCause("\(problem)"),
            id: requestIDs.next(on: loop))
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
