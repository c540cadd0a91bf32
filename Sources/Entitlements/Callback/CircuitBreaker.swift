/// Keeps questions from a service that does not answer, and finds out when it does again.
///
///     closed -> open        after so many failures in a row
///     open -> half open     after a while, with one question as a probe
///     half open -> closed   when the probe is answered; else open again
///
/// Instants are nanoseconds on a clock that never runs backwards.
package struct CircuitBreaker: Equatable, Sendable {
    package struct Limits: Equatable, Sendable {
        /// At least 1.
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

    /// A question that may be asked, to be given back with what became of it.
    package enum Call: Equatable, Sendable {
        case ordinary
        case probe
    }

    package private(set) var state = State.closed(failureCount: 0)
    private let limits: Limits

    package init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Whether a question may be asked at `now`; nil if it may not.
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

    /// After how many seconds a question may be asked again, rounded up and at least 1.
    package func secondsUntilProbe(now: Int64) -> Int64 {
        guard case .open(let end) = state, end > now else { return 1 }
        return max(1, (end - now + 999_999_999) / 1_000_000_000)
    }

    /// The service has answered; the answer may be a denial.
    package mutating func succeeded(_ call: Call) {
        switch (state, call) {
        case (.closed, _), (.halfOpen, .probe): state = .closed(failureCount: 0)
        // The answer to a question from before says nothing of now.
        case (.open, _), (.halfOpen, .ordinary): break
        }
    }

    /// The service has not answered, or nothing that could be understood.
    package mutating func failed(_ call: Call, now: Int64) {
        switch (state, call) {
        case (.closed(let count), _):
            state = count + 1 < limits.failureMaximum ? .closed(failureCount: count + 1) : opened(now)
        case (.halfOpen, .probe): state = opened(now)
        case (.open, _), (.halfOpen, .ordinary): break
        }
    }

    /// The question was never asked, for reasons of this server's own: another one may be the probe at once.
    package mutating func abandoned(_ call: Call, now: Int64) {
        if state == .halfOpen, call == .probe { state = .open(until: now) }
    }

    private func opened(_ now: Int64) -> State {
        let (end, overflow) = now.addingReportingOverflow(limits.openNanoseconds)
        return .open(until: overflow ? .max : end)
    }
}
