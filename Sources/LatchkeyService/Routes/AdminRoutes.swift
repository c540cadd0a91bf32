import Administration
import ByteCoding
import EventLoops
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import ServiceConfiguration
import Telemetry

/// The routes for operators: health, metrics, explanations, refusals, revocations and accounts.
///
/// All but health need one of the listener's tokens, if any is configured.
///
/// The admin listeners have a loop of their own, so they answer while the other loops are busy.
struct AdminRoutes: HTTPHandler {
    let rules: LiveRulesCell
    let health: Health
    let metrics: ServiceMetrics
    let explain: ExplainEndpoint
    let recentRefusals: RefusalEndpoint
    /// The index of this admin listener, which selects its tokens.
    let listener: Int
    let gate: AdminGate
    let requestIDs: RequestIDs
    let refusals: Refusals
    /// Served only to holders of a token, because the ledger names the operator who revokes.
    var revocations: RevocationEndpoint?
    /// Served only to holders of a token, because the ledger names the operator who makes a change.
    var accounts: AccountEndpoint?

    func answer(_ request: HTTPRequest, on loop: LoopContext) -> HTTPAnswer {
        let id = requestIDs.next(on: loop)
        let rules = rules.current
        if let refusal = gate.refusal(ofHostIn: request, hasToken: !tokens(rules).isEmpty) {
            return refuse(refusal, id)
        }
        switch request.path {
        case "/v1/explain":
            guard request.method == .post else { return refuse(request.method, id, allow: "POST") }
            if let refusal = refusalOfSender(of: request, rules) { return refuse(refusal, id) }
            return explain.answer(request, under: rules.license, id: id)
        case RevocationEndpoint.path:
            return answerWithActor(request, rules, id, revocations) { endpoint, actor in
                endpoint.answer(request, by: actor, issuers: rules.administration.names.issuers, id: id)
            }
        case "/livez", "/readyz", "/metrics": return answerReading(request, rules, id)
        case let path where path.hasPrefix(RefusalEndpoint.prefix): return answerReading(request, rules, id)
        default:
            guard let kind = AccountEndpoint.kind(of: request.path) else { return refuse(.notFound, id) }
            return answerWithActor(request, rules, id, accounts) { endpoint, actor in
                endpoint.answer(request, about: kind, by: actor, names: rules.administration.names, id: id)
            }
        }
    }

    /// Keeps only the bodies of administrators.
    func decideBody(of request: HTTPRequest, on loop: LoopContext) -> HTTPBodyDecision {
        let rules = rules.current
        guard request.path == "/v1/explain" || request.path == RevocationEndpoint.path else { return .drop }
        let refusal =
            gate.refusal(ofHostIn: request, hasToken: !tokens(rules).isEmpty) ?? refusalOfSender(of: request, rules)
        guard let refusal else { return .keep }
        return .refuse(response(to: refusal, requestIDs.next(on: loop)))
    }

    /// Answers a sender that has presented a token. The token's name is the actor in the ledger.
    private func answerWithActor<Endpoint>(
        _ request: HTTPRequest, _ rules: LiveRules, _ id: RequestID, _ endpoint: Endpoint?,
        _ answer: (Endpoint, _ actor: String) -> HTTPAnswer
    ) -> HTTPAnswer {
        guard let endpoint else { return refuse(.notFound, id) }
        do throws(AdminGate.Refusal) {
            if let name = try sender(of: request, rules) { return answer(endpoint, "token:" + name) }
            return refuse(AdminGate.Refusal(code: .adminTokenInvalid, cause: "the listener has no token"), id)
        } catch {
            return refuse(error, id)
        }
    }

    private func answerReading(_ request: HTTPRequest, _ rules: LiveRules, _ id: RequestID) -> HTTPAnswer {
        guard request.method.isRead else { return refuse(request.method, id, allow: "GET, HEAD") }
        switch request.path {
        case "/livez": return .now(health.liveResponse(id))
        case "/readyz": return .now(health.detailedReadyResponse(id))
        default: break
        }
        if let refusal = refusalOfSender(of: request, rules) { return refuse(refusal, id) }
        if request.path == "/metrics" { return .now(metricsResponse(id)) }
        return recentRefusals.response(to: request, id: id).map { .now($0) } ?? refuse(.notFound, id)
    }

    func refusal(of problem: HTTPProblem, from peer: HTTPPeer, on loop: LoopContext) -> HTTPResponse {
        refusals.response(
            to: "input_refused", Problem(for: problem), because: RefusalCause(problem.cause),
            id: requestIDs.next(on: loop))
    }

    /// The name of the token that the sender has presented. Nil if no token is configured, which only a loopback
    /// listener allows.
    private func sender(of request: HTTPRequest, _ rules: LiveRules) throws(AdminGate.Refusal) -> String? {
        let tokens = tokens(rules)
        return tokens.isEmpty ? nil : try gate.holder(in: request, of: tokens)
    }

    /// Why the sender is not an administrator; nil if it is one, or if no token is configured.
    private func refusalOfSender(of request: HTTPRequest, _ rules: LiveRules) -> AdminGate.Refusal? {
        do throws(AdminGate.Refusal) {
            _ = try sender(of: request, rules)
            return nil
        } catch {
            return error
        }
    }

    private func tokens(_ rules: LiveRules) -> [LoadedConfiguration.AdminToken] {
        rules.administration.tokens[listener]
    }

    private func metricsResponse(_ id: RequestID) -> HTTPResponse {
        let fields: HTTPFields = [
            "Content-Type": MetricsRegistry.contentType, "Cache-Control": "no-store", "X-Request-Id": id.text,
        ]
        return HTTPResponse(status: .ok, fields: fields, body: Array(metrics.registry.render().utf8))
    }

    private func refuse(_ code: ProblemCode, _ id: RequestID) -> HTTPAnswer {
        refuse(Problem(code), id)
    }

    private func refuse(_ method: HTTPMethod, _ id: RequestID, allow: String) -> HTTPAnswer {
        refuse(Problem(.methodNotAllowed, method: method, allowedMethods: allow), id)
    }

    private func refuse(_ problem: Problem, _ id: RequestID) -> HTTPAnswer {
        .now(refusals.response(to: "request_refused", problem, because: RefusalCause(problem.code.title), id: id))
    }

    private func refuse(_ refusal: AdminGate.Refusal, _ id: RequestID) -> HTTPAnswer {
        .now(response(to: refusal, id))
    }

    private func response(to refusal: AdminGate.Refusal, _ id: RequestID) -> HTTPResponse {
        let problem = Problem(refusal.code, retryAfterSeconds: refusal.retryAfterSeconds)
        return refusals.response(to: "request_refused", problem, because: RefusalCause(refusal.cause), id: id)
    }
}

/// `GET /v1/refusals/REQUEST-ID` of the admin listener: why a request was refused, if it is among the last 10,000.
struct RefusalEndpoint: Sendable {
    static let prefix = "/v1/refusals/"

    let recent: RecentRefusals

    /// The cause of a refusal; nil if the request is not known, or no longer known.
    func response(to request: HTTPRequest, id: RequestID) -> HTTPResponse? {
        guard let entry = recent.entry(of: String(request.path.dropFirst(Self.prefix.count))) else { return nil }
        let body = JSONWriter.object { writer in
            writer.member("request_id", entry.requestID)
            writer.member("time", Problem.format(entry.time))
            writer.member("event", entry.event)
            writer.member("code", entry.code)
            writer.member("cause", entry.cause)
            for number in entry.numbers { writer.member(number.name, number.value) }
        }
        return HTTPResponse(status: .ok, fields: .answer("application/json", id), body: body)
    }
}
