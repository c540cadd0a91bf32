import ByteCoding
package import ContentKeys
import TestSupport
import Testing

/// The rules of every `LivePeriodStore`, with any database. `makeStore` returns an empty store in each call.
package enum LivePeriodConformance {
    package enum Case: String, CaseIterable, Sendable {
        case knowsNoLiveContentAtFirst
        case givesBackLiveContents
        case changesOnlyTheRevisionThatWasRead
        case listsContentsPageByPage
        case findsThePeriodsThatHaveKeys
        case keepsTimesThatAreNotSaidAgain
        case looksAtTheNewestPeriods
        case findsTheKeysOfPeriods
        case findsTheLatestEndOfEachContent
        case refusesAPeriodThatIsTooFar
        case servesOnAfterAWrongPeriodIsWithdrawn
    }

    package static func run<Store: LivePeriodStore & ContentKeyStore>(
        _ rule: Case, makeStore: () async throws -> Store
    ) async throws {
        let store = try await makeStore()
        switch rule {
        case .knowsNoLiveContentAtFirst: try await knowsNoLiveContentAtFirst(store)
        case .givesBackLiveContents: try await givesBackLiveContents(store)
        case .changesOnlyTheRevisionThatWasRead: try await changesOnlyTheRevisionThatWasRead(store)
        case .listsContentsPageByPage: try await listsContentsPageByPage(store)
        case .findsThePeriodsThatHaveKeys: try await findsThePeriodsThatHaveKeys(store)
        case .keepsTimesThatAreNotSaidAgain: try await keepsTimesThatAreNotSaidAgain(store)
        case .looksAtTheNewestPeriods: try await looksAtTheNewestPeriods(store)
        case .findsTheKeysOfPeriods: try await findsTheKeysOfPeriods(store)
        case .refusesAPeriodThatIsTooFar: try await refusesAPeriodThatIsTooFar(store)
        case .servesOnAfterAWrongPeriodIsWithdrawn: try await servesOnAfterAWrongPeriodIsWithdrawn(store)
        case .findsTheLatestEndOfEachContent: try await findsTheLatestEndOfEachContent(store)
        }
    }

    private static func schedule() throws -> PeriodSchedule {
        let tracks = [
            PeriodTrack(Track(.audio), leastSecurityLevel: .baseline),
            PeriodTrack(try Track(label: TrackLabel("4K"), contentType: .uhd), leastHDCP: .type1),
        ]
        return try #require(
            PeriodSchedule(firstIndex: 7, firstStart: 1_700_000_000, length: 3_600, ahead: 3, tracks: tracks))
    }

    private static func knowsNoLiveContentAtFirst(_ store: some LivePeriodStore) async throws {
        let contentID = try ContentID("movie")
        #expect(try await store.livePeriods(of: contentID) == nil)
        #expect(try await store.liveContents(after: nil, limit: 10) == [])
        #expect(try await store.knownPeriods(of: contentID) == [])
        #expect(try await store.periodKeys(of: contentID, in: 0 ... .max) == [])
        #expect(try await store.toldEnds(after: .min) == [:])
    }

    private static func givesBackLiveContents(_ store: some LivePeriodStore & ContentKeyStore) async throws {
        let plain = LiveContent(try ContentID("plain"), window: 12)
        let scheduled = LiveContent(
            try ContentID("'; DROP TABLE live_content;--".filter { $0 != " " }), window: 100_000,
            schedule: try schedule(), endedAt: 1_700_000_999)
        for content in [plain, scheduled] {
            #expect(try await store.set(content))
            var stored = content
            stored.revision = 1
            #expect(try await store.livePeriods(of: content.contentID) == LivePeriods(stored))
        }
        // A content with a schedule needs no periods. Any other content has the periods of its keys.
        for (number, content) in [(1, plain), (2, scheduled)] as [(UInt64, LiveContent)] {
            _ = try await store.insert(SampleKeys.record(number, content: content.contentID.text, period: 4))
        }
        #expect(try await store.livePeriods(of: plain.contentID)?.periods == [KnownPeriod(index: 4)])
        #expect(try await store.livePeriods(of: scheduled.contentID)?.periods == [])
    }

    private static func changesOnlyTheRevisionThatWasRead(_ store: some LivePeriodStore) async throws {
        var content = LiveContent(try ContentID("movie"), window: 1)
        #expect(try await store.set(content))
        // Another writer has stored the content first.
        #expect(try await store.set(content) == false)
        content.revision = 1
        content.window = 2
        content.schedule = try schedule()
        #expect(try await store.set(content))
        #expect(try await store.set(content) == false)
        content.revision = 2
        #expect(try await store.livePeriods(of: content.contentID)?.content == content)
        // Values that are removed stay removed.
        content.schedule = nil
        content.endedAt = nil
        #expect(try await store.set(content))
        content.revision = 3
        #expect(try await store.livePeriods(of: content.contentID)?.content == content)
        let unknown = LiveContent(try ContentID("other"), revision: 1)
        #expect(try await store.set(unknown) == false)
        #expect(try await store.livePeriods(of: unknown.contentID) == nil)
    }

    private static func listsContentsPageByPage(_ store: some LivePeriodStore) async throws {
        let names = ["B", "a", "!", "~", "ab"]
        for name in names { #expect(try await store.set(LiveContent(try ContentID(name)))) }
        var found: [String] = []
        var last: ContentID?
        while true {
            let page = try await store.liveContents(after: last, limit: 2)
            #expect(page.count <= 2)
            found += page.map(\.contentID.text)
            guard let next = page.last else { break }
            last = next.contentID
        }
        #expect(found == ["!", "B", "a", "ab", "~"])
    }

    private static func findsThePeriodsThatHaveKeys(_ store: some LivePeriodStore & ContentKeyStore) async throws {
        let contentID = try ContentID("movie")
        let samples: [(number: UInt64, period: UInt32?, state: ContentKeyState, content: String)] = [
            (1, 3, .live, "movie"), (2, 3, .live, "movie"), (3, 0, .live, "movie"), (4, .max, .withdrawn, "movie"),
            (5, nil, .live, "movie"), (6, 9, .live, "movie2"),
        ]
        for sample in samples {
            _ = try await store.insert(
                SampleKeys.record(
                    sample.number, content: sample.content, period: sample.period, state: sample.state))
        }
        // No key of period 8 is stored.
        try await store.note(
            [KnownPeriod(index: 3, start: 100, end: 200), KnownPeriod(index: 8, start: 900)], of: contentID)
        #expect(
            try await store.knownPeriods(of: contentID) == [
                KnownPeriod(index: 3, start: 100, end: 200), KnownPeriod(index: 0),
            ])
    }

    private static func keepsTimesThatAreNotSaidAgain(_ store: some LivePeriodStore & ContentKeyStore) async throws {
        let contentID = try ContentID("movie")
        _ = try await store.insert(SampleKeys.record(1, period: 3))
        func note(_ periods: KnownPeriod...) async throws -> KnownPeriod? {
            try await store.note(periods, of: contentID)
            return try await store.knownPeriods(of: contentID).first
        }
        #expect(try await note() == KnownPeriod(index: 3))
        #expect(try await note(KnownPeriod(index: 3, start: 100)) == KnownPeriod(index: 3, start: 100))
        #expect(try await note(KnownPeriod(index: 3, end: 200)) == KnownPeriod(index: 3, start: 100, end: 200))
        #expect(try await note(KnownPeriod(index: 3)) == KnownPeriod(index: 3, start: 100, end: 200))
        // The last value counts, even within one call.
        let twice = try await note(KnownPeriod(index: 3, start: 101), KnownPeriod(index: 3, start: 102, end: 201))
        #expect(twice == KnownPeriod(index: 3, start: 102, end: 201))
    }

    private static func looksAtTheNewestPeriods(_ store: some LivePeriodStore & ContentKeyStore) async throws {
        let count = LivePeriods.countMaximum + 3
        for number in 0..<count {
            _ = try await store.insert(SampleKeys.record(UInt64(number + 1), period: UInt32(number)))
        }
        let found = try await store.knownPeriods(of: try ContentID("movie")).map(\.index)
        #expect(found == (3..<UInt32(count)).reversed())
    }

    private static func findsTheKeysOfPeriods(_ store: some LivePeriodStore & ContentKeyStore) async throws {
        let records = [
            try SampleKeys.record(1, track: Track(.hd), period: 3, leastHDCP: .type1),
            try SampleKeys.record(2, period: 4, state: .withdrawn), try SampleKeys.record(3, period: 5),
            try SampleKeys.record(4), try SampleKeys.record(5, content: "movie2", period: 4),
        ]
        for record in records { _ = try await store.insert(record) }
        let found = try await store.periodKeys(of: try ContentID("movie"), in: 3...4)
        #expect(Set(found) == Set(records[0...1].map(\.attributes)))
        #expect(found.count == 2)
    }

    /// The periods of a content with a window follow its keys, so a wrong number would take all others off the air.
    private static func refusesAPeriodThatIsTooFar(_ store: some LivePeriodStore & ContentKeyStore) async throws {
        let live = try ContentID("live")
        #expect(try await store.set(LiveContent(live, window: 3)))
        #expect(try await store.insert(SampleKeys.record(1, content: "live", period: 7)) == .stored)
        let far = try SampleKeys.record(2, content: "live", period: 264)
        await #expect(throws: StoreError.periodTooFar(live, period: 264, newest: 7)) { try await store.insert(far) }
        #expect(try await store.knownPeriods(of: live) == [KnownPeriod(index: 7)])
        #expect(try await store.insert(SampleKeys.record(3, content: "live", period: 263)) == .stored)
        #expect(try await store.insert(SampleKeys.record(4, content: "live", period: 0)) == .stored)
        // A withdrawn key is no period, however far it is.
        let withdrawn = try SampleKeys.record(5, content: "live", period: .max, state: .withdrawn)
        #expect(try await store.insert(withdrawn) == .stored)
        // A schedule decides alone, and without a window every key is served.
        let scheduled = LiveContent(try ContentID("scheduled"), schedule: try schedule())
        #expect(try await store.set(scheduled))
        for (number, content) in [(10, "scheduled"), (20, "plain")] as [(UInt64, String)] {
            _ = try await store.insert(SampleKeys.record(number, content: content, period: 1))
            #expect(try await store.insert(SampleKeys.record(number + 1, content: content, period: .max)) == .stored)
        }
    }

    private static func servesOnAfterAWrongPeriodIsWithdrawn(
        _ store: some LivePeriodStore & ContentKeyStore
    ) async throws {
        let live = try ContentID("live")
        for period in 1...3 as ClosedRange<UInt32> {
            _ = try await store.insert(SampleKeys.record(UInt64(period), content: "live", period: period))
        }
        #expect(try await store.set(LiveContent(live, window: 3)))
        let served = try #require(try await store.livePeriods(of: live)?.window(at: 1000...1000))
        let wrong = try SampleKeys.record(9, content: "live", period: 200, state: .withdrawn)
        _ = try await store.insert(wrong)
        try await store.note([KnownPeriod(index: 200, start: 0, end: 5_000)], of: live)
        #expect(try await store.livePeriods(of: live)?.window(at: 1000...1000) == served)
        #expect(try await store.toldEnds(after: 0) == [:])
    }

    private static func findsTheLatestEndOfEachContent(_ store: some LivePeriodStore & ContentKeyStore) async throws {
        let (first, second) = (try ContentID("first"), try ContentID("second"))
        let keys: [(UInt64, ContentID, UInt32)] = [(1, first, 1), (2, first, 2), (3, second, 1)]
        for (number, content, period) in keys {
            _ = try await store.insert(SampleKeys.record(number, content: content.text, period: period))
        }
        try await store.note(
            [KnownPeriod(index: 1, start: 0, end: 100), KnownPeriod(index: 2, end: 200), KnownPeriod(index: 3)],
            of: first)
        try await store.note([KnownPeriod(index: 1, start: 0, end: 150)], of: second)
        #expect(try await store.toldEnds(after: 99) == [first: 200, second: 150])
        #expect(try await store.toldEnds(after: 150) == [first: 200])
        #expect(try await store.toldEnds(after: 200) == [:])
    }
}
