package import POSIXSockets
import Synchronization
package import Telemetry

/// The event loops of a process: as a rule one per core.
package final class EventLoopGroup: Sendable {
    /// The loops, in the order of their index.
    package let loops: [LoopContext]
    private let threads: Mutex<[JoinableThread]>

    /// Makes `count` loops and starts a thread for each, named `NAME-INDEX`. Indexes begin at `firstIndex`, so that
    /// loops of two groups differ.
    package init(
        count: Int, clock: any MonotonicClock = SystemMonotonicClock(), name: String = "loop", firstIndex: Int = 0
    ) throws(EventLoopError) {
        precondition(count > 0, "a group needs at least one loop")
        var loops: [EventLoop] = []
        for index in firstIndex..<firstIndex + count { loops.append(try EventLoop(index: index, clock: clock)) }
        var threads: [JoinableThread] = []
        do throws(EventLoopError) {
            for loop in loops {
                threads.append(JoinableThread(try NativeThread(name: "\(name)-\(loop.index)") { loop.run() }))
            }
        } catch {
            for loop in loops { loop.context.execute { loop.beginStop(deadline: loop.clock.monotonicTime) } }
            for thread in threads { thread.join() }
            throw error
        }
        self.loops = loops.map(\.context)
        self.threads = Mutex(threads)
    }

    /// Stops all loops and waits for their threads; a second call returns at once.
    ///
    /// Channels are told to end and no new ones are taken. Tasks in flight go on, awaits included, until they have
    /// ended or `limit` is over on the loops' clock. Not to be called on a loop. What is enqueued on a stopped loop is
    /// dropped.
    @discardableResult
    package func stop(within limit: Duration) -> StopReport {
        precondition(!loops.contains(where: \.isCurrent), "a loop cannot wait for itself")
        let threads = threads.withLock { threads in
            let all = threads
            threads = []
            return all
        }
        for context in loops {
            let loop = context.loop
            context.execute { loop.beginStop(deadline: loop.clock.monotonicTime + limit) }
        }
        for thread in threads { thread.join() }
        return StopReport(abandonedTaskCount: liveTaskCount)
    }

    /// Makes all loops look at their clocks, after a clock that is not the machine's has moved.
    package func wakeAll() {
        for context in loops { context.loop.wake() }
    }

    /// Tasks that were spawned on any loop and have not ended.
    package var liveTaskCount: Int { loops.reduce(0) { $0 + $1.liveTaskCount } }

    /// Channels that are registered with any loop.
    package var registrationCount: Int { loops.reduce(0) { $0 + $1.registrationCount } }
}

/// How a group of loops ended.
package struct StopReport: Equatable, Sendable {
    /// Tasks that had not ended when time was up. They never run again, and their memory is not freed.
    package let abandonedTaskCount: Int
}

/// Why a loop or one of its services could not do what it was asked.
package enum EventLoopError: Error, Equatable, Sendable {
    /// A descriptor could not be made or watched.
    case socket(SocketError)
    /// The operating system gave no thread.
    case threadNotStarted(errno: Int32)
    /// The loop stops and takes nothing new.
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
