import Administration
import ByteCoding
import ContentKeys
import Records
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// The keeper makes the keys that scheduled contents need, and reports missing periods.
@Suite struct PeriodKeeperTests {
    private static let start: Int64 = 1_800_000_000
    private let store = MemoryPeriods()
    private let wall = ManualClock(wallTime: WallTime(seconds: start))
    private let boot = ManualClock()
    private let clock: TrustedClock
    private let upkeep: UpkeepLoop

    init() throws {
        upkeep = try UpkeepLoop()
        clock = TrustedClock(
            .init(stepTolerance: .seconds(30), settleTime: .seconds(3_600), leeway: .seconds(5)), wall: wall,
            boot: boot)
        clock.start(nil)
    }

    private func keeper(_ store: MemoryPeriods? = nil) throws -> PeriodKeeper {
        let desk = PeriodDesk(store: store ?? self.store, provider: store ?? self.store, derivation: nil)
        return PeriodKeeper(
            desk, actor: "node:one", every: .milliseconds(2), ledger: self.store, on: upkeep.context, clock: clock,
            logger: Logger(level: .trace, sink: MemoryLogSink(), clock: wall))
    }

    private func advance(_ seconds: Int64) {
        wall.advance(by: .seconds(seconds))
        boot.advance(by: .seconds(seconds))
    }

    private func schedule(
        _ content: String = "news", ahead: UInt32 = 1, length: Int64 = 3_600, start: Int64 = start
    ) throws {
        let tracks = [PeriodTrack(Track(.sd), leastHDCP: .type0), PeriodTrack(Track(.audio))]
        let schedule = PeriodSchedule(
            firstIndex: 1, firstStart: start, length: length, ahead: ahead, tracks: tracks)
        #expect(schedule != nil)
        store.put(LiveContent(try ContentID(content), schedule: schedule, revision: 1))
    }

