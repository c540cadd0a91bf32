package import Telemetry

extension Configuration {
    /// When the system's wall clock is trusted.
    package struct Clock: Equatable, Sendable {
        /// A larger step of the wall clock ends the trust: whole seconds.
        package let stepTolerance: Duration
        /// After so long without a step the wall clock is trusted again: whole seconds.
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
