import ByteCoding
import Records
import Testing

@testable import Licensing

@Suite struct RecentDecisionsTests {
    /// `decidedAt` is when the license was decided, in seconds since 1970.
    private static func replay(
        _ request: UInt64, license: UInt64 = 1, rightEnd: Int64? = nil, window: Int64 = 120, decidedAt: UInt64 = 100
    ) -> ReplayRecord {
        let id = LicenseID(milliseconds: decidedAt * 1000, random: Bytes16(high: 9, low: license))
        return ReplayRecord(
            request: Pseudonym(short: Bytes16(high: 1, low: request)), retryWindow: window, keptUntil: 1000,
            answer: RecordedAnswer(license: id, rightEnd: rightEnd).bytes)
    }

    private func record(_ recent: RecentDecisions, _ replay: ReplayRecord, at now: Int64 = 100) async {
        #expect(await recent.begin(replay, at: now) == nil)
        recent.end(replay, at: now, with: .recorded)
    }

    @Test func repeatsTheFirstLicenseUntilTheWindowEnds() async {
        let recent = RecentDecisions()
        let first = Self.replay(1)
        await record(recent, first)
        let again = Self.replay(1, license: 2, decidedAt: 220)
        for now in [100, 219] as [Int64] { #expect(await recent.begin(again, at: now) == first.answer) }
        await record(recent, again, at: 220)
        #expect(await recent.begin(first, at: 221) == again.answer)
    }

    /// The end is that of the first license, to the second, whatever end the repetition has.
    @Test(arguments: [Int64?.none, 100, 101, 100_000_000])
    func keepsTheEndOfTheRight(rightEnd: Int64?) async {
        let recent = RecentDecisions()
        let first = Self.replay(1, rightEnd: rightEnd)
        await record(recent, first)
        await record(recent, Self.replay(2, license: 2))
        #expect(await recent.begin(Self.replay(1, license: 9, rightEnd: 7), at: 100) == first.answer)
        #expect(recent.count == 2)
    }

    /// The table has room for ends within 136 years.
    @Test func takesAnEndBeyondACenturyForNone() async {
        let recent = RecentDecisions()
        await record(recent, Self.replay(1, rightEnd: .max))
        #expect(await recent.begin(Self.replay(1), at: 100) == Self.replay(1).answer)
    }

    @Test(arguments: [DecisionOutcome?.none, .denied(.slotEvicted), .repeated(answer: [1])])
    func remembersOnlyWhatWasRecorded(outcome: DecisionOutcome?) async {
        let recent = RecentDecisions()
        #expect(await recent.begin(Self.replay(1), at: 100) == nil)
        recent.end(Self.replay(1), at: 100, with: outcome)
        #expect(await recent.begin(Self.replay(1), at: 100) == nil)
    }

    /// Five concurrent copies: one is decided, and the others wait for its license.
    @Test func copiesWaitForTheFirst() async {
        let recent = RecentDecisions()
        let first = Self.replay(1)
        #expect(await recent.begin(first, at: 100) == nil)
        let answers = await withTaskGroup(of: [UInt8]?.self) { group in
            for number in 2...5 {
                group.addTask { await recent.begin(Self.replay(1, license: UInt64(number)), at: 100) }
            }
            recent.end(first, at: 100, with: .recorded)
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == [[UInt8]?](repeating: first.answer, count: 4))
    }

    /// If the first copy cannot be decided, one of the waiting copies takes its place.
    @Test func anotherCopyIsDecidedIfTheFirstFails() async {
        let recent = RecentDecisions()
        #expect(await recent.begin(Self.replay(1), at: 100) == nil)
        let decidedCount = await withTaskGroup(of: Bool.self) { group in
            for number in 2...5 {
                group.addTask {
                    let replay = Self.replay(1, license: UInt64(number))
                    guard await recent.begin(replay, at: 100) == nil else { return false }
                    recent.end(replay, at: 100, with: .recorded)
                    return true
                }
            }
            recent.end(Self.replay(1), at: 100, with: nil)
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(decidedCount == 1)
    }

    @Test func holdsTheNewestAndNeverMoreThanItsBound() async {
        let recent = RecentDecisions(capacity: 200)
        for number in 1...1000 as ClosedRange<UInt64> {
            await record(recent, Self.replay(number))
            #expect(recent.count <= 200)
        }
        #expect(await recent.begin(Self.replay(1000), at: 100) != nil)
        #expect(await recent.begin(Self.replay(901), at: 100) != nil)
        #expect(await recent.begin(Self.replay(1), at: 100) == nil)
    }

    /// A quiet node does not keep what it no longer needs until the table is full.
    @Test func holdsNothingForMoreThanTwoWindows() async {
        let recent = RecentDecisions()
        for number in 1...500 as ClosedRange<UInt64> {
            let now = 100 + number
            await record(recent, Self.replay(number, window: 20, decidedAt: now), at: Int64(now))
            #expect(recent.count <= 40)
            let oldest = number.subtractingReportingOverflow(19).overflow ? 1 : max(1, number - 19)
            #expect(await recent.begin(Self.replay(oldest, window: 20), at: Int64(now)) != nil)
        }
    }

    /// A half that began because the other one was full lasts for a whole window too.
    @Test func aFullHalfIsNotForgottenEarly() async {
        let recent = RecentDecisions(capacity: 20)
        for number in 1...11 as ClosedRange<UInt64> {
            await record(recent, Self.replay(number, window: 20, decidedAt: 119), at: 119)
        }
        await record(recent, Self.replay(12, window: 20, decidedAt: 120), at: 120)
        #expect(await recent.begin(Self.replay(1, window: 20), at: 121) != nil)
    }

    /// A window without end is no trap, and has no end.
    @Test func aWindowWithoutEndLasts() async {
        let recent = RecentDecisions()
        await record(recent, Self.replay(1, window: .max))
        #expect(await recent.begin(Self.replay(1, window: .max), at: .max - 1) != nil)
    }

    @Test func takesAtMost28MiB() {
        #expect(RecentDecisions.sizeMaximum <= 28 << 20)
        #expect(RecentDecisions.capacity >= 390_000, "with less, a busy node forgets retries too soon")
    }
}
