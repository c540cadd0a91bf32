import POSIXSockets
import Synchronization

/// Bounds what clients can make the process hold in memory, over all connections of a server.
///
/// The budget has fixed shares. A charge that does not fit its share is refused and changes nothing; the caller then
/// gives something up. What one client network holds of heads, bodies and output together is bounded too, so that one
/// client cannot fill a share that others need. Only what stays after an event is charged, in steps of
/// `HeldMemory.step`: a request that arrives in one read and is answered at once costs no charge, and a head that
/// arrives byte by byte costs one for each step.
///
/// All threads may use it at once. Charges are estimates of what is held, and the allocator keeps more than that.
package final class MemoryBudget: Sendable {
    /// What is held.
    package enum Share: String, Sendable, CaseIterable {
        /// Connection objects, TLS and HTTP/2 state: half of the budget.
        case connections
        /// Heads of requests whose end has not arrived, and input that waits: an eighth.
        case heads
        /// Bodies of requests whose end has not arrived: an eighth.
        case bodies
        /// Responses that the client has not taken: an eighth.
        case outbound
        /// Requests that wait for their answer, with head and body: an eighth.
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

    /// The most of the whole budget, in bytes, unless an operator configures more: 1 GiB.
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

    /// A budget of so many bytes.
    package init(size: Int = sizeDefaultMaximum) {
        self.size = size
        counters = Share.allCases.map { _ in Counters() }
    }

    /// The most that a share takes, in bytes.
    package func maximum(of share: Share) -> Int {
        switch share {
        case .connections: size / 2
        case .heads, .bodies, .outbound, .requests: size / 8
        }
    }

    /// The most that one client network holds of heads, bodies and output together, in bytes: half of one share.
    package var holderMaximum: Int { size / 16 }

    /// What a share holds now, in bytes.
    package func charged(to share: Share) -> Int { counters(of: share).bytes.load(ordering: .relaxed) }

    /// What all shares hold now, in bytes.
    package var chargedSize: Int { Share.allCases.reduce(0) { $0 + charged(to: $1) } }

    /// How many charges a share has refused.
    package func refusalCount(of share: Share) -> Int { counters(of: share).refusals.load(ordering: .relaxed) }

    /// Charges bytes to a share; false if they do not fit, and then nothing is charged.
    package func charge(_ size: Int, to share: Share) -> Bool {
        let counters = counters(of: share)
        let sum = counters.bytes.add(size, ordering: .relaxed).newValue
        guard sum > maximum(of: share) else { return true }
        counters.bytes.subtract(size, ordering: .relaxed)
        counters.refusals.add(1, ordering: .relaxed)
        return false
    }

    /// Gives charged bytes back.
    package func release(_ size: Int, from share: Share) {
        counters(of: share).bytes.subtract(size, ordering: .relaxed)
    }

    private func counters(of share: Share) -> Counters { counters[share.index] }

    // MARK: What one connection holds

    /// Brings the charges of a connection from what it held to what it holds. Returns the first share that has no
    /// room for it, and then `held` says what is charged: all that became less, and what fitted.
    func move(_ held: inout HeldMemory, to new: HeldMemory, of holder: IPAddress?) -> Share? {
        // As after most events.
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

    /// False if a share has no room, and then nothing has changed.
    private func move(_ held: inout Int, to new: Int, in share: Share) -> Bool {
        if new < held {
            release(held - new, from: share)
        } else if new > held, !charge(new - held, to: share) {
            return false
        }
        held = new
        return true
    }

    /// Counts the growth for the holder if it may have it. Loses nothing for clients that hold nothing: no lock is
    /// taken for them.
    private func fitsHolder(_ holder: IPAddress?, growth: Int) -> Bool {
        guard let holder, growth != 0 else { return true }
        return holders.withLock { holders in
            let sum = holders[holder, default: 0] + growth
            guard growth < 0 || sum <= holderMaximum else { return false }
            holders[holder] = sum > 0 ? sum : nil
            return true
        }
    }

    /// Takes back what was counted for the holder and then not charged.
    private func settleHolder(_ holder: IPAddress?, by change: Int) {
        guard let holder, change != 0 else { return }
        holders.withLock { holders in
            let sum = holders[holder, default: 0] + change
            holders[holder] = sum > 0 ? sum : nil
        }
    }
}

/// What one connection makes the process hold, in bytes, by share.
struct HeldMemory: Equatable, Sendable {
    /// The connection itself.
    var connection = 0
    var heads = 0
    var bodies = 0
    var outbound = 0

    /// What a client makes grow by what it sends, or by not reading.
    var transient: Int { heads + bodies + outbound }

    /// What is held is charged in multiples of this: 1 KiB.
    static let step = 1024

    /// The same with what changes from event to event rounded up to a multiple of `step`.
    var inSteps: HeldMemory {
        HeldMemory(
            connection: connection, heads: Self.roundedUp(heads), bodies: Self.roundedUp(bodies),
            outbound: Self.roundedUp(outbound))
    }

    private static func roundedUp(_ size: Int) -> Int { (size + step - 1) & ~(step - 1) }
}
