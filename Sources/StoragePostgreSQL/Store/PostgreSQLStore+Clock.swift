package import ContentKeys
package import Telemetry

/// What a database said when it was asked for its time.
package struct DatabaseTimeReading: Equatable, Sendable {
    /// Nanoseconds since 1970.
    package let time: Int64
    /// On the node's boot-time clock.
    package let asked: MonotonicTime
    package let answered: MonotonicTime

    init(microseconds: Int64, asked: MonotonicTime) {
        let (nanoseconds, overflows) = microseconds.multipliedReportingOverflow(by: 1000)
        time = overflows ? (microseconds < 0 ? .min : .max) : nanoseconds
        self.asked = asked
        answered = SystemBootClock().monotonicTime
    }
}

extension PostgreSQLStore {
    /// Advances the database's settled time to `settled`, in seconds since 1970, but not beyond the database's clock,
    /// and reads that clock. Nil advances nothing.
    package func advanceSettledTime(to settled: Int64?) async throws(StoreError) -> DatabaseTimeReading {
        let asked = SystemBootClock().monotonicTime
        let result = try await run(.advanceSettled, [.integer(settled ?? 0)], .read)
        return DatabaseTimeReading(microseconds: try result.integer(0, 1), asked: asked)
    }
}
