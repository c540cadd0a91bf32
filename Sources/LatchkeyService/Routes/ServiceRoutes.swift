import AdminRoutes
import HTTPServing
import KeyCrypto
import Licensing
import PackagerRoutes
import PlayerRoutes
import Records
import RouteKit
import Telemetry

/// Composes the routes of all listeners from the parts of a daemon. Tests use it too.
struct ServiceRoutes {
    /// The parts that endpoints use. A reload replaces none of them.
    struct Parts {
        let rules: LiveRulesCell
        let pipelines: LicensePipelines
        let lookup: LicenseLookup
        let pseudonyms: Pseudonymizer
        let metrics: ServiceMetrics
        let health: Health
        let logger: Logger
        let recent: RecentRefusals
        let clock: any WallClock
        var expressPlay: ExpressPlayService?
        var packagers: PackagerEndpoints.Parts?
        var revocations: RevocationEndpoint?
        var accounts: AccountEndpoint?
        var data: AdminDataEndpoint.Parts?
        var adminSessions = AdminSessions()
        var help = HelpFiles.none
    }

    let `public`: PublicRoutes
    private let parts: Parts
    private let requestIDs = RequestIDs()
    private let refusals: Refusals

    init(_ parts: Parts) {
        self.parts = parts
        let refusals = Refusals(
            logger: parts.logger, recent: parts.recent, clock: parts.clock,
            rules: { [rules = parts.rules] in rules.current.refusals }, counts: parts.metrics.refusalCounts)
        self.refusals = refusals
        let license = LicenseEndpoint(
            pipelines: parts.pipelines, metrics: parts.metrics.player, refusals: refusals, logger: parts.logger,
            clock: parts.clock)
        `public` = PublicRoutes(
            rules: parts.rules, license: license,
            query: LicenseQueryEndpoint(
                pipelines: parts.pipelines, lookup: parts.lookup, pseudonyms: parts.pseudonyms,
                metrics: parts.metrics.player, refusals: refusals, clock: parts.clock),
            challenge: ChallengeEndpoint(pipelines: parts.pipelines, refusals: refusals, clock: parts.clock),
            health: parts.health, requestIDs: requestIDs, refusals: refusals, preflights: parts.metrics.preflights,
            clock: parts.clock,
            expressPlay: parts.expressPlay.map { ExpressPlayRoutes(service: $0) },
            packagers: parts.packagers.map {
                PackagerEndpoints($0, refusals: refusals, logger: parts.logger, clock: parts.clock)
            })
    }

    /// The routes of the admin listener with this index in the configuration.
    ///
    /// - Parameter hosts: The host names that requests may have, besides numeric addresses and `localhost`.
    func admin(_ listener: Int, hosts: Set<String> = []) -> AdminHandler {
        let gate = AdminGate(
            listener: listener, hosts: hosts, sessions: parts.adminSessions,
            countingIn: parts.metrics.refusedAdminTokens)
        return AdminHandler(
            rules: { [rules = parts.rules] in rules.current.administration }, health: parts.health,
            metrics: parts.metrics.registry,
            explain: ExplainEndpoint(
                pipelines: parts.pipelines, refusals: refusals, logger: parts.logger, clock: parts.clock),
            recentRefusals: RefusalEndpoint(recent: parts.recent, health: parts.health),
            session: SessionEndpoint(
                gate: gate, sessions: parts.adminSessions, logger: parts.logger, help: parts.help), gate: gate,
            requestIDs: requestIDs, refusals: refusals, revocations: parts.revocations, accounts: parts.accounts,
            drain: DrainEndpoint(health: parts.health, logger: parts.logger, clock: SystemMonotonicClock()),
            help: parts.help,
            data: parts.data.map {
                AdminDataEndpoint($0, recent: parts.recent, refusals: refusals, clock: parts.clock)
            })
    }
}
