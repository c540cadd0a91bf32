import ByteCoding
import ContentKeys
import EventLoops
import KeyCrypto
import Licensing
import Synchronization
import Telemetry
import TestSupport
import Testing

/// A source that knows every asset id but one, and counts how often it is asked.
private final class CountingSource: ContentKeySource {
    static let unknown = "unknown"
    private let calls = Atomic<Int>(0)
    private let error = Mutex<StoreError?>(nil)
    private let isDeleted = Atomic<Bool>(false)
    private let hung = Mutex<(isHanging: Bool, callers: [CheckedContinuation<Void, Never>])>((false, []))

    func delete() { isDeleted.store(true, ordering: .relaxed) }

    func hang() { hung.withLock { $0.isHanging = true } }

    func goOn() {
        let callers = hung.withLock { hung in
            defer { hung = (false, []) }
            return hung.callers
        }
        for caller in callers { caller.resume() }
    }

    private func untilItGoesOn() async {
        await withCheckedContinuation { caller in
            let isHanging = hung.withLock { hung in
                if hung.isHanging { hung.callers.append(caller) }
                return hung.isHanging
            }
            if !isHanging { caller.resume() }
        }
    }

    func fail(with error: StoreError?) {
        self.error.withLock { $0 = error }
    }

    var callCount: Int { calls.load(ordering: .relaxed) }

    func record(for reference: AssetReference) async throws(StoreError) -> ContentKeyRecord? {
        calls.add(1, ordering: .relaxed)
        if let error = error.withLock({ $0 }) { throw error }
        await untilItGoesOn()
        if reference.assetID.bytes == Array(Self.unknown.utf8) || isDeleted.load(ordering: .relaxed) { return nil }
        do {
            let attributes = ContentKeyAttributes(
                keyID: KeyID(words: Bytes16(high: 1, low: 2)), contentID: try ContentID("movie"), createdAt: 0)
            return try ContentKeyRecord(
                attributes: attributes, key: ContentKey(SecretBytes(copying: [UInt8](repeating: 7, count: 16))),
                iv: .zero)
        } catch {
            throw .recordMalformed
        }
    }
}

@Suite struct RecentContentKeysTests {
    private let source = CountingSource()
    private let clock = ManualClock()

    private func asset(_ text: String) throws -> AssetID {
        try AssetID(bytes: Array(text.utf8))
    }

