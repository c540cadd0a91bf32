package import ContentKeys

extension SQLiteKeyStore: LivePeriodStore {
    package func livePeriods(of contentID: ContentID) async throws(StoreError) -> LivePeriods? {
        try readers.withReader { reader throws(StoreError) in try reader.periods.livePeriods(of: contentID) }
    }

    /// At most `pageSizeMaximum` contents, even with a larger limit.
    package func liveContents(after last: ContentID?, limit: Int) async throws(StoreError) -> [LiveContent] {
        let limit = min(max(limit, 1), Self.pageSizeMaximum)
        return try readers.withReader { reader throws(StoreError) in
            try reader.periods.liveContents(after: last, limit: limit)
        }
    }

    package func set(_ content: LiveContent) async throws(StoreError) -> Bool {
        try await write { writer throws(StoreError) in try writer.periods.set(content) }
    }

    package func note(_ periods: [KnownPeriod], of contentID: ContentID) async throws(StoreError) {
        guard !periods.isEmpty else { return }
        try await write { writer throws(StoreError) in
            for period in periods { try writer.periods.note(period, of: contentID) }
        }
    }

    /// Makes durable what `body` does, if no caller waits for the disk.
    private func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout KeyWriter) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let outcome = try await writingThread.run {
            Result { () throws(StoreError) in
                try self.withWriter { writer throws(StoreError) in
                    try writer.transaction { writer throws(StoreError) in try body(&writer) }
                }
            }
        }
        return try outcome.get()
    }

    package func knownPeriods(of contentID: ContentID) async throws(StoreError) -> [KnownPeriod] {
        try readers.withReader { reader throws(StoreError) in try reader.periods.periods(of: contentID) }
    }

    package func periodKeys(
        of contentID: ContentID, in periods: ClosedRange<UInt32>
    ) async throws(StoreError) -> [ContentKeyAttributes] {
        try readers.withReader { reader throws(StoreError) in
            try reader.periods.keys(of: contentID, in: periods, limit: Self.periodKeysMaximum)
        }
    }

    package func toldEnds(after time: Int64) async throws(StoreError) -> [ContentID: Int64] {
        try readers.withReader { reader throws(StoreError) in
            try reader.periods.ends(after: time, limit: Self.toldPeriodsMaximum)
        }
    }
}
