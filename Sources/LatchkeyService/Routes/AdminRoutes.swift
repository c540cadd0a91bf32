import EventLoops
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import Telemetry

/// What the operator can reach: health, metrics, explanations and revocations, with the administrator's token where one is configured.
struct AdminRoutes: HTTPHandler {
    let rules: LiveRulesCell
    let health: Health
    let metrics: ServiceMetrics
    let explain: ExplainEndpoint
    /// Which admin listener this is, from 0: it chooses the token.
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
            if let code = refusalOfSender(of: request, rules) ?? (token(rules) == nil ? .tokenMissing : nil) {
                return refuse(code, id)
            }
            return revocations.answer(request, issuers: rules.administration.issuerNames, id: id)
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

    /// Why the sender is not the administrator; nil if it is, or if no token is configured.
    private func refusalOfSender(of request: HTTPRequest, _ rules: LiveRules) -> ProblemCode? {
        guard let token = token(rules) else { return nil }
        guard case .one(let presented) = BearerToken.presented(in: request.fields) else { return .tokenMissing }
        return Self.isEqual(presented, token) ? nil : .tokenSignature
    }

    /// Nil only on a loopback listener without a token file.
    private func token(_ rules: LiveRules) -> SharedSecret? { rules.administration.tokens[listener] }

    /// Compares in constant time.
    private static func isEqual(_ presented: [UInt8], _ token: SharedSecret) -> Bool {
        token.bytes.isEqual(to: SecretBytes(copying: presented))
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