    @Test func makesTheCurrentPeriodAndThoseAhead() throws {
        try schedule(ahead: 2)
        let keeper = try keeper()
        defer { keeper.stop() }
        store.waitForPasses(3)
        #expect(store.periods == [1, 2, 3])
        #expect(store.keys.count == 6)
        #expect(store.keys.allSatisfy { $0.leastHDCP == ($0.trackLabel == .sd ? .type0 : nil) })
        #expect(keeper.liveContentCount() == 1 && keeper.contentsWithoutNextPeriodCount() == 0)
        #expect(keeper.degradations == [])
        // Each new key has one row. Existing keys have none.
        #expect(store.entries.map(\.kind) == [LedgerEntry.Kind](repeating: .keyCreated, count: 6))
        #expect(Set(store.entries.compactMap(\.keyID)) == Set(store.keys.map(\.keyID)))
        #expect(
            store.entries.map(\.detail) == ["period 1", "period 1", "period 2", "period 2", "period 3", "period 3"])
        #expect(store.entries.allSatisfy { $0.actor == "node:one" && $0.content == "news" })
    }

    /// The next period is never missing, not even between a boundary and the pass after it.
    @Test func isAheadOfTheBoundary() throws {
        try schedule(length: 60)
        let keeper = try keeper()
        defer { keeper.stop() }
        store.waitForPasses(2)
        #expect(store.periods == [1, 2])
        for period in 3...8 as ClosedRange<UInt32> {
            // The clock is half a minute before the boundary.
            advance(30)
            store.waitForPasses(2)
            #expect(store.periods.max() == period)
            advance(30)
            #expect(keeper.contentsWithoutNextPeriodCount() == 0)
        }
    }

    /// Several nodes that work at the same time make each key once.
    @Test func makesEachKeyOnceOnManyNodes() throws {
        for number in 0..<20 { try schedule("live-\(number)", ahead: 3) }
        let keepers = try (0..<4).map { _ in try keeper() }
        store.waitForPasses(12)
        // When a keeper has stopped, it has recorded all keys that it made.
        for keeper in keepers { keeper.stop() }
        #expect(store.keys.count == 20 * 4 * 2)
        #expect(store.entries.count == store.keys.count)
    }

    /// After the clock jumps ahead, the keeper makes the periods of both times, but none between them. Viewers can play
    /// at both times.
    @Test func makesFewPeriodsAfterAStep() throws {
        try schedule(length: 60)
        let keeper = try keeper()
        defer { keeper.stop() }
        store.waitForPasses(2)
        wall.setWallTime(WallTime(seconds: Self.start + 31_536_000))
        store.waitForPasses(3)
        let jumped = UInt32(31_536_000 / 60 + 1)
        #expect(store.periods == [1, 2, jumped, jumped + 1])
        #expect(keeper.contentsWithoutNextPeriodCount() == 0)
        wall.setWallTime(WallTime(seconds: Self.start))
        store.waitForPasses(3)
        #expect(store.periods == [1, 2, jumped, jumped + 1])
    }

    @Test func saysWhatIsMissingWhileKeysCannotBeMade() throws {
        try schedule("a")
        try schedule("b")
        let keeper = try keeper()
        defer { keeper.stop() }
        store.waitForPasses(2)
        #expect(keeper.contentsWithoutNextPeriodCount() == 0)
        store.failWrites(with: .store(.unavailable(.notWritable)))
        // The current period of both contents has its keys, and the next one lacks them.
        advance(3_600)
        #expect(keeper.contentsWithoutNextPeriodCount() == 2)
        store.waitForPasses(3)
        #expect(keeper.contentsWithoutNextPeriodCount() == 2)
        let cause = try #require(keeper.degradations.first)
        #expect(cause.part == .periods && !cause.stopsLicenses)
        #expect(cause.cause.hasPrefix("a: the database cannot be written"))
        store.failWrites(with: nil)
        store.waitForPasses(3)
        #expect(keeper.contentsWithoutNextPeriodCount() == 0 && keeper.degradations == [])
    }

    /// A content whose keys cannot be made does not block other contents.
    @Test func goesOnWithOtherContents() throws {
        try schedule("a")
        try schedule("b")
        store.failWrites(
            with: .store(.periodTooFar(try ContentID("a"), period: 300, newest: 1)), of: try ContentID("a"))
        let keeper = try keeper()
        defer { keeper.stop() }
        store.waitForPasses(3)
        #expect(Set(store.keys.map(\.contentID.text)) == ["b"])
        #expect(keeper.liveContentCount() == 2 && keeper.contentsWithoutNextPeriodCount() == 1)
        #expect(keeper.degradations.first?.cause.contains("newest period 1") == true)
    }

    /// While the store does not answer, the keeper continues to count missing periods from the known contents and the
    /// time.
    @Test func countsOnWhileTheStoreDoesNotAnswer() throws {
        try schedule()
        let keeper = try keeper()
        defer { keeper.stop() }
        store.waitForPasses(2)
        store.failReads(with: .unavailable(.unreachable))
        store.waitForPasses(3)
        #expect(keeper.liveContentCount() == 1 && keeper.contentsWithoutNextPeriodCount() == 0)
        #expect(keeper.degradations.map(\.part) == [.periods])
        advance(3_600)
        #expect(keeper.contentsWithoutNextPeriodCount() == 1)
    }

    /// The outage is reported by another part: a node without live contents misses no periods.
    @Test func isNotDegradedWithoutLiveContents() throws {
        store.failReads(with: .unavailable(.unreachable))
        let keeper = try keeper()
        defer { keeper.stop() }
        store.waitForPasses(3)
        #expect(keeper.degradations == [] && keeper.liveContentCount() == 0)
    }

    /// A packager's content lacks its next period when its last one has ended. An hour later, the content counts as
    /// over.
    @Test func watchesTheEndsThatPackagersTell() async throws {
        let content = try ContentID("sports")
        try await store.note([KnownPeriod(index: 7, start: Self.start, end: Self.start + 600)], of: content)
        let keeper = try keeper()
        defer { keeper.stop() }
        store.waitForPasses(2)
        #expect(keeper.liveContentCount() == 1 && keeper.contentsWithoutNextPeriodCount() == 0)
        advance(600)
        #expect(keeper.contentsWithoutNextPeriodCount() == 1)
        try await store.note([KnownPeriod(index: 8, end: Self.start + 1_200)], of: content)
        store.waitForPasses(3)
        #expect(keeper.contentsWithoutNextPeriodCount() == 0)
        advance(4_199)
        store.waitForPasses(3)
        #expect(keeper.liveContentCount() == 1 && keeper.contentsWithoutNextPeriodCount() == 1)
        // An operator ends the content.
        store.put(LiveContent(content, endedAt: Self.start, revision: 1))
        store.waitForPasses(3)
        #expect(keeper.liveContentCount() == 0 && keeper.contentsWithoutNextPeriodCount() == 0)
    }

    @Test func makesNothingForAContentThatHasEnded() throws {
        try schedule()
        store.end(try ContentID("news"), at: Self.start)
        let keeper = try keeper()
        defer { keeper.stop() }
        store.waitForPasses(3)
        #expect(store.keys.isEmpty && keeper.liveContentCount() == 0)
    }

    /// The keeper replaces a withdrawn key, for example after a leak.
    @Test func replacesAKeyThatIsWithdrawn() throws {
        try schedule()
        let keeper = try keeper()
        defer { keeper.stop() }
        store.waitForPasses(2)
        #expect(store.keys.count == 4)
        store.withdrawKeys(of: 2)
        store.waitForPasses(3)
        #expect(store.keys.count { $0.periodIndex == 2 && $0.state == .live } == 2)
        #expect(store.keys.count == 6)
    }
}

