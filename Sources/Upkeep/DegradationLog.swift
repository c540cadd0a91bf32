package import RouteKit
import Synchronization
package import Telemetry

/// Logs when a part of the daemon becomes degraded, and when it recovers. It looks once a second.
package final class DegradationLog: Sendable {
    package static let pause: Duration = .seconds(1)

    private let source: DegradationSource
    private let logger: Logger
    private let changed: @Sendable ([DegradedPart]) -> Void
    private let known = Mutex<[DegradedPart: String]>([:])

    /// `changed` hears which parts are degraded, whenever that changes.
    package init(
        _ source: DegradationSource, logger: Logger, changed: @escaping @Sendable ([DegradedPart]) -> Void = { _ in }
    ) {
        self.source = source
        self.logger = logger
        self.changed = changed
    }

    /// Logs the changes since the last call.
    package func look() {
        var now: [DegradedPart: String] = [:]
        for degradation in source.current where now[degradation.part] == nil {
            now[degradation.part] = degradation.cause
        }
        let before = known.withLock { known in
            defer { known = now }
            return known
        }
        if Set(now.keys) != Set(before.keys) { changed(DegradedPart.allCases.filter { now[$0] != nil }) }
        for part in DegradedPart.allCases where now[part] != before[part] {
            if let cause = now[part] {
                logger.warning("degraded", [.string("part", part.rawValue), .string("cause", cause)])
            } else {
                logger.info("recovered", [.string("part", part.rawValue)])
            }
        }
    }
}
