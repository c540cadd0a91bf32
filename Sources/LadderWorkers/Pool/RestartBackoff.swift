/// The back-off before a dead worker is replaced.
///
/// After the first deaths in a row, it is some milliseconds, because most failures are caused by a single call. It is
/// never more than a second, so that calls which kill their workers cannot make the module unavailable for other calls.
/// If the module cannot be opened, the back-off grows to 30 seconds. When a worker has run for a while, the count
/// starts again.
struct RestartBackoff: Equatable {
    /// After a worker has run for this time, its death counts as the first one.
    static let stableLife: Duration = .seconds(10)

    private static let afterDeath = (first: Duration.milliseconds(10), most: Duration.seconds(1))
    private static let afterStartFailure = (first: Duration.milliseconds(250), most: Duration.seconds(30))

    private var failures = 0

    /// Returns the delay after the death of a worker. `life` is the time for which it was ready; nil if it never was.
    ///
    /// Half of the delay is random, so that workers that died together do not start together.
    mutating func delay(
        afterLife life: Duration?, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        if let life, life >= Self.stableLife { failures = 0 }
        let (first, most) = life == nil ? Self.afterStartFailure : Self.afterDeath
        let full = min(first * (1 << min(failures, 16)), most)
        failures += 1
        return full * Double.random(in: 0.5...1, using: &generator)
    }
}
