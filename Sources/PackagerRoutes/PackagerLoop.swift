package import EventLoops
import Synchronization

/// The thread that serves requests of packagers after the gate has admitted them.
///
/// A large document takes milliseconds to read and to fill, and making a key writes to the disk. Neither may delay the
/// loops on which viewers wait.
package final class PackagerLoop: Sendable {
    /// The most requests that are under way at the same time. Further ones are refused.
    static let requestsMaximum = 256

    private let group: EventLoopGroup
    package var loop: LoopContext { group.loops[0] }
    private let underWay = Atomic<Int>(0)
    /// The work that runs when the thread ends.
    private let last = Mutex<(@Sendable () async -> Void)?>(nil)

    /// Starts the thread. `firstIndex` must be an index that no other loop has.
    package init(firstIndex: Int) throws(EventLoopError) {
        group = try EventLoopGroup(count: 1, name: "packager", firstIndex: firstIndex)
    }

    /// Runs `body` on this thread, and returns its result on the caller's loop. Nil if too many are under way.
    package func run<Result: Sendable>(_ body: @escaping @Sendable (LoopContext) async -> Result) async -> Result? {
        defer { underWay.subtract(1, ordering: .relaxed) }
        guard underWay.add(1, ordering: .relaxed).newValue <= Self.requestsMaximum else { return nil }
        let loop = group.loops[0]
        return await withCheckedContinuation { (continuation: CheckedContinuation<Result?, Never>) in
            loop.spawn { continuation.resume(returning: await body(loop)) }
        }
    }

    /// Runs `body` at intervals from now on, and a last time, with true, when the thread ends.
    ///
    /// Must be called at most once.
    package func keep(every pause: Duration, _ body: @escaping @Sendable (_ isLast: Bool) async -> Void) {
        last.withLock { $0 = { await body(true) } }
        pass(every: pause, body)
    }

    private func pass(every pause: Duration, _ body: @escaping @Sendable (_ isLast: Bool) async -> Void) {
        let loop = group.loops[0]
        loop.execute {
            _ = loop.schedule(after: pause) {
                loop.spawn { [self] in
                    await body(false)
                    pass(every: pause, body)
                }
            }
        }
    }

    /// Ends the thread. Blocks until the requests under way and the last work have ended, but no longer than `limit`.
    package func stop(within limit: Duration) {
        if let last = last.withLock({ $0.take() }) { group.loops[0].spawn(last) }
        group.stop(within: limit)
    }
}
