/// How long a dead worker's place stays empty.
///
/// The first deaths in a row cost milliseconds, because most modules that fail do so on a single call. A worker that
/// dies again and again is replaced every second at most, so that calls which kill their workers cannot take the module
/// away from other calls. A module that cannot even be opened is tried twice a minute in the end. A worker that has
/// lived for a while starts the count again.
struct RestartBackoff: Equatable {
    /// After so long a life the next death is the first.
    static let stableLife: Duration = .seconds(10)

    private static let afterDeath = (first: Duration.milliseconds(10), most: Duration.seconds(1))
    private static let afterStartFailure = (first: Duration.milliseconds(250), most: Duration.seconds(30))

    private var failures = 0

    /// The delay after a worker that had been ready for so long; nil for one that never was.
    ///
    /// Half of it is by chance, so that workers that died together do not start together.
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
