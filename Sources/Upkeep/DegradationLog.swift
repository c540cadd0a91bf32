import EventLoops
import RouteKit
import Synchronization
import Telemetry

/// Logs when a part of the daemon becomes degraded, and when it recovers. It checks once a second, on a loop.
package final class DegradationLog: Sendable {
    private static let pause: Duration = .seconds(1)

    private let source: DegradationSource
    private let logger: Logger
    private let changed: @Sendable ([DegradedPart]) -> Void
    private let known = Mutex<[DegradedPart: String]>([:])
    private let isStopped = Atomic<Bool>(false)

    /// `changed` hears which parts are degraded, whenever that changes.
    package init(
        _ source: DegradationSource, logger: Logger, changed: @escaping @Sendable ([DegradedPart]) -> Void = { _ in }
    ) {
        self.source = source
        self.logger = logger
        self.changed = changed
    }

    package func start(on loop: LoopContext) {
        _ = loop.execute { [self] in
            _ = loop.schedule(after: Self.pause) { [self] in
                guard !isStopped.load(ordering: .relaxed) else { return }
                look()
                start(on: loop)
            }
        }
    }

    package func stop() { isStopped.store(true, ordering: .relaxed) }

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
