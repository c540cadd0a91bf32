package import ContentKeys

extension PostgreSQLStore: LivePeriodStore {
    /// Reads the content and its periods in one round trip.
    package func livePeriods(of contentID: ContentID) async throws(StoreError) -> LivePeriods? {
        let outcomes = await outcomes([(.liveContent, [.text(contentID.text)]), Self.newest(contentID)], .read)
        let (contents, periods): (PostgreSQLResult, PostgreSQLResult)
        do { (contents, periods) = (try outcomes[0].get(), try outcomes[1].get()) } catch { throw error.storeError }
        guard let content = try contents.first(read: LiveContent.init(reading:)) else { return nil }
        return LivePeriods(content, periods: content.schedule == nil ? try Self.periods(periods) : [])
    }

    /// Returns at most `pageSizeMaximum` contents, even if `limit` is larger.
    package func liveContents(after last: ContentID?, limit: Int) async throws(StoreError) -> [LiveContent] {
        let count = Int64(min(max(limit, 1), Self.pageSizeMaximum))
        let result = try await run(.liveContentPage, [.text(last?.text ?? ""), .integer(count)], .read)
        return try result.rows(read: LiveContent.init(reading:))
    }

    package func set(_ content: LiveContent) async throws(StoreError) -> Bool {
        let columns = LiveContentColumns(content)
        let values: [PostgreSQLValue] = [
            .text(columns.contentID), .integer(columns.window), .optional(columns.endedAt),
            .optional(columns.firstIndex), .optional(columns.firstStart), .optional(columns.length),
            .optional(columns.ahead), .optional(columns.tracks), .optional(columns.scheme),
        ]
        guard content.revision > 0 else { return try await run(.insertLiveContent, values, .read).rowCount == 1 }
        return try await run(.updateLiveContent, values + [.integer(columns.revision)], .read).rowCount == 1
    }

    package func note(_ periods: [KnownPeriod], of contentID: ContentID) async throws(StoreError) {
        // One statement must not name a row twice, so the later values of a period replace the earlier ones.
        var named: [UInt32: KnownPeriod] = [:]
        for period in periods {
            let before = named[period.index]
            named[period.index] = KnownPeriod(
                index: period.index, start: period.start ?? before?.start, end: period.end ?? before?.end)
        }
        guard !named.isEmpty else { return }
        // All nodes write rows in the same order, so that no two nodes wait for one another's rows.
        let rows = named.values.sorted { $0.index < $1.index }
        _ = try await run(
            .notePeriods,
            [
                .text(contentID.text), .integers(rows.map { Int64($0.index) }), .integers(rows.map(\.start)),
                .integers(rows.map(\.end)),
            ], .read)
    }

    package func knownPeriods(of contentID: ContentID) async throws(StoreError) -> [KnownPeriod] {
        let (statement, values) = Self.newest(contentID)
        return try Self.periods(try await run(statement, values, .read))
    }

    package func periodKeys(
        of contentID: ContentID, in periods: ClosedRange<UInt32>
    ) async throws(StoreError) -> [ContentKeyAttributes] {
        let result = try await run(
            .keysOfPeriods,
            [
                .text(contentID.text), .integer(Int64(periods.lowerBound)), .integer(Int64(periods.upperBound)),
                .integer(Int64(Self.periodKeysMaximum)),
            ], .read)
        return try result.rows(read: ContentKeyAttributes.init(reading:))
    }

    package func toldEnds(after time: Int64) async throws(StoreError) -> [ContentID: Int64] {
        let result = try await run(
            .toldPeriodEnds, [.integer(time), .integer(Int64(Self.toldPeriodsMaximum))], .read)
        var found: [ContentID: Int64] = [:]
        for row in 0..<result.rowCount {
            let contentID = try result[row].contentID(at: 0)
            // The rows come in descending order of their ends, so the first row of a content has its latest end.
            if found[contentID] == nil { found[contentID] = try result[row].integer(at: 1) }
        }
        return found
    }

    private static func newest(_ contentID: ContentID) -> (PreparedStatement, [PostgreSQLValue]) {
        (.newestPeriods, [.text(contentID.text), .integer(Int64(LivePeriods.countMaximum))])
    }

    private static func periods(_ result: PostgreSQLResult) throws(StoreError) -> [KnownPeriod] {
        try result.rows { row throws(StoreError) in
            guard let index = UInt32(exactly: try row.integer(at: 0)) else { throw .recordMalformed }
            return KnownPeriod(index: index, start: try row.optionalInteger(at: 1), end: try row.optionalInteger(at: 2))
        }
    }
}
