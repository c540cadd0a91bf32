import Administration
import ByteCoding
package import EventLoops
package import HTTPMessages
package import HTTPServing
import Licensing
import Records
package import RouteKit
import ServiceConfiguration
package import Telemetry

/// The routes for operators: health, metrics, the description of the API, sessions, explanations, refusals, revocations
/// and accounts.
///
/// `AdminAddress` says which permission each of them needs, and `AdminGate` who the sender is.
///
/// The admin listeners have a loop of their own, so they answer while the other loops are busy.
package struct AdminHandler: HTTPHandler {
    package let rules: @Sendable () -> AdminRules
    package let health: Health
    package let metrics: MetricsRegistry
    package let explain: ExplainEndpoint
    package let recentRefusals: RefusalEndpoint
    package let session: SessionEndpoint
    package let gate: AdminGate
    package let requestIDs: RequestIDs
    package let refusals: Refusals
    package var revocations: RevocationEndpoint?
    package var accounts: AccountEndpoint?
    package let drain: DrainEndpoint
    /// The site of the documents.
    package let help: HelpFiles
    /// What operators read beside health and metrics.
    package var data: AdminDataEndpoint?

    package init(
        rules: @escaping @Sendable () -> AdminRules, health: Health, metrics: MetricsRegistry,
        explain: ExplainEndpoint, recentRefusals: RefusalEndpoint, session: SessionEndpoint, gate: AdminGate,
        requestIDs: RequestIDs, refusals: Refusals, revocations: RevocationEndpoint? = nil,
        accounts: AccountEndpoint? = nil, drain: DrainEndpoint, help: HelpFiles = .none,
        data: AdminDataEndpoint? = nil
    ) {
        self.rules = rules
        self.health = health
        self.metrics = metrics
        self.explain = explain
        self.recentRefusals = recentRefusals
        self.session = session
        self.gate = gate
        self.requestIDs = requestIDs
        self.refusals = refusals
        self.revocations = revocations
        self.accounts = accounts
        self.drain = drain
        self.help = help
        self.data = data
    }

    /// A request that may be answered.
    private struct Admitted {
        let address: AdminAddress
        /// Nil at an address that is open to everyone.
        let sender: AdminSender?

        /// The sender's name in the ledger.
        var actor: String { (sender ?? AdminSender(proof: .none)).actor }
    }

    package func answer(_ request: HTTPRequest, on loop: LoopContext) -> HTTPAnswer {
        let id = requestIDs.next(for: request, on: loop)
        let rules = rules()
        do throws(AdminRefusal) {
            return try answer(request, admit(request, rules), under: rules, id)
        } catch {
            return .now(response(to: error, of: request, id))
        }
    }

    /// Keeps only the bodies of senders that may use them.
    package func decideBody(of request: HTTPRequest, on loop: LoopContext) -> HTTPBodyDecision {
        guard let address = AdminAddress(path: request.path), address.readsBody else { return .drop }
        do throws(AdminRefusal) {
            let admitted = try admit(request, rules())
            if admitted.sender == nil { try session.refuse(head: request) }
            return .keep
        } catch {
            return .refuse(response(to: error, of: request, requestIDs.next(for: request, on: loop)))
        }
    }

    package func refusal(
        of problem: HTTPProblem, in head: HTTPRequestHead?, from peer: HTTPPeer, on loop: LoopContext
    ) -> HTTPResponse {
        refusals.response(
            to: "input_refused", Problem(for: problem), because: RefusalCause(problem.cause),
            id: requestIDs.next(for: peer, tracedBy: head?.fields, on: loop))
    }

    // MARK: Admission

    /// Decides by the head of a request whether it may be answered.
    private func admit(_ request: HTTPRequest, _ rules: AdminRules) throws(AdminRefusal) -> Admitted {
        let credentials = credentials(rules)
        try gate.checkHost(of: request, isForBrowsers: false, among: credentials)
        guard let address = AdminAddress(path: request.path) else {
            throw AdminRefusal(Self.isPublic(request.path) ? Problem.servedElsewhere(by: .public) : Problem(.notFound))
        }
        let entry = address.entry
        // The parts that the other routes need have stopped, or will stop soon.
        if health.isEnding, !entry.isServedAtTheEnd { throw AdminRefusal(.storageUnavailable) }
        if entry.isForBrowsers { try gate.checkHost(of: request, isForBrowsers: true, among: credentials) }
        switch address.access(for: request.method) {
        case nil:
            throw AdminRefusal(
                Problem(.methodNotAllowed, method: request.method, allowedMethods: entry.methods))
        case .everyone:
            return Admitted(address: address, sender: nil)
        case .everyAdministrator:
            let sender = try gate.sender(of: request, among: credentials, isPolled: entry.isPolled)
            return Admitted(address: address, sender: sender)
        case .permission(let permission):
            let sender = try gate.sender(of: request, among: credentials, isPolled: entry.isPolled)
            if sender.permissions.contains(permission) { return Admitted(address: address, sender: sender) }
            // The ledger must name the operator who makes a change.
            if credentials.isEmpty { throw AdminRefusal(.adminTokenInvalid, cause: "the listener has no token") }
            throw .roleMissing(permission, of: sender)
        }
    }

    /// Whether admin listeners serve an address at this path.
    package static func serves(path: String) -> Bool { AdminAddress(path: path) != nil }

    /// Whether every public listener serves an address at this path. Configured paths do not count.
    private static func isPublic(_ path: String) -> Bool {
        BuiltInPath(rawValue: path) != nil || path.hasPrefix(BuiltInPath.keysOfContent)
    }

    private func credentials(_ rules: AdminRules) -> AdminCredentials {
        rules.credentials[gate.listener]
    }

    // MARK: Answers

    private func answer(
        _ request: HTTPRequest, _ admitted: Admitted, under rules: AdminRules, _ id: RequestID
    ) throws(AdminRefusal) -> HTTPAnswer {
        switch admitted.address {
        case .page, .pageFile:
            guard let file = PageFiles.file(at: request.path) else { throw AdminRefusal(.notFound) }
            return .now(PageFiles.response(file, to: request, id: id))
        case .help:
            guard let response = help.response(to: request, id: id) else { throw AdminRefusal(.notFound) }
            return .now(response)
        case .live: return .now(health.liveResponse(id))
        case .ready: return .now(health.detailedReadyResponse(id))
        case .metrics: return .now(metricsResponse(id))
        case .apiDescription: return .now(APIDescription.response(.allListeners, id))
        case .whoAmI, .session: return .now(try sessionResponse(to: request, admitted, under: rules, id))
        case .explain: return explain.answer(request, under: rules.license, id: id)
        case .revocations:
            guard let revocations else { throw AdminRefusal(.notFound) }
            return revocations.answer(
                request, by: admitted.actor, issuers: rules.names.issuers, id: id)
        case .drain, .endOfDrain: return .now(drain.answer(request, by: admitted.actor, id: id))
        case .refusal:
            return .now(
                recentRefusals.response(to: request, id: id)
                    ?? refusals.absence("No refusal with this request id or trace id is known here", id: id))
        case .account(let kind):
            guard let accounts else { throw AdminRefusal(.notFound) }
            return accounts.answer(
                request, about: kind, by: admitted.actor, names: rules.names, id: id)
        case .data(let wanted):
            guard let data, let sender = admitted.sender else { throw AdminRefusal(.notFound) }
            return data.answer(request, at: wanted, by: admitted.actor, names: rules.names, id: id) { [self] in
                gate.allows(sender, wanted.permission, under: credentials(self.rules()))
            }
        }
    }

    private func sessionResponse(
        to request: HTTPRequest, _ admitted: Admitted, under rules: AdminRules, _ id: RequestID
    ) throws(AdminRefusal) -> HTTPResponse {
        let credentials = credentials(rules)
        // Only the beginning of a session is open to everyone.
        guard let sender = admitted.sender else { return try session.begin(request, among: credentials, id: id) }
        if admitted.address == .session { return session.end(request, by: sender, id: id) }
        return try session.whoAmI(sender, among: credentials, id: id)
    }

    private func metricsResponse(_ id: RequestID) -> HTTPResponse {
        let fields: HTTPFields = [
            "Content-Type": MetricsRegistry.contentType, "Cache-Control": "no-store", "X-Request-Id": id.text,
        ]
        return HTTPResponse(status: .ok, fields: fields, body: Array(metrics.render().utf8))
    }

    private func response(to refusal: AdminRefusal, of request: HTTPRequest, _ id: RequestID) -> HTTPResponse {
        var facts = refusal.facts
        facts.add(refusal.problem.addressFacts(of: request))
        return refusals.response(
            to: "request_refused", refusal.problem, because: RefusalCause(refusal.cause), id: id, facts: facts)
    }
}

/// `GET /v1/refusals/REQUEST-ID` of the admin listener: why a request was refused, what was found and expected, and
/// what to do, if memory still has it. With the id of a trace, the answer is about the newest refusal of that
/// trace. `latchkey why` asks here.
package struct RefusalEndpoint: Sendable {
    package static let prefix = "/v1/refusals/"

    package let recent: RecentRefusals
    /// A refusal for want of a part of the daemon is told together with what does not work now.
    package let health: Health

    package init(recent: RecentRefusals, health: Health) {
        self.recent = recent
        self.health = health
    }

    /// The cause of a refusal; nil if the request is not known, or no longer known.
    package func response(to request: HTTPRequest, id: RequestID) -> HTTPResponse? {
        let name = String(request.path.dropFirst(Self.prefix.count))
        guard let entry = recent.entry(of: name) ?? recent.newestEntry(ofTrace: name) else { return nil }
        let isOurs = ProblemCode(rawValue: entry.code)?.isOurFault == true
        return .json(id, RefusalReport(entry, degraded: isOurs ? health.degradedText : nil).write)
    }
}
