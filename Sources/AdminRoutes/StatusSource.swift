package import Administration
import CommandLineKit
package import HTTPServing
package import RouteKit
package import Telemetry

/// Collects what the parts of the daemon know about its state.
package struct StatusSource: Sendable {
    /// The parts that know it. A reload replaces none of them.
    package struct Parts: Sendable {
        package let node: String
        package let memory: ServerResources
        package let nodes: @Sendable () -> [StatusReport.Node]
        package let listeners: @Sendable () -> [StatusReport.Listener]
        package let certificates: @Sendable () -> [ServedCertificate]
        package let trust: @Sendable () -> ClockTrust
        package let preflights: @Sendable () -> [StatusReport.Preflight]

        package init(
            node: String, memory: ServerResources, nodes: @escaping @Sendable () -> [StatusReport.Node],
            listeners: @escaping @Sendable () -> [StatusReport.Listener],
            certificates: @escaping @Sendable () -> [ServedCertificate], trust: @escaping @Sendable () -> ClockTrust,
            preflights: @escaping @Sendable () -> [StatusReport.Preflight] = { [] }
        ) {
            self.node = node
            self.memory = memory
            self.nodes = nodes
            self.listeners = listeners
            self.certificates = certificates
            self.trust = trust
            self.preflights = preflights
        }
    }

    private let parts: Parts
    private let health: Health
    private let wallClock: any WallClock
    private let clock: any MonotonicClock
    private let startedAt: MonotonicTime

    /// The daemon counts as started now.
    package init(
        _ parts: Parts, health: Health, wallClock: any WallClock, clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        self.parts = parts
        self.health = health
        self.wallClock = wallClock
        self.clock = clock
        startedAt = clock.monotonicTime
    }

    /// The state now. It costs no call that could wait.
    package func report() -> StatusReport {
        let now = (wall: wallClock.wallTime, monotonic: clock.monotonicTime)
        let trust = parts.trust()
        let budget = parts.memory.memory
        let certificates = parts.certificates().sorted { ($0.end, $0.name) < ($1.end, $1.name) }
        return StatusReport(
            node: parts.node, version: LatchkeyVersion.current,
            startedAt: now.wall.second(before: now.monotonic - startedAt), now: now.wall.seconds,
            condition: health.condition(now: now),
            ends: certificates.map { .init(kind: $0.kind.rawValue, name: $0.name, endsAt: $0.end) },
            nodes: parts.nodes(),
            clock: .init(
                state: trust.standing.rawValue, databaseOffset: trust.databaseOffset.map { Double($0) / 1e9 },
                step: Double(trust.wallOffset) / 1e9),
            memory: .init(charged: budget.chargedSize, budget: budget.size, resident: ProcessMetrics.residentSize),
            listeners: parts.listeners(), preflights: parts.preflights())
    }
}
