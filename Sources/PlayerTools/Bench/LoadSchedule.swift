/// When the requests of a load are due: at a fixed rate from the start, or whenever a connection is free.
///
/// Several threads share one schedule. Thread `index` of `count` threads has the requests `index`, `index + count` and
/// so on.
struct LoadSchedule: Equatable, Sendable {
    /// Requests per second; nil if the next request follows each answer (closed loop).
    let rate: Int?
    let seconds: Int
    /// The most requests, because each is sent once; nil if there is no limit.
    let requestMaximum: Int?

    /// The time from the start at which a request is due. Returns nil in a closed loop.
    ///
    /// It is computed from the number and not from the request before, so that errors do not add up.
    func due(_ number: Int) -> Duration? {
        guard let rate else { return nil }
        let (whole, part) = number.quotientAndRemainder(dividingBy: rate)
        return .seconds(whole) + .nanoseconds(part * 1_000_000_000 / rate)
    }

    /// Whether a request belongs to the load, if it is sent at this time from the start.
    func contains(_ number: Int, at time: Duration) -> Bool {
        time < .seconds(seconds) && number < (requestMaximum ?? .max) && number < (dueCount ?? .max)
    }

    /// The number of requests that a fixed rate makes due in the whole time. Returns nil in a closed loop.
    var dueCount: Int? { rate.map { $0 * seconds } }

    /// The number of requests that a thread should send at a fixed rate. Returns nil in a closed loop.
    func dueCount(forThread index: Int, of count: Int) -> Int? {
        guard let dueCount else { return nil }
        let total = min(dueCount, requestMaximum ?? .max)
        return total > index ? (total - index - 1) / count + 1 : 0
    }
}
