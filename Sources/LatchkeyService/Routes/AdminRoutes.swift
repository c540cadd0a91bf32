import EventLoops
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import Telemetry

/// What the operator can reach: health, metrics, explanations and revocations, with the administrator's token where one is configured.
struct AdminRoutes: HTTPHandler {
    let health: Health
    let metrics: ServiceMetrics
    let explain: ExplainEndpoint
    /// Nil only on a loopback listener without a token file.
    let token: SharedSecret?
    let requestIDs: RequestIDs
    let refusals: Refusals
    /// Served only where a token is configured: whoever may revoke must have shown who it is.
    var revocations: RevocationEndpoint?

    func answer(_ request: HTTPRequest, on loop: LoopContext) -> HTTPAnswer {
        let id = requestIDs.next(on: loop)
        if request.path == "/v1/explain" {
            guard request.method == .post else { return refuse(.methodNotAllowed, id, allow: "POST") }
            if let code = refusalOfSender(of: request) { return refuse(code, id) }
            return explain.answer(request, id: id)
        }
        if request.path == RevocationEndpoint.path, let revocations {
            if let code = refusalOfSender(of: request) ?? (token == nil ? .tokenMissing : nil) {
                return refuse(code, id)
            }
            return revocations.answer(request, id: id)
        }
        guard ["/livez", "/readyz", "/metrics"].contains(request.path) else { return refuse(.notFound, id) }
        guard request.method.isRead else { return refuse(.methodNotAllowed, id, allow: "GET, HEAD") }
        switch request.path {
        case "/livez": return .now(health.liveResponse(id))
        case "/readyz": return .now(health.detailedReadyResponse(id))
        default:
            if let code = refusalOfSender(of: request) { return refuse(code, id) }
            return .now(metricsResponse(id))
        }
    }

    func refusal(of problem: HTTPProblem, from peer: HTTPPeer, on loop: LoopContext) -> HTTPResponse {
        refusals.response(
            to: "input_refused", Problem(for: problem), because: RefusalCause("\(problem)"),
            id: requestIDs.next(on: loop))
    }

    /// Why whoever asks is not the administrator; nil where they are, or where no token is configured.
    private func refusalOfSender(of request: HTTPRequest) -> ProblemCode? {
        guard let token else { return nil }
        guard case .one(let presented) = BearerToken.presented(in: request.fields) else { return .tokenMissing }
        return Self.isEqual(presented, token) ? nil : .tokenSignature
    }

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
