import EventLoops
import FairPlay
import LadderWorkers
import POSIXSockets
import ServiceConfiguration
import Synchronization
import Telemetry

/// The external modules of all credentials that have one: their worker processes, on one loop of their own beside those
/// that serve.
final class LadderModules: Sendable {
    private let group: EventLoopGroup
    private let pools: [(credential: String, pool: LadderWorkerPool)]

    /// How long a credential may be without a worker before it counts as degraded: a worker that ends is replaced at
    /// once.
    private static let replacementLimit: Duration = .seconds(5)
    /// Since when credentials are without a worker.
    private let lostSince: Mutex<[String: MonotonicTime]>
    private let clock: any MonotonicClock

    /// How long calls that are being answered may take when the daemon stops.
    private static let stopLimit: Duration = .seconds(5)

    /// Starts the workers, and waits until each module has a worker or has shown why it can have none: that is logged,
    /// and its credential alone goes without. Nil if no credential has a module.
    ///
    /// `callers` are the loops that serve requests.
    init?(
        _ settings: [String: ExternalModuleSettings], for callers: [LoopContext], logger: Logger,
        clock: any MonotonicClock = SystemMonotonicClock()
    ) throws(EventLoopError) {
        guard !settings.isEmpty else { return nil }
        let group = try EventLoopGroup(count: 1, name: "modules")
        if !FileConfinement.isAvailable {
            logger.warning(
                "module_files_unconfined",
                [.string("cause", "the kernel has no Landlock, or a filter of system calls forbids it")])
        }
        self.group = group
        pools = settings.sorted { $0.key < $1.key }.map { credential, settings in
            let pool = LadderWorkerPool(
                LadderModuleConfiguration(settings), on: group.loops[0], for: callers,
                observer: { event in event.log(to: logger, credential: credential) })
            return (credential, pool)
        }
        var lost: [String: MonotonicTime] = [:]
        for (credential, pool) in pools {
            do throws(LadderStartFailure) {
                try pool.waitUntilStarted()
            } catch {
                // The pool has told its observer, and goes on trying.
                lost[credential] = MonotonicTime(nanoseconds: 0)
            }
        }
        self.clock = clock
        lostSince = Mutex(lost)
    }

    /// The loop of the worker processes.
    var loop: LoopContext { group.loops[0] }

    /// By the name of the credential.
    var byCredential: [String: any LadderModule] {
        Dictionary(uniqueKeysWithValues: pools.map { ($0.credential, $0.pool) })
    }

    /// Those that have had no worker for some time.
    private var lostCredentials: [String] {
        let now = clock.monotonicTime
        return lostSince.withLock { lostSince in
            pools.map { ($0.credential, $0.pool.statistics.aliveWorkerCount) }.filter { credential, count in
                let since = count > 0 ? nil : lostSince[credential] ?? now
                lostSince[credential] = since
                return since.map { now - $0 >= Self.replacementLimit } ?? false
            }.map(\.0)
        }
    }

    /// Credentials whose module has no worker. They stop all licences if there is no other credential.
    func degradations(ofAll credentialCount: Int) -> [Degradation] {
        let lost = lostCredentials
        guard !lost.isEmpty else { return [] }
        return [
            Degradation(
                part: .credentials, cause: "no worker of the module of \(lost.joined(separator: ", "))",
                stopsLicences: lost.count >= credentialCount)
        ]
    }

    /// Ends the workers; blocks until they are gone.
    func stop() {
        for (_, pool) in pools { pool.stop(within: Self.stopLimit) }
        group.stop(within: .seconds(1))
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
                "unavailable_total", "Calls for which no worker was there in time.", true,
                { Double($0.unavailableCount) }
            ),
            ("deaths_total", "Workers that ended without having been told to.", true, { Double($0.deathCount) }),
            ("start_failures_total", "Workers that could not open the module.", true, { Double($0.startFailureCount) }),
        ]
        for (name, help, isCounter, value) in metrics {
            registry.samples(
                "latchkey_module_\(name)", help: help, isCounter: isCounter, label: "credential",
                pools.map { credential, pool in
                    let statistics = pool.statistics
                    return (credential, { value(statistics) })
                })
        }
    }
}

extension LadderModuleConfiguration {
    fileprivate init(_ settings: ExternalModuleSettings) {
        self.init(libraryPath: settings.library, data: settings.data)
        workerCount = settings.workers
        callDeadline = settings.callDeadline
        processorTimeMaximum = settings.processorTime
        memoryMaximum = settings.memoryLimit
        user = settings.user
    }
}

/// Runs the program `latchkeyd` as a worker for a ladder module. Only the daemon starts it in this role.
package enum LadderWorkerCommand {
    /// Does a worker's work if these words of the command line (the program's name first) ask for it, and gives the
    /// exit status; nil for every other command line. To be called before anything has made a thread or blocked a
    /// signal.
    package static func runIfAsked(_ words: [String]) -> Int32? {
        guard Array(words.dropFirst()) == [LadderWorkerRole.argument] else { return nil }
        return LadderWorkerRole.run()
    }
}
