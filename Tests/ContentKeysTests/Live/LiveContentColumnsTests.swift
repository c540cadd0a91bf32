import ContentKeys
import Testing

/// Tests that the columns of a live content are read as they were written, and that other values are refused.
@Suite struct LiveContentColumnsTests {
    private func scheduled() throws -> LiveContent {
        let tracks = [
            PeriodTrack(Track(.audio), leastSecurityLevel: .baseline),
            PeriodTrack(try Track(label: TrackLabel("4K\"/"), contentType: .uhd), leastHDCP: .type1),
            PeriodTrack(.unlabelled),
        ]
        let schedule = PeriodSchedule(
            firstIndex: .max, firstStart: -5, length: 60, ahead: 64, tracks: tracks, scheme: .sampleAES)
        #expect(schedule != nil)
        return LiveContent(
            try ContentID("movie"), window: 100_000, schedule: schedule, endedAt: 7, revision: 3)
    }

    @Test func areReadAsTheyWereWritten() throws {
        for content in [try scheduled(), LiveContent(try ContentID("other"), revision: 1)] {
            #expect(try LiveContent(stored: LiveContentColumns(content)) == content)
        }
    }

    /// Changes to values that no version writes.
    static let damages: [@Sendable (inout LiveContentColumns) -> Void] = [
        { $0.contentID = "" }, { $0.window = -1 }, { $0.window = 100_001 }, { $0.revision = 0 },
        { $0.firstIndex = nil },
        { $0.firstIndex = -1 }, { $0.firstIndex = 1 << 32 }, { $0.firstStart = nil }, { $0.length = 59 },
        { $0.ahead = nil }, { $0.ahead = 0 }, { $0.ahead = 65 }, { $0.tracks = nil }, { $0.tracks = "[]" },
        { $0.tracks = "{}" }, { $0.tracks = "[1]" }, { $0.tracks = #"[{"label":null,"type":"8k"}]"# },
        { $0.tracks = #"[{"label":"a b","type":"sd"}]"# }, { $0.tracks = #"[{"label":"HD","type":"sd"}]"# },
        { $0.tracks = #"[{"label":null,"type":"sd","hdcp":"type9"}]"# },
        { $0.tracks = #"[{"label":null,"type":"sd","level":"most"}]"# },
        { $0.tracks = #"[{"label":null,"type":"sd"},{"label":null,"type":"hd"}]"# }, { $0.scheme = nil },
        { $0.scheme = "rot13" },
    ]

    @Test(arguments: damages.indices)
    func refusesWhatNoVersionWrites(damage: Int) throws {
        var columns = LiveContentColumns(try scheduled())
        Self.damages[damage](&columns)
        let damaged = columns
        #expect(throws: StoreError.recordMalformed) { try LiveContent(stored: damaged) }
    }
}
