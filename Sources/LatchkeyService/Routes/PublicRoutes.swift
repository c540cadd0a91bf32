import AdminRoutes
import EventLoops
import HTTPMessages
import HTTPServing
import Licensing
import PackagerRoutes
import PlayerRoutes
import Records
import RouteKit
import Telemetry

/// The routes that every client can reach: licenses, certificates, health, and the addresses of packagers.
struct PublicRoutes: HTTPHandler {
    let rules: LiveRulesCell
    let license: LicenseEndpoint
    let query: LicenseQueryEndpoint
    let challenge: ChallengeEndpoint
    let health: Health
    let requestIDs: RequestIDs
    let refusals: Refusals
    let preflights: RefusedPreflights
    let clock: any WallClock
    var expressPlay: ExpressPlayRoutes?
    var packagers: PackagerEndpoints?

    func answer(_ request: HTTPRequest, on loop: LoopContext) -> HTTPAnswer {
        let rules = rules.current
        let address = rules.addresses.address(at: request.path)
        if case .packager(let address) = address {
            let id = requestIDs.next(for: request, on: loop)
            return packagers?.answer(request, at: address, under: rules.packagers, id: id, on: loop)
                ?? refuse(.notFound, request, id)
        }
        if request.method == .options, let refused = rules.cors.refusal(ofPreflight: request.fields) {
            preflights.note(refused, at: clock.wallTime.seconds)
        }
        return rules.cors.answer(request, methods: address?.methods ?? Self.allMethods) {
            route(request, to: address, under: rules, on: loop)
        }
    }

    /// Decides by the head whether the body is read.
    ///
    /// A request that its body cannot save is refused now, with the refusal that `answer` gives. A body that no answer
    /// depends on is dropped. So clients without a good token can have only small bodies kept, which may be reports of
    /// ended sessions.
    func decideBody(of request: HTTPRequest, on loop: LoopContext) -> HTTPBodyDecision {
        let rules = rules.current
        let isRefused: Bool
        let address = rules.addresses.address(at: request.path)
        if case .packager(let address) = address {
            let id = requestIDs.next(for: request, on: loop)
            return packagers?.refusal(ofHead: request, at: address, under: rules.packagers, id: id, on: loop)
                .map { .refuse($0) } ?? .keep
        }
        switch address?.service(for: request.method) {
        case .license:
            isRefused =
                !request.head.mayBeSessionReport
                && license.refusesHead(of: request, under: rules.license, mayBringToken: true, on: loop)
        case .licenseQuery, .challenge:
            isRefused = license.refusesHead(of: request, under: rules.license, on: loop)
        case .expressPlayToken: isRefused = false  // The form may hold the customer's secret.
        case .entitlementServer:
            guard let expressPlay else { return .drop }
            isRefused = expressPlay.refusesEntitlementHead(of: request, under: rules.expressPlay)
        case .certificate, .live, .ready, .apiDescription, .packager, nil: return .drop
        }
        // `answer` may work now: the token may have become valid since the head was judged.
        guard isRefused, case .now(let response) = answer(request, on: loop) else { return .keep }
        return .refuse(response)
    }

    /// The methods in the answer to OPTIONS for `*` and for unknown addresses.
    private static let allMethods = "GET, HEAD, POST, OPTIONS"

    private func route(
        _ request: HTTPRequest, to address: PublicAddress?, under rules: LiveRules, on loop: LoopContext
    ) -> HTTPAnswer {
        let id = requestIDs.next(for: request, on: loop)
        let service = address?.service(for: request.method)
        // ExpressPlay's endpoints make their own refusals, because some of their numbers have no code of ours.
        if let answer = answerExpressPlay(request, to: service, under: rules, id: id, on: loop) { return answer }
        let answer = answer(request, at: address, by: service, under: rules, id, on: loop)
        return request.restatement(at: address).map(answer.mapped) ?? answer
    }

    /// Nil at any other address, or if the rules have no ExpressPlay settings.
    private func answerExpressPlay(
        _ request: HTTPRequest, to service: PublicAddress.Service?, under rules: LiveRules, id: RequestID,
        on loop: LoopContext
    ) -> HTTPAnswer? {
        guard let expressPlay, let settings = rules.expressPlay else { return nil }
        switch service {
        case .expressPlayToken:
            return expressPlay.answerToken(request, settings, under: rules.license, id: id, on: loop)
        case .entitlementServer:
            return expressPlay.answerEntitlement(request, settings, under: rules.license, id: id, on: loop)
        case .license, .certificate, .licenseQuery, .challenge, .live, .ready, .apiDescription, .packager, nil:
            return nil
        }
    }

