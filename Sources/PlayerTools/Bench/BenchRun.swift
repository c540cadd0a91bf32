import CommandLineKit
import Foundation
import Glibc
import HTTPCalls
import Synchronization

/// Runs a load on its threads, and shows its progress.
struct BenchRun {
    private static let progressSeconds = 0.2

    let settings: BenchSettings
    let requests: BenchRequests
    let tokens: [String]

    /// Blocks until the load has ended.
    func run(_ context: CommandContext) throws(CommandError) -> BenchResult {
        let answered = AnswerCount()
        let plan = BenchPlan(
            schedule: settings.schedule, requests: requests, tokens: tokens, versionCount: settings.versions.count,
            keyCount: settings.keyCount, start: .now, threadCount: settings.threadCount, answered: answered)
        let results = SharedResults()
        let group = DispatchGroup()
        let cpuBefore = Self.cpuTime()
        for index in 0..<settings.threadCount {
            group.enter()
            Thread.detachNewThread { [load = settings.load] in
                results.append(Result { () throws(BenchRunError) in try Self.tally(plan, thread: index, load) })
                group.leave()
            }
        }
        var progress = CommandProgress(context, unit: "answers")
        while group.wait(timeout: .now() + Self.progressSeconds) == .timedOut {
            let share = plan.start.duration(to: .now) / .seconds(settings.seconds)
            progress.show(answered.value, share: share)
        }
        progress.clear()
        return BenchResult(tally: try results.merged(), cpuTime: Self.cpuTime() - cpuBefore)
    }

    private static func tally(
        _ plan: BenchPlan, thread index: Int, _ settings: HTTPLoadSettings
    ) throws(BenchRunError) -> BenchTally {
        do {
            let worker = try BenchWorker(plan, thread: index)
            try HTTPLoad(settings).run(worker)
            return worker.finalTally
        } catch {
            throw BenchRunError(text: "libcurl or OpenSSL cannot run the load (\(error))")
        }
    }

    /// The processor time that this process has used.
    private static func cpuTime() -> Duration {
        var time = timespec()
        // Safe: the call writes only to `time`.
        _ = unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

/// What a load has counted, and its cost for the generator itself.
struct BenchResult: Sendable {
    let tally: BenchTally
    let cpuTime: Duration
}

/// The results of all threads.
private final class SharedResults: Sendable {
    private let results = Mutex<[Result<BenchTally, BenchRunError>]>([])

    func append(_ result: Result<BenchTally, BenchRunError>) {
        results.withLock { $0.append(result) }
    }

    /// The sum of all threads. Throws if a thread could not run its load.
    func merged() throws(CommandError) -> BenchTally {
        var sum = BenchTally()
        for result in results.withLock({ $0 }) {
            do throws(BenchRunError) {
                sum.merge(try result.get())
            } catch {
                throw .failed(error.text)
            }
        }
        return sum
    }
}

private struct BenchRunError: Error {
    let text: String
}
