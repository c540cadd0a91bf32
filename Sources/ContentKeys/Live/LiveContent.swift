/// A content whose keys rotate, with an operator's settings.
package struct LiveContent: Hashable, Sendable {
    /// The range of the number of past periods in a window.
    package static let windows: ClosedRange<UInt32> = 0...100_000

    package let contentID: ContentID
    /// The number of served periods before the current one: the DVR window. The period before the current one is always
    /// served.
    package var window: UInt32
    /// The schedule by which Latchkey makes the periods; nil if the packager or the operator makes each of them.
    package var schedule: PeriodSchedule?
    /// The time after which no period follows, in seconds since 1970; nil while the content is live.
    package var endedAt: Int64?
    /// The number of changes of the stored content; 0 if it is not stored yet.
    package var revision: Int64

    package init(
        _ contentID: ContentID, window: UInt32 = 0, schedule: PeriodSchedule? = nil, endedAt: Int64? = nil,
        revision: Int64 = 0
    ) {
        self.contentID = contentID
        self.window = window
        self.schedule = schedule
        self.endedAt = endedAt
        self.revision = revision
    }

    /// Whether Latchkey will make further periods.
    package var rotates: Bool { schedule != nil && endedAt == nil }
}

/// A period that a store knows, with its times if the packager has named them. Times are seconds since 1970.
package struct KnownPeriod: Hashable, Sendable {
    package let index: UInt32
    package let start: Int64?
    package let end: Int64?

    package init(index: UInt32, start: Int64? = nil, end: Int64? = nil) {
        self.index = index
        self.start = start
        self.end = end
    }
}

/// The data that decide which periods of a content are served.
package struct LivePeriods: Hashable, Sendable {
    /// The largest number of periods that are read: the newest ones.
    package static let countMaximum = 256
    /// How far a new period may come after the newest one. A wrong number would end all periods before it.
    package static let jumpMaximum: UInt32 = 256

    package let content: LiveContent
    /// The periods, the newest first. Empty for a content with a schedule, because the schedule is enough.
    package let periods: [KnownPeriod]

    package init(_ content: LiveContent, periods: [KnownPeriod] = []) {
        self.content = content
        self.periods = periods
    }

    /// Checks the periods of new keys of a content whose keys decide which periods are served. `newest` is the newest
    /// period with a live key, or nil. Throws `periodTooFar` with the first one that comes too long after it.
    package static func check(
        _ periods: some Sequence<UInt32>, of contentID: ContentID, after newest: UInt32?
    ) throws(StoreError) {
        var newest = newest
        for period in periods.sorted() {
            if let newest, period > newest, period - newest > jumpMaximum {
                throw .periodTooFar(contentID, period: period, newest: newest)
            }
            newest = max(newest ?? period, period)
        }
    }

    /// Whether this value is new enough to decide on a period. If not, the period may have been made after this was
    /// read.
    package func knows(_ period: UInt32) -> Bool {
        content.schedule != nil || periods.contains { $0.index >= period }
    }

    /// Returns the served periods if the time is within `times`, in seconds since 1970; nil if no period is known.
    package func window(at times: ClosedRange<Int64>) -> PeriodWindow? {
        guard let first = current(at: times.lowerBound), let last = current(at: times.upperBound) else { return nil }
        // A later time never has an earlier period.
        return PeriodWindow(current: first...max(first, last), window: content.window)
    }

    /// Returns the index N of the current period at a time. It may be one before the first.
    ///
    /// A schedule determines N. Without one, N is the last period that has begun by the packager's times. A period
    /// without a time may have been fetched before its start, so it may be N+1: N is then at least the index before it.
    private func current(at time: Int64) -> Int64? {
        let time = min(time, content.endedAt ?? .max)
        if let schedule = content.schedule { return schedule.index(at: time) }
        guard let first = periods.map(\.index).min() else { return nil }
        return periods.reduce(Int64(first) - 1) { current, period in
            switch period.start {
            case nil: max(current, Int64(period.index) - 1)
            case .some(let start): start <= time ? max(current, Int64(period.index)) : current
            }
        }
    }
}

/// The served periods of a live content: the current one, N, with N-1 and N+1, and the past ones of the content's
/// window.
///
/// If the clock is not trusted, N is within a range. A period is served if any N of the range serves it.
package struct PeriodWindow: Hashable, Sendable {
    /// The range of N, from the earliest to the latest possible time. N is one before the first period if no period has
    /// begun.
    package let current: ClosedRange<Int64>
    /// The number of past periods that are served.
    package let window: UInt32

    /// The served periods.
    package var served: ClosedRange<Int64> {
        current.lowerBound - Int64(max(1, window))...current.upperBound + 1
    }

    /// Returns why a period is not served; nil if it is.
    package func refusal(of period: UInt32, _ contentID: ContentID) -> PeriodRefusal? {
        if Int64(period) < served.lowerBound {
            return PeriodRefusal(
                contentID: contentID, period: period, reason: .past, current: current.lowerBound, window: window)
        }
        if Int64(period) > served.upperBound {
            return PeriodRefusal(
                contentID: contentID, period: period, reason: .future, current: current.upperBound, window: window)
        }
        return nil
    }
}

/// The reason why the key of a period is not served.
package struct PeriodRefusal: Hashable, Sendable {
    package enum Reason: Hashable, Sendable, CaseIterable {
        /// The period has left the window.
        case past
        /// The period comes after the next one.
        case future
    }

    package let contentID: ContentID
    package let period: UInt32
    package let reason: Reason
    package let current: Int64
    package let window: UInt32

    package init(contentID: ContentID, period: UInt32, reason: Reason, current: Int64, window: UInt32) {
        self.contentID = contentID
        self.period = period
        self.reason = reason
        self.current = current
        self.window = window
    }
}

extension PeriodRefusal: CustomStringConvertible {
    package var description: String {
        switch reason {
        case .past: "period \(period) has left the window of \(contentID): current \(current), window \(window)"
        case .future: "period \(period) of \(contentID) is not due yet: current \(current)"
        }
    }
}

extension LiveContent {
    /// Returns the periods whose keys must exist if the time is within `times`: those needed at the earliest time and
    /// those needed at the latest, including periods ahead.
    ///
    /// If the clock jumps, the result is two groups and not all periods between them. Empty if Latchkey does not make
    /// the periods.
    package func neededPeriods(at times: ClosedRange<Int64>) -> [ClosedRange<UInt32>] {
        guard rotates, let schedule else { return [] }
        let first = schedule.needed(at: schedule.index(at: times.lowerBound))
        let last = schedule.needed(at: schedule.index(at: times.upperBound))
        return first.overlaps(last) ? [first.lowerBound...max(first.upperBound, last.upperBound)] : [first, last]
    }

    /// Returns the current period and the next one at the earliest and at the latest time. If their keys are missing,
    /// viewers are cut off now or soon.
    package func duePeriods(at times: ClosedRange<Int64>) -> Set<UInt32> {
        guard rotates, let schedule else { return [] }
        var due: Set<UInt32> = []
        for time in [times.lowerBound, times.upperBound] {
            let needed = schedule.needed(at: schedule.index(at: time))
            due.formUnion(needed.prefix(schedule.index(at: time) < Int64(schedule.firstIndex) ? 1 : 2))
        }
        return due
    }
}
