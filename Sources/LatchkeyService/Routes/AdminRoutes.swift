import EventLoops
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import ServiceConfiguration
import Telemetry

/// What operators can reach: health, metrics, explanations and revocations, with one of the listener's tokens if any is configured.
struct AdminRoutes: HTTPHandler {
    let rules: LiveRulesCell
    let health: Health
    let metrics: ServiceMetrics
    let explain: ExplainEndpoint
    /// Which admin listener this is, from 0: it chooses the tokens.
    let listener: Int
    let requestIDs: RequestIDs
    let refusals: Refusals
    /// Served only with a token: an operator who revokes must have shown it.
    var revocations: RevocationEndpoint?

    func answer(_ request: HTTPRequest, on loop: LoopContext) -> HTTPAnswer {
        let id = requestIDs.next(on: loop)
        let rules = rules.current
        if request.path == "/v1/explain" {
            guard request.method == .post else { return refuse(.methodNotAllowed, id, allow: "POST") }
            if let code = refusalOfSender(of: request, rules) { return refuse(code, id) }
            return explain.answer(request, under: rules.license, id: id)
        }
        if request.path == RevocationEndpoint.path, let revocations {
            switch sender(of: request, rules) {
            case .holder(let name):
                return revocations.answer(
                    request, by: "token:" + name, issuers: rules.administration.issuerNames, id: id)
            case .anyone: return refuse(.tokenMissing, id)
            case .stranger(let code): return refuse(code, id)
            }
        }
        guard ["/livez", "/readyz", "/metrics"].contains(request.path) else { return refuse(.notFound, id) }
        guard request.method.isRead else { return refuse(.methodNotAllowed, id, allow: "GET, HEAD") }
        switch request.path {
        case "/livez": return .now(health.liveResponse(id))
        case "/readyz": return .now(health.detailedReadyResponse(id))
        default:
            if let code = refusalOfSender(of: request, rules) { return refuse(code, id) }
            return .now(metricsResponse(id))
        }
    }

    func refusal(of problem: HTTPProblem, from peer: HTTPPeer, on loop: LoopContext) -> HTTPResponse {
        refusals.response(
            to: "input_refused", Problem(for: problem), because: RefusalCause("\(problem)"),
            id: requestIDs.next(on: loop))
    }

    private enum Sender {
        /// Has presented the token of this name.
        case holder(String)
        /// No token is configured, as only a loopback listener may have it.
        case anyone
        case stranger(ProblemCode)
    }

    /// Why the sender is not an administrator; nil if it is one, or if no token is configured.
    private func refusalOfSender(of request: HTTPRequest, _ rules: LiveRules) -> ProblemCode? {
        switch sender(of: request, rules) {
        case .holder, .anyone: nil
        case .stranger(let code): code
        }
    }

    /// Compares with every token in constant time, so that the time tells nothing of them.
    private func sender(of request: HTTPRequest, _ rules: LiveRules) -> Sender {
        let tokens = rules.administration.tokens[listener]
        guard !tokens.isEmpty else { return .anyone }
        guard case .one(let presented) = BearerToken.presented(in: request.fields) else {
            return .stranger(.tokenMissing)
        }
        let secret = SecretBytes(copying: presented)
        var holder: String?
        for token in tokens where token.secret.bytes.isEqual(to: secret) { holder = holder ?? token.name }
        return holder.map { .holder($0) } ?? .stranger(.tokenSignature)
    }

    private func metricsResponse(_ id: RequestID) -> HTTPResponse {
        let fields: HTTPFields = [
            "Content-Type": MetricsRegistry.contentType, "Cache-Control": "no-store", "X-Request-Id": id.text,
        ]
        return HTTPResponse(status: .ok, fields: fields, body: Array(metrics.registry.render().utf8))
    }

    private func refuse(_ code: ProblemCode, _ id: RequestID, allow: String? = nil) -> HTTPAnswer {
        let problem = Problem(code, allowedMethods: allow)
        return .now(refusals.response(to: "request_refused", problem, because: RefusalCause(code.title), id: id))
    }
}
