import Telemetry

/// Writes what happens to the node's clock to the log.
struct ClockEvents: Sendable {
    let logger: Logger

    func note(_ event: ClockTrust.Event) {
        switch event {
        case .stepped(let step, let wasTrusted):
            logger.warning("clock_stepped", [Self.seconds("seconds", step), .bool("was_trusted", wasTrusted)])
        case .differsAtStart(let difference) where difference > 0:
            // As a rule the node was down for so long.
            logger.info("clock_unproved", [Self.seconds("ahead_seconds", difference)])
        case .differsAtStart(let difference):
            logger.warning("clock_stepped", [Self.seconds("seconds", difference), .bool("was_trusted", false)])
        case .trusted(let cause): logger.info("clock_trusted", [.string("cause", cause.rawValue)])
        case .fellBehind(let difference):
            logger.warning("clock_behind", [Self.seconds("seconds", difference)])
        case .caughtUp: logger.info("clock_caught_up")
        case .databaseOffset(.good, let offset): logger.info("clock_offset", [Self.seconds("seconds", offset)])
        case .databaseOffset(.warned, let offset):
            logger.warning("clock_offset", [Self.seconds("seconds", offset), .bool("counts", true)])
        case .databaseOffset(.apart, let offset):
            logger.error("clock_offset", [Self.seconds("seconds", offset), .bool("counts", false)])
        }
    }

    /// Whole seconds, rounded away from 0.
    private static func seconds(_ name: String, _ nanoseconds: Int64) -> LogField {
        let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return .integer(name, Int(whole + rest.signum()))
    }
}