    @Test func asksTheSourceOnceWithinALife() async throws {
        let keys = RecentContentKeys(source: source, life: .seconds(2), clock: clock)
        for _ in 0..<5 { #expect(try await keys.record(for: asset("movie-1")) != nil) }
        #expect(source.callCount == 1)
        clock.advance(by: .milliseconds(1_999))
        _ = try await keys.record(for: asset("movie-1"))
        #expect(source.callCount == 1)
        clock.advance(by: .milliseconds(1))
        _ = try await keys.record(for: asset("movie-1"))
        #expect(source.callCount == 2)
    }

    /// A key that is imported a moment later must be found immediately.
    @Test func doesNotRememberWhatWasNotFound() async throws {
        let keys = RecentContentKeys(source: source, clock: clock)
        for _ in 0..<3 { #expect(try await keys.record(for: asset(CountingSource.unknown)) == nil) }
        #expect(source.callCount == 3)
        #expect(keys.count == 0)
    }

    @Test func tellsAssetIDsApartByTheirExactBytes() async throws {
        let keys = RecentContentKeys(source: source, clock: clock)
        _ = try await keys.record(for: asset("movie-1"))
        _ = try await keys.record(for: asset("Movie-1"))
        _ = try await keys.record(for: asset("skd://movie-1"))
        #expect(source.callCount == 3)
    }

    @Test func holdsNoMoreThanItsCapacity() async throws {
        let keys = RecentContentKeys(source: source, capacity: 8, clock: clock)
        for index in 0..<100 {
            _ = try await keys.record(for: asset("movie-\(index)"))
            #expect(keys.count <= 8)
        }
        // The most recent key is still remembered.
        _ = try await keys.record(for: asset("movie-99"))
        #expect(source.callCount == 100)
    }

    @Test func believesAnEntryLongerWhileTheSourceDoesNotAnswer() async throws {
        let keys = RecentContentKeys(source: source, life: .seconds(2), lifeInOutage: .seconds(60), clock: clock)
        _ = try await keys.record(for: asset("movie-1"))
        source.fail(with: .unavailable(.unreachable))
        clock.advance(by: .seconds(59))
        #expect(try await keys.record(for: asset("movie-1")) != nil)
        let (other, known) = (try asset("movie-2"), try asset("movie-1"))
        await #expect(throws: StoreError.unavailable(.unreachable)) { try await keys.record(for: other) }
        clock.advance(by: .seconds(1))
        await #expect(throws: StoreError.unavailable(.unreachable)) { try await keys.record(for: known) }
    }

    @Test(arguments: [StoreError.unavailable(.unreachable), .unavailable(.busy), .unavailable(.misconfigured)])
    func believesAnEntryLongerIfTheSourceSaysNothingOfTheKey(error: StoreError) async throws {
        let keys = RecentContentKeys(source: source, life: .seconds(2), lifeInOutage: .seconds(60), clock: clock)
        let asset = try asset("movie-1")
        _ = try await keys.record(for: asset)
        source.fail(with: error)
        clock.advance(by: .seconds(2))
        #expect(try await keys.record(for: asset) != nil)
    }

    /// A key that the source has deleted does not come back in an outage.
    @Test func forgetsWhatTheSourceHasNoLonger() async throws {
        let keys = RecentContentKeys(source: source, life: .seconds(2), lifeInOutage: .seconds(60), clock: clock)
        let asset = try asset("movie-1")
        _ = try await keys.record(for: asset)
        source.delete()
        clock.advance(by: .seconds(2))
        #expect(try await keys.record(for: asset) == nil)
        source.fail(with: .unavailable(.unreachable))
        await #expect(throws: StoreError.unavailable(.unreachable)) { try await keys.record(for: asset) }
    }

    /// Only one request waits for a source that does not answer. Later requests get known keys immediately, while one
    /// question about each key goes on.
    @Test func waitsForASourceThatHangsOnce() async throws {
        let group = try EventLoopGroup(count: 1)
        defer { group.stop(within: .seconds(5)) }
        let patience = Patience(on: group.loops, limit: .milliseconds(20))
        let keys = RecentContentKeys(
            source: source, life: .seconds(2), lifeInOutage: .seconds(3600), patience: patience, clock: clock)
        let asset = try asset("movie-1")
        _ = try await keys.record(for: asset)
        source.hang()
        clock.advance(by: .seconds(2))
        for _ in 0..<500 { #expect(try await keys.record(for: asset) != nil) }
        // The first question, the one that was waited for, and at most one more while the breaker is open.
        #expect(patience.isOpen && source.callCount <= 3)
        source.goOn()
        for _ in 0..<100_000 where patience.isOpen {
            clock.advance(by: .seconds(5))
            _ = try await keys.record(for: asset)
            await Task.yield()
        }
        #expect(!patience.isOpen)
    }

    /// Only silence is an outage: another error is an answer about the key.
    @Test(arguments: [StoreError.unavailable(.damaged), .recordMalformed])
    func believesNoEntryLongerAfterAnotherError(error: StoreError) async throws {
        let keys = RecentContentKeys(source: source, life: .seconds(2), lifeInOutage: .seconds(60), clock: clock)
        let asset = try asset("movie-1")
        _ = try await keys.record(for: asset)
        source.fail(with: error)
        clock.advance(by: .seconds(2))
        await #expect(throws: error) { try await keys.record(for: asset) }
    }
}
