import EventLoops
import Synchronization

/// The thread on which requests of packagers are served once they are let in.
///
/// A large document takes milliseconds to read and to fill, and making a key writes to the disk. Neither may hold up a
/// loop on which viewers wait. So many requests are under way at once; more are refused.
final class PackagerLoop: Sendable {
    static let requestsMaximum = 256

    private let group: EventLoopGroup
    var loop: LoopContext { group.loops[0] }
    private let underWay = Atomic<Int>(0)
    /// What runs a last time when the thread ends.
    private let last = Mutex<(@Sendable () async -> Void)?>(nil)

    /// `firstIndex` is one that no other loop has.
    init(firstIndex: Int) throws(EventLoopError) {
        group = try EventLoopGroup(count: 1, name: "packager", firstIndex: firstIndex)
    }

    /// What a request comes to; nil if too many are under way. Returns on the caller's loop.
    func run<Result: Sendable>(_ body: @escaping @Sendable (LoopContext) async -> Result) async -> Result? {
        defer { underWay.subtract(1, ordering: .relaxed) }
        guard underWay.add(1, ordering: .relaxed).newValue <= Self.requestsMaximum else { return nil }
        let loop = group.loops[0]
        return await withCheckedContinuation { (continuation: CheckedContinuation<Result?, Never>) in
            loop.spawn { continuation.resume(returning: await body(loop)) }
        }
    }

    /// Has `body` run every so often from now on, and a last time, with true, when the thread ends. Once for a thread.
    func keep(every pause: Duration, _ body: @escaping @Sendable (_ isLast: Bool) async -> Void) {
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

    /// Blocks until the requests that are under way, and what runs a last time, have ended, but no longer than `limit`.
    func stop(within limit: Duration) {
        if let last = last.withLock({ $0.take() }) { group.loops[0].spawn(last) }
        group.stop(within: limit)
    }
}
