/// A content whose keys change from period to period, as an operator has said.
package struct LiveContent: Hashable, Sendable {
    /// How many past periods a window may have.
    package static let windows: ClosedRange<UInt32> = 0...100_000

    package let contentID: ContentID
    /// How many periods before the current one are served: the DVR window. The one before the current one always is.
    package var window: UInt32
    /// When Latchkey makes the periods by itself; nil if the packager or the operator makes each of them.
    package var schedule: PeriodSchedule?
    /// From this time on no period follows; nil while the content is live. In seconds since 1970.
    package var endedAt: Int64?
    /// Counts the changes of the stored content; 0 if it is not stored yet.
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

    /// Whether Latchkey makes further periods.
    package var rotates: Bool { schedule != nil && endedAt == nil }
}

/// A period of which a store knows, and when it is, if the packager has said so. Times are seconds since 1970.
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

/// What decides which periods of a content are served.
package struct LivePeriods: Hashable, Sendable {
    /// How many periods, the newest ones, are looked at.
    package static let countMaximum = 256

    package let content: LiveContent
    /// Empty for a content with a schedule, which says all that is needed. The newest first.
    package let periods: [KnownPeriod]

    package init(_ content: LiveContent, periods: [KnownPeriod] = []) {
        self.content = content
        self.periods = periods
    }

    /// Whether a period of which there is a key may have been made since.
    package func knows(_ period: UInt32) -> Bool {
        content.schedule != nil || periods.contains { $0.index >= period }
    }

    /// Which periods are served if the time is one of these, in seconds since 1970; nil if no period is known.
    package func window(at times: ClosedRange<Int64>) -> PeriodWindow? {
        guard let first = current(at: times.lowerBound), let last = current(at: times.upperBound) else { return nil }
        // A later time never has an earlier period.
        return PeriodWindow(current: first...max(first, last), window: content.window)
    }

    /// The current period at a time, N. It may be one before the first.
    ///
    /// A schedule says it. Otherwise N is the last period that has begun by its packager's word. A period without a
    /// time may have been fetched ahead of its start, so it counts as N+1 at least.
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

/// The periods of a live content that are served: the current one, N, with N-1 and N+1, and as many past ones as the
/// content's window says.
///
/// If the clock is not trusted, N lies between two numbers, and a period is served if it is by one of them.
package struct PeriodWindow: Hashable, Sendable {
    /// N, by the earliest and by the latest time that it may be. One before the first period if none has begun.
    package let current: ClosedRange<Int64>
    /// How many past periods are served.
    package let window: UInt32

    package init(current: ClosedRange<Int64>, window: UInt32) {
        self.current = current
        self.window = window
    }

    /// The served periods.
    package var served: ClosedRange<Int64> {
        current.lowerBound - Int64(max(1, window))...current.upperBound + 1
    }

    /// Nil for a period that is served.
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

/// Why the key of a period is not served.
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
    /// The periods that need their keys if the time is one of these: at the earliest and at the latest of them, with
    /// those ahead. So a clock that jumps makes two groups of periods, and not all between. None if Latchkey does not
    /// make periods.
    package func neededPeriods(at times: ClosedRange<Int64>) -> [ClosedRange<UInt32>] {
        guard rotates, let schedule else { return [] }
        let first = schedule.needed(at: schedule.index(at: times.lowerBound))
        let last = schedule.needed(at: schedule.index(at: times.upperBound))
        return first.overlaps(last) ? [first.lowerBound...max(first.upperBound, last.upperBound)] : [first, last]
    }

    /// The current period and the next one: without their keys viewers are cut off, or will be. In the same way.
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
