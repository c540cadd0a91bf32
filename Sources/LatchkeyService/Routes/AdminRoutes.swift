import Administration
import ByteCoding
import EventLoops
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import Records
import ServiceConfiguration
import Telemetry

/// The routes for operators: health, metrics, the description of the API, explanations, refusals, revocations and
/// accounts.
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
    /// The same.
    let drain: DrainEndpoint

    func answer(_ request: HTTPRequest, on loop: LoopContext) -> HTTPAnswer {
        let id = requestIDs.next(for: request, on: loop)
        let rules = rules.current
        if let refusal = gate.refusal(ofHostIn: request, hasToken: !tokens(rules).isEmpty) {
            return refuse(refusal, id)
        }
        guard let address = AdminAddress(path: request.path) else { return refuse(.notFound, id) }
        // The parts that the other routes need have stopped, or will stop soon.
        if health.isEnding, !address.isServedAtTheEnd { return refuse(.storageUnavailable, id) }
        switch address {
        case .explain:
            guard request.method == .post else { return refuse(request.method, id, allow: address.methods) }
            if let refusal = refusalOfSender(of: request, rules) { return refuse(refusal, id) }
            return explain.answer(request, under: rules.license, id: id)
        case .revocations:
            return answerWithActor(request, rules, id, revocations) { endpoint, actor in
                endpoint.answer(request, by: actor, issuers: rules.administration.names.issuers, id: id)
            }
        case .drain, .endOfDrain:
            guard request.method == .post else { return refuse(request.method, id, allow: address.methods) }
            return answerWithActor(request, rules, id, drain) { endpoint, actor in
                .now(endpoint.answer(request, by: actor, id: id))
            }
        case .account(let kind):
            return answerWithActor(request, rules, id, accounts) { endpoint, actor in
                endpoint.answer(request, about: kind, by: actor, names: rules.administration.names, id: id)
            }
        case .live, .ready, .metrics, .refusal, .apiDescription: return answerReading(request, at: address, rules, id)
        }
    }

    /// Keeps only the bodies of administrators.
    func decideBody(of request: HTTPRequest, on loop: LoopContext) -> HTTPBodyDecision {
        let rules = rules.current
        guard AdminAddress(path: request.path)?.readsBody == true else { return .drop }
        let refusal =
            gate.refusal(ofHostIn: request, hasToken: !tokens(rules).isEmpty) ?? refusalOfSender(of: request, rules)
        guard let refusal else { return .keep }
        return .refuse(response(to: refusal, requestIDs.next(for: request, on: loop)))
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

    private func answerReading(
        _ request: HTTPRequest, at address: AdminAddress, _ rules: LiveRules, _ id: RequestID
    ) -> HTTPAnswer {
        guard request.method.isRead else { return refuse(request.method, id, allow: address.methods) }
        switch address {
        case .live: return .now(health.liveResponse(id))
        case .ready: return .now(health.detailedReadyResponse(id))
        default: break
        }
        if let refusal = refusalOfSender(of: request, rules) { return refuse(refusal, id) }
        switch address {
        case .metrics: return .now(metricsResponse(id))
        case .apiDescription: return .now(APIDescription.response(.allListeners, id))
        default: return recentRefusals.response(to: request, id: id).map { .now($0) } ?? refuse(.notFound, id)
        }
    }

    func refusal(of problem: HTTPProblem, from peer: HTTPPeer, on loop: LoopContext) -> HTTPResponse {
        refusals.response(
            to: "input_refused", Problem(for: problem), because: RefusalCause(problem.cause),
            id: requestIDs.next(for: peer, on: loop))
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
        let names = rules.current.administration.tokens[listener].map(\.name).joined(separator: ", ")
        let facts = RefusalFacts(
            found: nil, expected: refusal.code == .adminTokenInvalid ? "one of this listener's tokens: \(names)" : nil)
        return refusals.response(
            to: "request_refused", problem, because: RefusalCause(refusal.cause), id: id, facts: facts)
    }
}

/// `GET /v1/refusals/REQUEST-ID` of the admin listener: why a request was refused, what was found and expected, and
/// what to do, if it is among the last 10,000. With the id of a trace, the answer is about the newest refusal of that
/// trace. `latchkey why` asks here.
struct RefusalEndpoint: Sendable {
    static let prefix = "/v1/refusals/"

    let recent: RecentRefusals
    /// A refusal for want of a part of the daemon is told together with what does not work now.
    let health: Health

    /// The cause of a refusal; nil if the request is not known, or no longer known.
    func response(to request: HTTPRequest, id: RequestID) -> HTTPResponse? {
        let name = String(request.path.dropFirst(Self.prefix.count))
        guard let entry = recent.entry(of: name) ?? recent.newestEntry(ofTrace: name) else { return nil }
        let isOurs = ProblemCode(rawValue: entry.code)?.isOurFault == true
        let body = JSONWriter.object(RefusalReport(entry, degraded: isOurs ? health.degradedText : nil).write)
        return HTTPResponse(status: .ok, fields: .answer("application/json", id), body: body)
    }
}
