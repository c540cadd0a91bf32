import Testing

@testable import Entitlements

@Suite struct CircuitBreakerTests {
    private static let limits = CircuitBreaker.Limits(failureMaximum: 3, openNanoseconds: 100)

    /// One event, and the state that it leads to.
    enum Event: Sendable {
        case begins(at: Int64, CircuitBreaker.Call?)
        case succeeds(CircuitBreaker.Call)
        case fails(CircuitBreaker.Call, at: Int64)
        case isAbandoned(CircuitBreaker.Call, at: Int64)
    }

    private func run(_ script: [(Event, CircuitBreaker.State)]) {
        var breaker = CircuitBreaker(Self.limits)
        for (event, state) in script {
            switch event {
            case .begins(let now, let call): #expect(breaker.begin(now: now) == call)
            case .succeeds(let call): breaker.succeeded(call)
            case .fails(let call, let now): breaker.failed(call, now: now)
            case .isAbandoned(let call, let now): breaker.abandoned(call, now: now)
            }
            #expect(breaker.state == state)
        }
    }

    @Test func opensAfterSoManyFailuresAndClosesByAProbe() {
        run([
            (.begins(at: 0, .ordinary), .closed(failureCount: 0)),
            (.fails(.ordinary, at: 1), .closed(failureCount: 1)),
            (.fails(.ordinary, at: 2), .closed(failureCount: 2)),
            (.fails(.ordinary, at: 3), .open(until: 103)),
            (.begins(at: 102, nil), .open(until: 103)),
            (.begins(at: 103, .probe), .halfOpen),
            (.begins(at: 104, nil), .halfOpen),
            (.succeeds(.probe), .closed(failureCount: 0)),
            (.begins(at: 105, .ordinary), .closed(failureCount: 0)),
        ])
    }

    @Test func countsFailuresInARow() {
        run([
            (.fails(.ordinary, at: 1), .closed(failureCount: 1)), (.fails(.ordinary, at: 2), .closed(failureCount: 2)),
            (.succeeds(.ordinary), .closed(failureCount: 0)), (.fails(.ordinary, at: 3), .closed(failureCount: 1)),
        ])
    }

    @Test func opensAgainWhereTheProbeFails() {
        run([
            (.fails(.ordinary, at: 0), .closed(failureCount: 1)), (.fails(.ordinary, at: 0), .closed(failureCount: 2)),
            (.fails(.ordinary, at: 0), .open(until: 100)), (.begins(at: 100, .probe), .halfOpen),
            (.fails(.probe, at: 150), .open(until: 250)), (.begins(at: 249, nil), .open(until: 250)),
            (.begins(at: 250, .probe), .halfOpen),
        ])
    }

    @Test func believesNoAnswerFromBeforeItOpened() {
        run([
            (.fails(.ordinary, at: 0), .closed(failureCount: 1)), (.fails(.ordinary, at: 0), .closed(failureCount: 2)),
            (.fails(.ordinary, at: 0), .open(until: 100)), (.succeeds(.ordinary), .open(until: 100)),
            (.fails(.ordinary, at: 50), .open(until: 100)), (.begins(at: 100, .probe), .halfOpen),
            (.succeeds(.ordinary), .halfOpen), (.fails(.ordinary, at: 101), .halfOpen),
        ])
    }

    @Test func letsAnotherProbeGoWhereOneWasNeverAsked() {
        run([
            (.isAbandoned(.ordinary, at: 0), .closed(failureCount: 0)),
            (.fails(.ordinary, at: 0), .closed(failureCount: 1)), (.fails(.ordinary, at: 0), .closed(failureCount: 2)),
            (.fails(.ordinary, at: 0), .open(until: 100)), (.begins(at: 100, .probe), .halfOpen),
            (.isAbandoned(.probe, at: 101), .open(until: 101)), (.begins(at: 101, .probe), .halfOpen),
        ])
    }

    @Test func staysOpenAtTheEndOfTime() {
        var breaker = CircuitBreaker(CircuitBreaker.Limits(failureMaximum: 1, openNanoseconds: .max))
        breaker.failed(.ordinary, now: 5)
        #expect(breaker.state == .open(until: .max))
    }
}
