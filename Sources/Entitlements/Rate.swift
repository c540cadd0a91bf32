/// How often something may happen: steadily, and at once after a rest.
package struct Rate: Equatable, Sendable {
    /// At least 1.
    package let perSecond: Int
    /// At least 1.
    package let burst: Int

    package init(perSecond: Int, burst: Int) {
        self.perSecond = perSecond
        self.burst = burst
    }
}