    private func answer(
        _ request: HTTPRequest, at address: PublicAddress?, by service: PublicAddress.Service?,
        under rules: LiveRules, _ id: RequestID, on loop: LoopContext
    ) -> HTTPAnswer {
        guard let address else {
            let isForOperators = AdminHandler.serves(path: request.path)
            let problem = isForOperators ? Problem.servedElsewhere(by: .admin) : Problem(.notFound)
            return .now(respond(to: problem, request, id))
        }
        switch service {
        case .license(let address):
            return license.answer(request, at: address, under: rules.license, id: id, on: loop)
        case .licenseQuery: return query.answer(request, under: rules.license, id: id, on: loop)
        case .challenge: return challenge.answer(request, under: rules.license, id: id, on: loop)
        case .certificate(let format):
            switch rules.certificates.answer(to: request, standard: format, id: id) {
            case .found(let response): return .now(response)
            case .notFound(let absence):
                return .now(
                    refusals.response(
                        to: "request_refused", Problem(.notFound), because: RefusalCause(absence.cause), id: id,
                        facts: RefusalFacts(found: absence.found, expected: absence.expected)))
            case .formatUnknown: return .now(respond(to: CertificateEndpoint.formatProblem, request, id))
            }
        case .live: return .now(health.liveResponse(id))
        case .ready: return .now(health.readyResponse(id))
        case .apiDescription: return .now(APIDescription.response(.publicListener, id))
        case .expressPlayToken, .entitlementServer, .packager: return refuse(.notFound, request, id)
        case nil:
            let problem = Problem(.methodNotAllowed, method: request.method, allowedMethods: address.methods)
            return .now(respond(to: problem, request, id))
        }
    }

    /// The refusal of input that did not become a request, in the form of its address.
    ///
    /// Without a head, its address and origin are not known. Then only a CORS policy for all pages lets a page read the
    /// refusal.
    func refusal(
        of problem: HTTPProblem, in head: HTTPRequestHead?, from peer: HTTPPeer, on loop: LoopContext
    ) -> HTTPResponse {
        let rules = rules.current
        var response = refusals.response(
            to: "input_refused", Problem(for: problem), because: RefusalCause(problem.cause),
            id: requestIDs.next(for: peer, tracedBy: head?.fields, on: loop))
        if let head {
            let request = HTTPRequest(head: head, body: [], peer: peer)
            let address = rules.addresses.address(at: request.path)
            // The clients of an entitlement server read no page.
            let isEntitlementServer = if case .entitlementServer = address { true } else { false }
            if !isEntitlementServer, let restate = request.restatement(at: address) { response = restate(response) }
        }
        return rules.cors.decorate(response, for: head?.fields["Origin"])
    }

    private func refuse(_ code: ProblemCode, _ request: HTTPRequest, _ id: RequestID) -> HTTPAnswer {
        .now(respond(to: Problem(code), request, id))
    }

    private func respond(to problem: Problem, _ request: HTTPRequest, _ id: RequestID) -> HTTPResponse {
        refusals.response(
            to: "request_refused", problem, because: RefusalCause(problem.detail ?? problem.code.title), id: id,
            facts: problem.addressFacts(of: request))
    }
}

extension HTTPRequest {
    /// Changes a refusal of this request to the form of its client: NAGRA's if the client presents its tokens in
    /// NAGRA's header at an address under `/fps/`, otherwise the form of the address. Nil if it stays as it is.
    fileprivate func restatement(at address: PublicAddress?) -> (@Sendable (HTTPResponse) -> HTTPResponse)? {
        switch address?.errorManner {
        case .problem where !expectsNAGRAErrors, nil where !expectsNAGRAErrors: return nil
        case .problem, .nagra, nil: return { $0.restatedForNAGRA() }
        case .expressPlay: return { [format = expressPlayErrorFormat] in $0.restated(in: format) }
        }
    }
}

extension HTTPAnswer {
    fileprivate func mapped(_ change: @escaping @Sendable (HTTPResponse) -> HTTPResponse) -> HTTPAnswer {
        switch self {
        case .now(let response): .now(change(response))
        case .later(let work): .later { loop in change(await work(loop)) }
        case .stream(let head, let begin): .stream(change(head), begin)
        }
    }
}

extension HTTPRequestHead {
    /// The size of the largest report of ended sessions that is acknowledged without a valid token, in bytes.
    ///
    /// It has room for 64 sessions of about 100 bytes each.
    private static let reportSizeMaximum = 8 * 1024
    /// The size of the largest head of such a report in memory, in bytes. The head must not cost more than the body.
    private static let reportHeadSizeMaximum = 4 * 1024

    /// Whether the body is small enough to be a report of ended sessions.
    ///
    /// Only the first bytes of the body show whether it is one, so it must be read. A device repeats a report until it
    /// is acknowledged, and its token has often expired by then.
    fileprivate var mayBeSessionReport: Bool {
        guard case .length(let size) = transfer.framing else { return false }
        return size <= Self.reportSizeMaximum && memorySize <= Self.reportHeadSizeMaximum
    }
}

extension CORSPolicy {
    /// Answers OPTIONS with the methods of the address, and lets allowed web pages read every other answer.
    ///
    /// That includes errors. Otherwise a page could not tell an error from a network failure.
    func answer(_ request: HTTPRequest, methods: String, _ inner: () -> HTTPAnswer) -> HTTPAnswer {
        let origin = request.fields["Origin"]
        if request.method == .options { return .now(preflightResponse(for: origin, methods: methods)) }
        switch inner() {
        case .now(let response): return .now(decorate(response, for: origin))
        case .later(let work): return .later { loop in decorate(await work(loop), for: origin) }
        case .stream(let head, let begin): return .stream(decorate(head, for: origin), begin)
        }
    }
}