/// Live contents and their keys, in memory.
private final class MemoryPeriods: LivePeriodStore, KeyProvider, Ledger {
    private struct State {
        var contents: [ContentID: LiveContent] = [:]
        var told: [ContentID: Int64] = [:]
        var records: [ContentKeyRecord] = []
        var withdrawn: Set<KeyID> = []
        var entries: [LedgerEntry] = []
        var readError: StoreError?
        var writeError: KeyProvisionError?
        /// The content whose calls fail; nil if the calls for all contents fail.
        var failing: ContentID?

        func attributes(_ record: ContentKeyRecord) -> ContentKeyAttributes {
            var attributes = record.attributes
            if withdrawn.contains(record.keyID) { attributes.state = .withdrawn }
            return attributes
        }
    }

    private let state = Mutex(State())
    /// Counts passes: each pass begins with one query for ended contents.
    private let passes = Monitor(0)

    /// Waits until `count` more passes have begun. All of them have ended, except the last, which may still run.
    func waitForPasses(_ count: Int) {
        let before = passes.update { $0 }
        passes.wait { $0 >= before + count + 1 ? () : nil }
    }

    var keys: [ContentKeyAttributes] { state.withLock { state in state.records.map(state.attributes) } }
    var periods: Set<UInt32> { Set(keys.compactMap(\.periodIndex)) }
    var entries: [LedgerEntry] { state.withLock { $0.entries } }

    func put(_ content: LiveContent) { state.withLock { $0.contents[content.contentID] = content } }

    func end(_ contentID: ContentID, at time: Int64) { state.withLock { $0.contents[contentID]?.endedAt = time } }

    func append(_ entry: LedgerEntry) { append(together: [entry]) }

    func append(together entries: [LedgerEntry]) { state.withLock { $0.entries += entries } }

    func failReads(with error: StoreError?) { state.withLock { $0.readError = error } }

    func failWrites(with error: KeyProvisionError?, of contentID: ContentID? = nil) {
        state.withLock { ($0.writeError, $0.failing) = (error, contentID) }
    }

    func withdrawKeys(of period: UInt32) {
        state.withLock { state in
            for record in state.records where record.attributes.periodIndex == period {
                state.withdrawn.insert(record.keyID)
            }
        }
    }

    private func read<Value: Sendable>(_ body: @Sendable (State) -> Value) throws(StoreError) -> Value {
        let result: Result<Value, StoreError> = state.withLock { state in
            if let error = state.readError { return .failure(error) }
            return .success(body(state))
        }
        return try result.get()
    }

    func livePeriods(of contentID: ContentID) async throws(StoreError) -> LivePeriods? {
        try read { $0.contents[contentID].map { LivePeriods($0) } }
    }

    func liveContents(after last: ContentID?, limit: Int) async throws(StoreError) -> [LiveContent] {
        try read { state in
            let sorted = state.contents.values.sorted { $0.contentID < $1.contentID }
            return Array(sorted.drop { content in last.map { content.contentID <= $0 } ?? false }.prefix(limit))
        }
    }

    func set(_ content: LiveContent) async throws(StoreError) -> Bool {
        put(content)
        return true
    }

    func note(_ periods: [KnownPeriod], of contentID: ContentID) async throws(StoreError) {
        state.withLock { state in
            for end in periods.compactMap(\.end) { state.told[contentID] = max(end, state.told[contentID] ?? end) }
        }
    }

    func knownPeriods(of contentID: ContentID) async throws(StoreError) -> [KnownPeriod] { [] }

    func periodKeys(
        of contentID: ContentID, in periods: ClosedRange<UInt32>
    ) async throws(StoreError) -> [ContentKeyAttributes] {
        try read { state in
            state.records.map(state.attributes).filter { key in
                key.contentID == contentID && key.periodIndex.map { periods.contains($0) } == true
            }
        }
    }

    func toldEnds(after time: Int64) async throws(StoreError) -> [ContentID: Int64] {
        passes.update { $0 += 1 }
        return try read { $0.told.filter { $0.value > time } }
    }

    func provide(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> [ProvidedKey] {
        let result: Result<[ProvidedKey], KeyProvisionError> = state.withLock { state in
            if let error = state.writeError, state.failing == nil || state.failing == wishes.first?.record.contentID {
                return .failure(error)
            }
            return .success(
                wishes.map { wish in
                    let wanted = wish.record.attributes
                    let present = state.records.first { record in
                        let there = state.attributes(record)
                        return there.contentID == wanted.contentID && there.trackLabel == wanted.trackLabel
                            && there.periodIndex == wanted.periodIndex && there.state == .live
                    }
                    if let present { return ProvidedKey(record: present, isNew: false) }
                    state.records.append(wish.record)
                    return ProvidedKey(record: wish.record, isNew: true)
                })
        }
        return try result.get()
    }

    func find(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> [ContentKeyRecord?] { wishes.map { _ in nil } }
}
