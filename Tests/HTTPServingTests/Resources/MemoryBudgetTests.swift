import POSIXSockets
import TestSupport
import Testing

@testable import HTTPServing

@Suite struct MemoryBudgetTests {
    private let budget = MemoryBudget(size: 1 << 20)
    private let holder = IPAddress("192.0.2.1")

    @Test(arguments: MemoryBudget.Share.allCases)
    func takesWhatAShareHoldsAndNoByteMore(share: MemoryBudget.Share) {
        let maximum = budget.maximum(of: share)
        #expect(budget.charge(maximum, to: share))
        #expect(!budget.charge(1, to: share))
        #expect(budget.charged(to: share) == maximum)
        #expect(budget.refusalCount(of: share) == 1)
        budget.release(1, from: share)
        #expect(budget.charge(1, to: share))
        #expect(budget.chargedSize == maximum)
    }

    @Test func isUsedUpByItsSharesTogether() {
        #expect(MemoryBudget.Share.allCases.reduce(0) { $0 + budget.maximum(of: $1) } == budget.size)
    }

    @Test func chargesTheDifferenceAndGivesItBack() {
        var held = HeldMemory()
        let peak = HeldMemory(connection: 4096, heads: 1000, bodies: 2000, outbound: 3000)
        #expect(budget.move(&held, to: peak, of: holder) == nil)
        #expect(held == peak)
        #expect(budget.charged(to: .heads) == 1000)
        let less = HeldMemory(connection: 4096, heads: 10)
        #expect(budget.move(&held, to: less, of: holder) == nil)
        #expect(budget.chargedSize == 4106)
        #expect(budget.move(&held, to: HeldMemory(), of: holder) == nil)
        #expect(budget.chargedSize == 0)
    }

    @Test func namesTheShareThatIsFullAndKeepsToWhatFitted() {
        #expect(budget.charge(budget.maximum(of: .bodies), to: .bodies))
        var held = HeldMemory()
        #expect(budget.move(&held, to: HeldMemory(connection: 1, heads: 2, bodies: 3), of: holder) == .bodies)
        #expect(held == HeldMemory(connection: 1, heads: 2))
        #expect(budget.charged(to: .heads) == 2)
        // A charge that was refused does not count for the holder, which may still have the whole rest.
        #expect(budget.move(&held, to: HeldMemory(connection: 1, heads: budget.holderMaximum), of: holder) == nil)
    }

    @Test func leavesRoomForOthersThanOneHolder() {
        var held = HeldMemory()
        #expect(budget.move(&held, to: HeldMemory(heads: budget.holderMaximum), of: holder) == nil)
        var other = HeldMemory()
        #expect(budget.move(&other, to: HeldMemory(bodies: 1), of: holder) == .bodies)
        #expect(other == HeldMemory())
        #expect(budget.move(&other, to: HeldMemory(bodies: 1), of: IPAddress("192.0.2.2")) == nil)
        #expect(budget.move(&held, to: HeldMemory(), of: holder) == nil)
        var again = HeldMemory()
        #expect(budget.move(&again, to: HeldMemory(bodies: 1), of: holder) == nil)
    }

    /// When all charges are given back in random order, nothing remains charged.
    @Test func forgetsNothingInRandomOrder() {
        var generator = SeededGenerator(seed: 1)
        let holders = (1...3).map { IPAddress.v4(UInt32($0)) }
        var held = [HeldMemory](repeating: HeldMemory(), count: 30)
        var refusals = 0
        for _ in 0..<10_000 {
            let index = Int.random(in: 0..<held.count, using: &generator)
            let size = { Int.random(in: 0...20_000, using: &generator) }
            let new = HeldMemory(connection: size(), heads: size(), bodies: size(), outbound: size())
            if budget.move(&held[index], to: new, of: holders[index % 3]) != nil { refusals += 1 }
            for share in MemoryBudget.Share.allCases {
                #expect((0...budget.maximum(of: share)).contains(budget.charged(to: share)))
            }
        }
        #expect(refusals > 0)
        for index in held.indices {
            #expect(budget.move(&held[index], to: HeldMemory(), of: holders[index % 3]) == nil)
        }
        #expect(budget.chargedSize == 0)
        for address in holders {
            var whole = HeldMemory()
            #expect(budget.move(&whole, to: HeldMemory(heads: budget.holderMaximum), of: address) == nil)
            #expect(budget.move(&whole, to: HeldMemory(), of: address) == nil)
        }
    }
}
