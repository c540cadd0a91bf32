import ByteCoding
import EventLoops
import FairPlay
import KeyCrypto
import LadderWorkers
import POSIXSockets
import RouteKit
import ServiceConfiguration
import Synchronization
import Telemetry

/// The external modules of credentials, and the libraries of Apple's SDK.
///
/// Their worker processes are managed on a loop of their own, which serves no requests.
///
/// A module runs as long as the daemon. A reload starts new workers for a library whose settings or files have changed,
/// and waits for them before it puts their credentials in force. The old workers end with the last request that still
/// has the old credentials.
final class LadderModules: Sendable {
    /// The workers of one module or library.
    struct Running: Sendable {
        /// The name in the configuration.
        let name: String
        /// The names of the credentials that it serves.
        let credentials: [String]
        /// SHA-256 of everything with which a library was started; nil for a module.
        let digest: [UInt8]?
        fileprivate let pool: LadderWorkerPool

        fileprivate var ladder: SessionKeyLadder { digest == nil ? .module(pool) : .library(pool) }
    }

    private struct State {
        /// Nil as long as nothing was started.
        var group: EventLoopGroup?
        var running: [Running] = []
        /// Since when each one without a worker has had none.
        var lostSince: [String: MonotonicTime] = [:]
    }

    private let state = Mutex(State())
    private let callers: [LoopContext]
    private let logger: Logger
    private let clock: any MonotonicClock
    /// What has happened last to the workers of each one, in words; none for one whose workers are well.
    private let troubles = LadderTroubles()

    /// The time without a worker after which a credential counts as degraded. A worker that ends is usually replaced
    /// sooner.
    private static let replacementLimit: Duration = .seconds(5)
    /// The most time that calls under way may take when the daemon stops.
    private static let stopLimit: Duration = .seconds(5)

    /// Starts the workers, and waits until each module and library has a worker or has failed to start one.
    ///
    /// A failure is logged, and only its credentials cannot serve. `callers` are the loops that serve requests.
    init(
        _ loaded: LoadedConfiguration, for callers: [LoopContext], logger: Logger,
        clock: any MonotonicClock = SystemMonotonicClock()
    ) throws(DaemonError) {
        self.callers = callers
        self.logger = logger
        self.clock = clock
        var running: [Running] = []
        for (name, settings) in loaded.modules.sorted(by: { $0.key < $1.key }) {
            let pool = try start(LadderModuleConfiguration(settings), named: name)
            running.append(Running(name: name, credentials: [name], digest: nil, pool: pool))
        }
        for settings in loaded.libraries { running.append(try start(settings)) }
        for one in running where !isStarted(one) {
            // The pool has told its observer, and tries again.
            state.withLock { $0.lostSince[one.name] = MonotonicTime(nanoseconds: 0) }
        }
        state.withLock { $0.running = running }
    }

    /// The loop of the worker processes; nil if there are none.
    var loop: LoopContext? { state.withLock { $0.group?.loops[0] } }

    /// The ladders in force, by the names of their credentials.
    var byCredential: [String: SessionKeyLadder] { ladders(with: libraries) }

    /// The ladders by the names of their credentials, with these libraries in place of those in force.
    func ladders(with libraries: [Running]) -> [String: SessionKeyLadder] {
        let modules = state.withLock { $0.running }.filter { $0.digest == nil }
        var ladders: [String: SessionKeyLadder] = [:]
        for one in modules + libraries {
            for credential in one.credentials { ladders[credential] = one.ladder }
        }
        return ladders
    }

    // MARK: Libraries

    /// The libraries in force.
    var libraries: [Running] { state.withLock { $0.running }.filter { $0.digest != nil } }

    /// Returns the libraries of a new configuration. Those that do not run yet are started. Blocks until they are.
    ///
    /// Throws `libraryNotStarted`. What was started ends again if the result is not adopted.
    func prepare(_ settings: [LicenseLibrarySettings]) throws(DaemonError) -> [Running] {
        let known = libraries
        var prepared: [Running] = []
        for settings in settings {
            let digest = try Self.digest(of: settings)
            if let same = known.first(where: { $0.name == settings.name && $0.digest == digest }) {
                prepared.append(same)
            } else {
                let one = try start(settings)
                try wrap(
                    { (failure: LadderStartFailure) in
                        DaemonError.libraryNotStarted(name: settings.name, cause: failure.description)
                    },
                    try one.pool.waitUntilStarted())
                prepared.append(one)
            }
        }
        return prepared
    }

    /// Puts prepared libraries in force. The workers of others end with their last request.
    func adopt(_ libraries: [Running]) {
        state.withLock { $0.running = $0.running.filter { $0.digest == nil } + libraries }
    }

    private func start(_ settings: LicenseLibrarySettings) throws(DaemonError) -> Running {
        let configuration = try wrap(
            DaemonError.cryptography, try LadderModuleConfiguration(settings, using: CryptoContext()))
        return Running(
            name: settings.name, credentials: settings.credentials, digest: try Self.digest(of: settings),
            pool: try start(configuration, named: settings.name))
    }

