import ByteCoding
import EventLoops
import RouteKit
import ServiceConfiguration
import StoragePostgreSQL
import Telemetry
import Upkeep

/// The parts of a running daemon.
struct DaemonParts: Sendable {
    /// The longest time that all parts together need to stop: requests, tasks, and what is written and sent at last.
    static let stopLimit: Duration = Assembly.drainLimit + .seconds(20)

    let metrics: ServiceMetrics
    let health: Health
    let listeners: ServingListeners
    let loopCount: Int
    /// All loops of the daemon that serve requests or their parts, for the watchdog.
    let watchedLoops: [LoopContext]
    let adminLoop: LoopContext
    let records: LicenseRecords
    let running: RunningParts
    /// The database that all nodes share; nil if this node works alone.
    let shared: PostgreSQLStore?
    let clock: TrustedClock
    let secrets: InstallationSecrets
    let issuerKeys: IssuerKeyKeeper

    /// Puts a configuration in force, and returns the changed fields that need a restart.
    ///
    /// If it throws, nothing has changed.
    func adopt(_ new: LoadedConfiguration, _ book: RuleBook) throws(ReloadError) -> [String] {
        let draft = try wrap(ReloadError.daemon, try book.draft(new))
        try wrap(ReloadError.daemon, try listeners.checkExposure(of: draft))
        let certificates = try wrap(ReloadError.certificates, try listeners.certificates(of: draft))
        let keys = try wrap({ ReloadError.daemon(.loops($0)) }, try issuerKeys.draft(new))
        try wrap(ReloadError.daemon, try secrets.checkRestart(with: new, draft.fieldsThatNeedRestart))
        // The last step that can fail.
        try wrap(ReloadError.daemon, try secrets.adopt(new))
        listeners.adopt(certificates)
        issuerKeys.adopt(keys, tokens: draft.tokens) { book.adopt(draft) }
        records.adopt(new.configuration.live.overload)
        clock.setLeeway(new.configuration.live.entitlement.leeway)
        return draft.fieldsThatNeedRestart
    }
}
