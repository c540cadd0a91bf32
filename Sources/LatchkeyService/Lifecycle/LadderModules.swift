import EventLoops
import FairPlay
import LadderWorkers
import POSIXSockets
import RouteKit
import ServiceConfiguration
import Synchronization
import Telemetry

/// The external modules of all credentials that have one.
///
/// Their worker processes are managed on a loop of their own, which serves no requests.
final class LadderModules: Sendable {
    private let group: EventLoopGroup
    private let pools: [(credential: String, pool: LadderWorkerPool)]

    /// The time without a worker after which a credential counts as degraded. A worker that ends is usually replaced
    /// sooner.
    private static let replacementLimit: Duration = .seconds(5)
    /// Since when each credential without a worker has had none.
    private let lostSince: Mutex<[String: MonotonicTime]>
    private let clock: any MonotonicClock
    /// What has happened last to the workers of each credential, in words; none for one whose workers are well.
    private let troubles: LadderTroubles

    /// The most time that calls under way may take when the daemon stops.
    private static let stopLimit: Duration = .seconds(5)

    /// Starts the workers, and waits until each module has a worker or has failed to start one. Nil if no credential
    /// has a module.
    ///
    /// A failure is logged, and only that module's credential cannot serve. `callers` are the loops that serve
    /// requests.
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
        let troubles = LadderTroubles()
        self.troubles = troubles
        pools = settings.sorted { $0.key < $1.key }.map { credential, settings in
            let pool = LadderWorkerPool(
                LadderModuleConfiguration(settings), on: group.loops[0], for: callers,
                observer: { event in
                    event.log(to: logger, credential: credential)
                    troubles.note(event, credential)
                })
            return (credential, pool)
        }
        var lost: [String: MonotonicTime] = [:]
        for (credential, pool) in pools {
            do throws(LadderStartFailure) {
                try pool.waitUntilStarted()
            } catch {
                // The pool has told its observer, and tries again.
                lost[credential] = MonotonicTime(nanoseconds: 0)
            }
        }
        self.clock = clock
        lostSince = Mutex(lost)
    }

    /// The loop of the worker processes.
    var loop: LoopContext { group.loops[0] }

    /// The modules by the names of their credentials.
    var byCredential: [String: any LadderModule] {
        Dictionary(uniqueKeysWithValues: pools.map { ($0.credential, $0.pool) })
    }

    /// The credentials that have had no worker for `replacementLimit`.
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

    /// A degradation if modules have no worker. It stops all licences if no other credential is left.
    func degradations(ofAll credentialCount: Int) -> [Degradation] {
        let lost = lostCredentials
        guard !lost.isEmpty else { return [] }
        return [
            Degradation(
                part: .credentials,
                cause: "no worker of the module of \(lost.map(troubles.words).joined(separator: ", "))",
                stopsLicences: lost.count >= credentialCount)
        ]
    }

    /// Ends the workers. Blocks until they are gone.
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
                "unavailable_total", "Calls for which no worker was free in time.", true,
                { Double($0.unavailableCount) }
            ),
            ("deaths_total", "Workers that ended although they were not told to.", true, { Double($0.deathCount) }),
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
    /// Runs a worker if the command line asks for it, and returns the exit status. Nil for every other command line.
    ///
    /// `words` begin with the program's name. Must be called before the process makes a thread or blocks a signal.
    package static func runIfAsked(_ words: [String]) -> Int32? {
        guard Array(words.dropFirst()) == [LadderWorkerRole.argument] else { return nil }
        return LadderWorkerRole.run()
    }
}
