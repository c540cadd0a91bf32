import POSIXSockets
import Synchronization

/// Limits the memory that clients can make the process hold, over all connections of a server.
///
/// The budget has fixed shares. A charge that does not fit into its share is refused, and the caller must then release
/// something. The heads, bodies and output of one client network together are limited too, so that one client cannot
/// use up a share.
///
/// Only memory that is still held after an event is charged, in steps of `HeldMemory.step`. So a request that arrives
/// in one read and is answered immediately needs no charge. A head that arrives byte by byte needs one charge for each
/// step.
///
/// All threads may use it concurrently. Charges are estimates; the allocator holds more memory than that.
package final class MemoryBudget: Sendable {
    /// A share of the budget, for one kind of memory.
    package enum Share: String, Sendable, CaseIterable {
        /// Connection objects, TLS and HTTP/2 state; half of the budget.
        case connections
        /// Heads of incomplete requests, and input that waits; an eighth.
        case heads
        /// Bodies of incomplete requests; an eighth.
        case bodies
        /// Responses that the client has not read; an eighth.
        case outbound
        /// Requests that wait for their answer, with head and body; an eighth.
        case requests

        fileprivate var index: Int {
            switch self {
            case .connections: 0
            case .heads: 1
            case .bodies: 2
            case .outbound: 3
            case .requests: 4
            }
        }
    }

    /// The largest budget in bytes, unless an operator configures a larger one: 1 GiB.
    package static let sizeDefaultMaximum = 1 << 30
    /// The smallest budget, in bytes: 16 MiB.
    package static let sizeMinimum = 16 << 20

    /// The whole budget in bytes.
    package let size: Int
    private let counters: [Counters]
    private let holders = Mutex<[IPAddress: Int]>([:])

    private final class Counters: Sendable {
        let bytes = Atomic<Int>(0)
        let refusals = Atomic<Int>(0)
    }

    /// Makes a budget of `size` bytes.
    package init(size: Int = sizeDefaultMaximum) {
        self.size = size
        counters = Share.allCases.map { _ in Counters() }
    }

    /// Returns the size of a share in bytes.
    package func maximum(of share: Share) -> Int {
        switch share {
        case .connections: size / 2
        case .heads, .bodies, .outbound, .requests: size / 8
        }
    }

    /// The most bytes of heads, bodies and output that one client network may hold together: half of such a share.
    package var holderMaximum: Int { size / 16 }

    /// Returns the bytes that are charged to a share.
    package func charged(to share: Share) -> Int { counters(of: share).bytes.load(ordering: .relaxed) }

    /// The bytes that are charged to all shares together.
    package var chargedSize: Int { Share.allCases.reduce(0) { $0 + charged(to: $1) } }

    /// Returns how many charges a share has refused.
    package func refusalCount(of share: Share) -> Int { counters(of: share).refusals.load(ordering: .relaxed) }

    /// Charges bytes to a share. Returns false if they do not fit; then nothing is charged.
    package func charge(_ size: Int, to share: Share) -> Bool {
        let counters = counters(of: share)
        let sum = counters.bytes.add(size, ordering: .relaxed).newValue
        guard sum > maximum(of: share) else { return true }
        counters.bytes.subtract(size, ordering: .relaxed)
        counters.refusals.add(1, ordering: .relaxed)
        return false
    }

    /// Releases charged bytes.
    package func release(_ size: Int, from share: Share) {
        counters(of: share).bytes.subtract(size, ordering: .relaxed)
    }

    private func counters(of share: Share) -> Counters { counters[share.index] }

    // MARK: The charges of one connection

    /// Changes the charges of a connection from `held` to `new`. Returns the first share without room; nil if all
    /// charges fit.
    ///
    /// Afterwards, `held` has the actual charges. If a share has no room, the charges before it are changed already.
    func move(_ held: inout HeldMemory, to new: HeldMemory, of holder: IPAddress?) -> Share? {
        // Most events change nothing.
        if held == new { return nil }
        guard fitsHolder(holder, growth: new.transient - held.transient) else {
            counters(of: .heads).refusals.add(1, ordering: .relaxed)
            return new.bodies > held.bodies ? .bodies : new.heads > held.heads ? .heads : .outbound
        }
        let before = held.transient
        let growth = new.transient - before
        defer { settleHolder(holder, by: held.transient - before - growth) }
        guard move(&held.connection, to: new.connection, in: .connections) else { return .connections }
        guard move(&held.heads, to: new.heads, in: .heads) else { return .heads }
        guard move(&held.bodies, to: new.bodies, in: .bodies) else { return .bodies }
        guard move(&held.outbound, to: new.outbound, in: .outbound) else { return .outbound }
        return nil
    }

    /// Changes one charge. Returns false if the share has no room; then nothing changes.
    private func move(_ held: inout Int, to new: Int, in share: Share) -> Bool {
        if new < held {
            release(held - new, from: share)
        } else if new > held, !charge(new - held, to: share) {
            return false
        }
        held = new
        return true
    }

    /// Counts the growth for a client network. Returns false if it exceeds the limit; then nothing is counted.
    ///
    /// Without growth, no lock is taken.
    private func fitsHolder(_ holder: IPAddress?, growth: Int) -> Bool {
        guard let holder, growth != 0 else { return true }
        return holders.withLock { holders in
            let sum = holders[holder, default: 0] + growth
            guard growth < 0 || sum <= holderMaximum else { return false }
            holders[holder] = sum > 0 ? sum : nil
            return true
        }
    }

    /// Corrects the count of a client network by bytes that were counted but not charged.
    private func settleHolder(_ holder: IPAddress?, by change: Int) {
        guard let holder, change != 0 else { return }
        holders.withLock { holders in
            let sum = holders[holder, default: 0] + change
            holders[holder] = sum > 0 ? sum : nil
        }
    }
}

/// The memory that one connection makes the process hold, in bytes for each share.
struct HeldMemory: Equatable, Sendable {
    /// The connection itself.
    var connection = 0
    var heads = 0
    var bodies = 0
    var outbound = 0

    /// The memory that grows if a client sends data, or does not read.
    var transient: Int { heads + bodies + outbound }

    /// The step of charges in bytes: 1 KiB.
    static let step = 1024

    /// The same sizes. Those that change with each event are rounded up to a multiple of `step`.
    var inSteps: HeldMemory {
        HeldMemory(
            connection: connection, heads: Self.roundedUp(heads), bodies: Self.roundedUp(bodies),
            outbound: Self.roundedUp(outbound))
    }

    private static func roundedUp(_ size: Int) -> Int { (size + step - 1) & ~(step - 1) }
}
