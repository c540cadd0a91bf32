package import POSIXSockets
import Synchronization
package import Telemetry

/// A group of event loops, usually one per core.
package final class EventLoopGroup: Sendable {
    /// The loops, in the order of their index.
    package let loops: [LoopContext]
    private let threads: Mutex<[JoinableThread]>

    /// Makes `count` loops, and starts a thread for each one with the name `NAME-INDEX`. Indexes begin at `firstIndex`,
    /// so that the loops of two groups can have different ones. If `computing` is true, each loop gets a thread for
    /// `LoopContext.compute`, with the name `compute-INDEX`.
    package init(
        count: Int, computing: Bool = false, clock: any MonotonicClock = SystemMonotonicClock(),
        name: String = "loop", firstIndex: Int = 0
    ) throws(EventLoopError) {
        precondition(count > 0, "a group needs at least one loop")
        var loops: [EventLoop] = []
        for index in firstIndex..<firstIndex + count { loops.append(try EventLoop(index: index, clock: clock)) }
        var threads: [JoinableThread] = []
        do throws(EventLoopError) {
            if computing { for loop in loops { try loop.startComputeThread() } }
            for loop in loops {
                threads.append(JoinableThread(try NativeThread(name: "\(name)-\(loop.index)") { loop.run() }))
            }
        } catch {
            for loop in loops { loop.context.execute { loop.beginStop(deadline: loop.clock.monotonicTime) } }
            for thread in threads { thread.join() }
            for loop in loops { loop.computeThread?.stop() }
            throw error
        }
        self.loops = loops.map(\.context)
        self.threads = Mutex(threads)
    }

    /// Stops all loops, and waits for their threads. A second call returns immediately.
    ///
    /// Channels are ended, and new ones are refused. Running tasks continue until they end, but at most until `limit`
    /// has passed on the loops' clock. Work that is enqueued on a stopped loop is dropped. The method must not be
    /// called on a loop.
    @discardableResult
    package func stop(within limit: Duration) -> StopReport {
        precondition(!loops.contains(where: \.isCurrent), "a loop cannot wait for itself")
        let threads = threads.withLock { threads in
            let all = threads
            threads = []
            return all
        }
        guard !threads.isEmpty else { return StopReport(abandonedTaskCount: liveTaskCount) }
        for context in loops {
            let loop = context.loop
            context.execute { loop.beginStop(deadline: loop.clock.monotonicTime + limit) }
        }
        for thread in threads { thread.join() }
        for context in loops { context.loop.computeThread?.stop() }
        return StopReport(abandonedTaskCount: liveTaskCount)
    }

    /// The number of tasks that were spawned on any loop and have not ended.
    package var liveTaskCount: Int { loops.reduce(0) { $0 + $1.liveTaskCount } }
}

/// The result of stopping a group of loops.
package struct StopReport: Equatable, Sendable {
    /// The number of tasks that had not ended when the limit was reached. They never run again, and their memory is not
    /// freed.
    package let abandonedTaskCount: Int
}

/// Why an operation of a loop failed.
package enum EventLoopError: Error, Equatable, Sendable {
    /// A descriptor could not be made or watched.
    case socket(SocketError)
    /// The operating system could not start a thread.
    case threadNotStarted(errno: Int32)
    /// The loop is stopping, and accepts nothing new.
    case stopping
}

extension EventLoopError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .socket(let error): error.description
        case .threadNotStarted(let errno): "no thread could be started (errno \(errno))"
        case .stopping: "the event loop is stopping"
        }
    }
}
