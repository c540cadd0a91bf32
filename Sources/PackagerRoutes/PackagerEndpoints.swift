package import Administration
import ByteCoding
package import ContentKeys
import Entitlements
package import EventLoops
package import HTTPMessages
package import HTTPServing
import Licensing
import PackagerAPI
import Records
package import RouteKit
package import Telemetry

/// The addresses of packagers. They are for programs, so they serve neither web pages nor OPTIONS.
///
/// They exist even if no packager is configured, and then refuse every credential. So an answer does not show whether
/// packagers are configured.
package struct PackagerEndpoints: Sendable {
    /// The parts of the daemon that serve packagers' requests.
    package struct Parts: Sendable {
        package let desk: KeyDesk
        package let gate: PackagerGate
        package let loop: PackagerLoop
        package let metrics: PackagerMetrics
        package let urls: SKDTemplate
        let documents = RecentDocuments()

        package init(
            desk: KeyDesk, gate: PackagerGate, loop: PackagerLoop, metrics: PackagerMetrics, urls: SKDTemplate
        ) {
            self.desk = desk
            self.gate = gate
            self.loop = loop
            self.metrics = metrics
            self.urls = urls
        }
    }

    private let speke: SPEKEEndpoint
    private let keys: KeyEndpoint

    package init(_ parts: Parts, refusals: Refusals, logger: Logger, clock: any WallClock) {
        let service = PackagerService(parts: parts, refusals: refusals, logger: logger, clock: clock)
        speke = SPEKEEndpoint(service: service)
        keys = KeyEndpoint(service: service)
    }

    /// The answer at an address of packagers.
    package func answer(
        _ request: HTTPRequest, at address: PackagerAddress, under rules: PackagerRules, id: RequestID,
        on loop: LoopContext
    ) -> HTTPAnswer {
        switch address {
        case .speke(let route): speke.answer(request, to: route, under: rules, id: id, on: loop)
        case .keys: keys.answer(request, about: nil, under: rules, id: id, on: loop)
        case .keysOfContent(let contentID): keys.answer(request, about: contentID, under: rules, id: id, on: loop)
        }
    }

    /// The refusal of a request whose head shows that it does not come from a packager; nil if it comes from one.
    package func refusal(
        ofHead request: HTTPRequest, at address: PackagerAddress, under rules: PackagerRules, id: RequestID,
        on loop: LoopContext
    ) -> HTTPResponse? {
        switch address {
        case .speke(let route): speke.refusal(ofHead: request, to: route, under: rules, id: id, on: loop)
        case .keys, .keysOfContent: keys.refusal(ofHead: request, at: address, under: rules, id: id, on: loop)
        }
    }
}

/// The common part of the endpoints of packagers.
package final class PackagerService: Sendable {
    let parts: PackagerEndpoints.Parts
    let refusals: Refusals
    let logger: Logger
    let clock: any WallClock

    init(parts: PackagerEndpoints.Parts, refusals: Refusals, logger: Logger, clock: any WallClock) {
        self.parts = parts
        self.refusals = refusals
        self.logger = logger
        self.clock = clock
    }

    /// A request that is being served.
    struct Context: Sendable {
        let id: RequestID
        let interface: PackagerMetrics.Interface
        let startedAt: MonotonicTime
    }

    /// The result of a request that was served.
    struct Served: Sendable {
        let response: HTTPResponse
        /// Nil if the request was not about a content.
        let contentID: ContentID?
        let keys: Keys

        enum Keys: Sendable {
            case given([DeliveredKey.Outcome])
            /// The packager has got the same keys so often that ledger and log only count the repetitions. The number
            /// is that of the keys.
            case repeated(Int)
        }

        init(response: HTTPResponse, contentID: ContentID?, outcomes: [DeliveredKey.Outcome] = []) {
            self.response = response
            self.contentID = contentID
            keys = .given(outcomes)
        }

        init(response: HTTPResponse, contentID: ContentID?, repeated count: Int) {
            self.response = response
            self.contentID = contentID
            keys = .repeated(count)
        }
    }

    /// The packager that sends a request, found by the head. It does not count towards the packager's rate limit.
    func sender(of request: HTTPRequest, under rules: PackagerRules) throws(PackagerFailure) -> Packager {
        try wrap(
            { (refusal: PackagerGate.Refusal) in
                PackagerFailure(refusal, refusal.values(of: request, in: rules.directory))
            }, try parts.gate.sender(of: request, in: rules.directory))
    }

    /// Counts a request of a packager, or refuses it.
    func admit(_ packager: Packager) throws(PackagerFailure) {
        try wrap(
            { (refusal: PackagerGate.Refusal) in
                PackagerFailure(
                    refusal,
                    CheckedValues(
                        found: "too many requests of the packager \(packager.name)",
                        expected: packager.rate?.words(of: "packagers[].rate")))
            }, try parts.gate.admit(packager))
    }

    /// Runs `body` on the thread of packagers, and counts and logs its result.
    func serve(
        _ packager: Packager, _ context: Context, on loop: LoopContext,
        refuse: (PackagerFailure) -> HTTPResponse,
        _ body: @escaping @Sendable () async throws(PackagerFailure) -> Served
    ) async -> HTTPResponse {
        let result = await parts.loop.run { _ in
            do throws(PackagerFailure) {
                return Result<Served, PackagerFailure>.success(try await body())
            } catch {
                return .failure(error)
            }
        }
        switch result ?? .failure(.tooMuchToDo) {
        case .success(let served):
            return note(served, to: packager, context, on: loop)
        case .failure(var failure):
            failure.packager = packager
            note(failure, context)
            return refuse(failure)
        }
    }

    /// Counts and logs an answer with keys, and returns its response.
    func note(
        _ served: Served, to packager: Packager, _ context: Context, on loop: LoopContext
    ) -> HTTPResponse {
        parts.metrics.asked(packager.name, context.interface, .served)
        switch served.keys {
        case .given(let outcomes): parts.metrics.gave(packager.name, outcomes)
        case .repeated(let count): parts.metrics.gave(packager.name, found: count)
        }
        log(served, packager, context, after: loop.now - context.startedAt)
        return served.response
    }

    /// Counts and logs a refusal.
    func note(_ failure: PackagerFailure, _ context: Context) {
        if let packager = failure.packager {
            parts.metrics.asked(packager.name, context.interface, failure.outcome)
        }
        var facts = failure.facts
        facts[.credential] = facts[.credential] ?? failure.packager?.actor
        refusals.note(
            "packager_refused", Problem(failure.code), because: RefusalCause(failure.cause), id: context.id,
            facts: facts, spcVersion: 0, shape: context.interface.rawValue)
    }

    private func log(_ served: Served, _ packager: Packager, _ context: Context, after duration: Duration) {
        let (cause, count, created) =
            switch served.keys {
            case .given(let outcomes): (LogCause.client, outcomes.count, outcomes.count { $0 != .found })
            case .repeated(let count): (LogCause.repetition, count, 0)
            }
        logger.log(
            .info, "packager_served", from: cause,
            context.id.logFields + [
                .string("packager", packager.name),
                .string("interface", context.interface.rawValue), .string("content", served.contentID?.text ?? ""),
                .integer("keys", count), .integer("created", created),
                .double("seconds", duration / .seconds(1)),
            ])
    }

    /// The packager as the ledger names the receiver of keys.
    func client(_ packager: Packager, _ id: RequestID, manner: String, _ contentID: ContentID) -> KeyDesk.Client {
        KeyDesk.Client(
            actor: packager.actor, request: id.text, manner: manner,
            mayCreate: packager.permits(.create, of: contentID))
    }
}