    private static func digest(of settings: LicenseLibrarySettings) throws(DaemonError) -> [UInt8] {
        try wrap(DaemonError.cryptography, try settings.digest(using: CryptoContext()))
    }

    // MARK: Workers

    private func start(
        _ configuration: LadderModuleConfiguration, named name: String
    ) throws(DaemonError) -> LadderWorkerPool {
        LadderWorkerPool(
            configuration, on: try workerLoop(), for: callers,
            observer: { [logger, troubles] event in
                event.log(to: logger, credential: name)
                troubles.note(event, name)
            })
    }

    private func workerLoop() throws(DaemonError) -> LoopContext {
        if let loop { return loop }
        let group = try wrap(DaemonError.loops, try EventLoopGroup(count: 1, name: "modules"))
        if !FileConfinement.isAvailable {
            logger.warning(
                "module_files_unconfined",
                [.string("cause", "the kernel has no Landlock, or a filter of system calls forbids it")])
        }
        state.withLock { $0.group = group }
        return group.loops[0]
    }

    private func isStarted(_ one: Running) -> Bool {
        do throws(LadderStartFailure) {
            try one.pool.waitUntilStarted()
            return true
        } catch {
            return false
        }
    }

    /// Those that have had no worker for `replacementLimit`.
    private var lost: [Running] {
        let now = clock.monotonicTime
        return state.withLock { state in
            state.running.filter { one in
                let since = one.pool.statistics.aliveWorkerCount > 0 ? nil : state.lostSince[one.name] ?? now
                state.lostSince[one.name] = since
                return since.map { now - $0 >= Self.replacementLimit } ?? false
            }
        }
    }

    /// A degradation if modules or libraries have no worker. It stops all licenses if no other credential is left.
    func degradations(ofAll credentialCount: Int) -> [Degradation] {
        let lost = lost
        guard !lost.isEmpty else { return [] }
        return [
            Degradation(
                part: .credentials,
                cause: "no worker of the module of \(lost.map { troubles.words($0.name) }.joined(separator: ", "))",
                stopsLicenses: lost.reduce(0) { $0 + $1.credentials.count } >= credentialCount)
        ]
    }

    /// Ends the workers. Blocks until they are gone.
    func stop() {
        let (running, group) = state.withLock { ($0.running, $0.group) }
        for one in running { one.pool.stop(within: Self.stopLimit) }
        group?.stop(within: .seconds(1))
    }

    func register(in registry: MetricsRegistry) {
        let metrics: [(String, String, isCounter: Bool, @Sendable (LadderPoolStatistics) -> Double)] = [
            ("workers", "Worker processes that answer calls.", false, { Double($0.aliveWorkerCount) }),
            ("queue_length", "Calls that wait for a worker.", false, { Double($0.queueLength) }),
            ("answers_total", "Calls that were answered.", true, { Double($0.answerCount) }),
            ("refusals_total", "Calls whose SK..R1 block was refused.", true, { Double($0.refusalCount) }),
            ("failures_total", "Calls that the module could not answer.", true, { Double($0.failureCount) }),
            ("losses_total", "Calls that were lost with their worker.", true, { Double($0.lossCount) }),
            (
                "unavailable_total", "Calls for which no worker was free in time.", true,
                { Double($0.unavailableCount) }
            ),
            ("deaths_total", "Workers that ended although they were not told to.", true, { Double($0.deathCount) }),
            ("start_failures_total", "Workers that could not open the module.", true, { Double($0.startFailureCount) }),
        ]
        for (name, help, isCounter, value) in metrics {
            registry.series(
                "latchkey_module_\(name)", help: help, isCounter: isCounter, labels: ["credential"]
            ) { [weak self] in
                guard let running = self?.state.withLock({ $0.running }) else { return [] }
                return running.map { ([$0.name], value($0.pool.statistics)) }
            }
        }
    }
}

/// What has happened last to workers that are missing.
private final class LadderTroubles: Sendable {
    private let byCredential = Mutex<[String: String]>([:])

    func note(_ event: LadderWorkerEvent, _ credential: String) {
        byCredential.withLock { $0[credential] = event.trouble ?? $0[credential] }
    }

    /// The credential, and why it has no worker.
    func words(_ credential: String) -> String {
        let trouble = byCredential.withLock { $0[credential] }
        return credential + (trouble.map { " (\($0))" } ?? "")
    }
}

/// Runs the program `latchkeyd` as a worker for a ladder module. Only the daemon starts it in this role.
package enum LadderWorkerCommand {
    /// Runs a worker if the command line asks for it, and returns the exit status. Nil for every other command line.
    ///
    /// `words` begin with the program's name. Must be called before the process makes a thread or blocks a signal.
    package static func runIfAsked(_ words: [String]) -> Int32? {
        guard Array(words.dropFirst()) == [LadderWorkerRole.argument] else { return nil }
        return LadderWorkerRole.run()
    }
}
