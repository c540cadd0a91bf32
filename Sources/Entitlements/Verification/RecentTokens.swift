/// A bounded table of what is known of tokens, which drops entries that were not used recently.
///
/// The slots are a ring with one hand (the clock algorithm). When the ring is full, the hand skips slots that were used
/// since its last visit, but at most `spareMaximum` of them. So the cost of a look-up or an insertion does not depend
/// on the number of tokens.
struct RecentTokens<Value: Sendable>: Sendable {
    private static var spareMaximum: Int { 8 }

    private struct Slot: Sendable {
        let digest: TokenDigest
        let value: Value
        var wasUsed = false
    }

    private let capacity: Int
    private var slots: [Slot] = []
    private var indices: [TokenDigest: Int] = [:]
    private var hand = 0

    /// The number of times that all entries were removed.
    private(set) var generation: UInt64 = 0

    init(capacity: Int) {
        precondition(capacity > 0, "a table has room for a token")
        self.capacity = capacity
    }

    var count: Int { slots.count }

    mutating func value(for digest: TokenDigest) -> Value? {
        guard let index = indices[digest] else { return nil }
        slots[index].wasUsed = true
        return slots[index].value
    }

    /// Adds a value, unless all entries were removed since its verification began, or another thread has added one.
    mutating func insert(_ value: Value, for digest: TokenDigest, verifiedIn generation: UInt64) {
        guard generation == self.generation, indices[digest] == nil else { return }
        let slot = Slot(digest: digest, value: value)
        if slots.count < capacity {
            indices[digest] = slots.count
            slots.append(slot)
        } else {
            let index = nextToReplace()
            indices[slots[index].digest] = nil
            indices[digest] = index
            slots[index] = slot
        }
    }

    mutating func removeAll() {
        slots = []
        indices = [:]
        hand = 0
        generation += 1
    }

    private mutating func nextToReplace() -> Int {
        for _ in 0..<Self.spareMaximum where slots[hand].wasUsed {
            slots[hand].wasUsed = false
            advanceHand()
        }
        defer { advanceHand() }
        return hand
    }

    private mutating func advanceHand() {
        hand = hand + 1 == slots.count ? 0 : hand + 1
    }
}
