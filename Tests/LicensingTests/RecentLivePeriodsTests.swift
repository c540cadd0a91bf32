import ByteCoding
import ContentKeys
import EventLoops
import Licensing
import Synchronization
import Telemetry
import TestSupport
import Testing

/// A source that gives the answers that a test sets, and counts how often it is asked.
private final class ScriptedPeriods: LivePeriodSource {
    private struct State {
        var answer: Result<LivePeriods?, StoreError> = .success(nil)
        var callCount = 0
        /// The source waits for this gate before it answers.
        var gate: Gate?
    }

    private let state = Mutex(State())

    var callCount: Int { state.withLock { $0.callCount } }

    /// Lets other tasks run until the source has been asked `count` times.
    func untilAsked(_ count: Int) async {
        while callCount < count { await Task.yield() }
    }

    func say(_ answer: Result<LivePeriods?, StoreError>) { state.withLock { $0.answer = answer } }

    func hold(at gate: Gate?) { state.withLock { $0.gate = gate } }

    func livePeriods(of contentID: ContentID) async throws(StoreError) -> LivePeriods? {
        // As a store does, the source reads its data when it is asked, not when it answers.
        let (answer, gate) = state.withLock { state in
            state.callCount += 1
            return (state.answer, state.gate)
        }
        if let gate { await gate.pass() }
        return try answer.get()
    }
}

@Suite struct RecentLivePeriodsTests {
    private let source = ScriptedPeriods()
    private let clock = ManualClock()

    private func recent(capacity: Int = 8, patience: Patience? = nil) -> RecentLivePeriods {
        RecentLivePeriods(
            source: source, capacity: capacity, life: .seconds(3), patience: patience, clock: clock)
    }

    private func key(_ period: UInt32?, content: String = "movie") throws -> ContentKeyAttributes {
        ContentKeyAttributes(
            keyID: KeyID(words: Bytes16(high: 1, low: 2)), contentID: try ContentID(content), periodIndex: period,
            createdAt: 0)
    }

    private func live(window: UInt32 = 0, newest: UInt32) throws -> LivePeriods {
        LivePeriods(
            LiveContent(try ContentID("movie"), window: window), periods: [KnownPeriod(index: newest)])
    }

    private func isServed(_ recent: RecentLivePeriods, _ period: UInt32?) async throws -> Bool {
        await recent.refusal(of: try key(period), at: 0...0) == nil
    }

    @Test func asksNothingForAKeyWithoutAPeriod() async throws {
        let recent = recent()
        #expect(try await isServed(recent, nil))
        #expect(source.callCount == 0)
    }

    @Test func servesEachPeriodOfAContentThatDoesNotRotate() async throws {
        let recent = recent()
        for period in [0, 7, UInt32.max] { #expect(try await isServed(recent, period)) }
        #expect(source.callCount == 1)
    }

    @Test func asksTheSourceOnceWithinALife() async throws {
        source.say(.success(try live(newest: 9)))
        let recent = recent()
        for _ in 0..<3 {
            for period in [7, 8, 9] as [UInt32] { #expect(try await isServed(recent, period)) }
            #expect(try await isServed(recent, 6) == false)
        }
        #expect(source.callCount == 1)
        clock.advance(by: .seconds(3))
        source.say(.success(try live(window: 5, newest: 9)))
        #expect(try await isServed(recent, 6))
        #expect(source.callCount == 2)
    }

    /// A key that was made a moment ago is served, although the remembered periods are older.
    @Test func asksAgainForAPeriodThatItDoesNotKnow() async throws {
        source.say(.success(try live(newest: 9)))
        let recent = recent()
        #expect(try await isServed(recent, 9))
        source.say(.success(try live(newest: 10)))
        #expect(try await isServed(recent, 10))
        #expect(source.callCount == 2)
        #expect(try await isServed(recent, 7) == false)
        #expect(source.callCount == 2)
    }

    /// The burst at the start of a period: any number of players ask for the new key, and the store is asked once.
    @Test func asksOnceForManyRequestsAtOnce() async throws {
        source.say(.success(try live(newest: 10)))
        let gate = Gate()
        source.hold(at: gate)
        let recent = recent()
        let key = try key(10)
        let served = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<500 { group.addTask { await recent.refusal(of: key, at: 0...0) == nil } }
            await source.untilAsked(1)
            gate.open()
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(served == 500)
        #expect(source.callCount == 1)
    }

    /// The store is asked once, even if a request reads the memory before the answer comes and asks after it.
    @Test func asksOnceHoweverRequestsMeet() async throws {
        source.say(.success(try live(newest: 10)))
        let key = try key(10)
        for round in 1...3000 {
            let recent = recent()
            await withTaskGroup { group in
                for _ in 0..<16 { group.addTask { _ = await recent.refusal(of: key, at: 0...0) } }
            }
            #expect(source.callCount == round)
        }
    }

    /// A request may join a question that was asked before the key was made. If the answer lacks the key, the request
    /// asks again.
    @Test func doesNotRefuseByAnAnswerThatIsOlderThanTheKey() async throws {
        source.say(.success(try live(newest: 9)))
        let gate = Gate()
        source.hold(at: gate)
        let recent = recent()
        let (old, new) = (try key(9), try key(10))
        let first = Task { await recent.refusal(of: old, at: 0...0) }
        await source.untilAsked(1)
        // The key of period 10 is made now.
        source.say(.success(try live(newest: 10)))
        source.hold(at: nil)
        let second = Task { await recent.refusal(of: new, at: 0...0) }
        gate.open()
        #expect(await first.value == nil)
        #expect(await second.value == nil)
    }

    @Test func holdsNoMoreThanItsCapacity() async throws {
        let recent = recent(capacity: 8)
        for index in 0..<100 {
            _ = await recent.refusal(of: try key(1, content: "movie-\(index)"), at: 0...0)
            #expect(recent.count <= 8)
        }
        #expect(source.callCount == 100)
    }

    /// An outage cuts no viewer off: known periods stay in force, and unknown ones are served.
    @Test func servesByWhatItKnewWhileTheSourceDoesNotAnswer() async throws {
        let recent = recent()
        source.say(.failure(.unavailable(.unreachable)))
        #expect(try await isServed(recent, 6))
        source.say(.success(try live(newest: 9)))
        #expect(try await isServed(recent, 6) == false)
        source.say(.failure(.unavailable(.unreachable)))
        clock.advance(by: .seconds(600))
        #expect(try await isServed(recent, 6) == false)
        #expect(try await isServed(recent, 9))
    }

    /// Only one request waits for a source that does not answer, and only as long as `Patience` allows.
    @Test func waitsForASourceThatHangsOnce() async throws {
        let group = try EventLoopGroup(count: 1)
        defer { group.stop(within: .seconds(5)) }
        let patience = Patience(on: group.loops, limit: .milliseconds(20))
        let recent = recent(patience: patience)
        let gate = Gate()
        source.say(.success(try live(newest: 9)))
        source.hold(at: gate)
        #expect(try await isServed(recent, 6))
        #expect(patience.isOpen)
        for _ in 0..<20 { #expect(try await isServed(recent, 6)) }
        #expect(source.callCount == 1)
        gate.open()
        // The late answer is remembered, and applies from then on.
        while try await isServed(recent, 6) { await Task.yield() }
        #expect(source.callCount == 1)
    }
}
