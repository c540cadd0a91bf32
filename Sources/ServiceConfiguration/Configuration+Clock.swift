package import Telemetry

extension Configuration {
    /// When the wall clock of the system is trusted.
    package struct Clock: Equatable, Sendable {
        /// The largest step after which the wall clock is still trusted: whole seconds.
        package let stepTolerance: Duration
        /// The time without a step after which the wall clock is trusted again: whole seconds.
        package let settleTime: Duration
    }
}

extension Configuration.Clock {
    init(reading section: ConfigurationSection) {
        stepTolerance = section.value("stepTolerance", .seconds(1...3600, example: 30), default: .seconds(30))
        settleTime = section.value("settleTime", .seconds(60...7 * 86_400, example: 3600), default: .seconds(3600))
    }
}

extension ClockTrust.Settings {
    package init(_ configuration: Configuration) {
        self.init(
            stepTolerance: configuration.clock.stepTolerance, settleTime: configuration.clock.settleTime,
            leeway: configuration.entitlement.leeway)
    }
}
