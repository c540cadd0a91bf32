/// A rate limit: a steady rate, and a burst that is allowed after a pause.
package struct Rate: Equatable, Sendable {
    /// The steady rate per second; at least 1.
    package let perSecond: Int
    /// The most that may come together after a pause; at least 1.
    package let burst: Int

    package init(perSecond: Int, burst: Int) {
        self.perSecond = perSecond
        self.burst = burst
    }
}
