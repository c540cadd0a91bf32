/// Stops asking a service that does not answer, and finds out when the service answers again.
///
///     closed -> open        after `failureMaximum` failures in a row
///     open -> half open     after `openNanoseconds`, with one question as a probe
///     half open -> closed   if the probe is answered
///     half open -> open     if the probe fails
///
/// Instants are nanoseconds on a clock that never runs backwards.
package struct CircuitBreaker: Equatable, Sendable {
    package struct Limits: Equatable, Sendable {
        /// How many failures in a row open the breaker; at least 1.
        package var failureMaximum: Int
        package var openNanoseconds: Int64

        package init(failureMaximum: Int = 5, openNanoseconds: Int64 = 5_000_000_000) {
            self.failureMaximum = failureMaximum
            self.openNanoseconds = openNanoseconds
        }
    }

    package enum State: Equatable, Sendable {
        case closed(failureCount: Int)
        case open(until: Int64)
        /// The probe is under way.
        case halfOpen
    }

    /// The permission to ask one question; the caller returns it with the result of the question.
    package enum Call: Equatable, Sendable {
        case ordinary
        case probe
    }

    package private(set) var state = State.closed(failureCount: 0)
    private let limits: Limits

    package init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Returns the permission to ask a question at `now`; nil if no question may be asked.
    package mutating func begin(now: Int64) -> Call? {
        switch state {
        case .closed: return .ordinary
        case .open(let end):
            guard now >= end else { return nil }
            state = .halfOpen
            return .probe
        case .halfOpen: return nil
        }
    }

    /// Returns the number of seconds until a question may be asked again, rounded up and at least 1.
    package func secondsUntilProbe(now: Int64) -> Int64 {
        guard case .open(let end) = state, end > now else { return 1 }
        return max(1, (end - now + 999_999_999) / 1_000_000_000)
    }

    /// Notes that the service has answered. The answer may be a denial.
    package mutating func succeeded(_ call: Call) {
        switch (state, call) {
        case (.closed, _), (.halfOpen, .probe): state = .closed(failureCount: 0)
        // The question was asked before the breaker opened. Its answer does not tell whether the service works now.
        case (.open, _), (.halfOpen, .ordinary): break
        }
    }

    /// Notes that the service has not answered, or that its answer could not be read.
    package mutating func failed(_ call: Call, now: Int64) {
        switch (state, call) {
        case (.closed(let count), _):
            state = count + 1 < limits.failureMaximum ? .closed(failureCount: count + 1) : opened(now)
        case (.halfOpen, .probe): state = opened(now)
        case (.open, _), (.halfOpen, .ordinary): break
        }
    }

    /// Notes that the question was never asked, for a reason inside this server.
    ///
    /// If the question was the probe, the next one may be the probe immediately.
    package mutating func abandoned(_ call: Call, now: Int64) {
        if state == .halfOpen, call == .probe { state = .open(until: now) }
    }

    private func opened(_ now: Int64) -> State {
        let (end, overflow) = now.addingReportingOverflow(limits.openNanoseconds)
        return .open(until: overflow ? .max : end)
    }
}
