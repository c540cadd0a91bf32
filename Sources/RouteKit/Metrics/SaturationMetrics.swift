package import EventLoops
package import HTTPServing
package import Telemetry

/// The metrics of saturation, by which an operator sees a shortage before clients do.
package struct SaturationMetrics: Sendable {
    private let resources: ServerResources
    private let adminResources: ServerResources
    private let loops: [LoopContext]
    private let logger: Logger

    package init(
        resources: ServerResources, adminResources: ServerResources, loops: [LoopContext], logger: Logger
    ) {
        self.resources = resources
        self.adminResources = adminResources
        self.loops = loops
        self.logger = logger
    }

    /// Registers all of them. Each is sampled when Prometheus reads it, on the thread of the admin listeners.
    package func register(in registry: MetricsRegistry) {
        registerLoops(in: registry)
        registerMemory(in: registry)
        registerConnections(in: registry)
        registerLog(in: registry)
    }

    private func registerLoops(in registry: MetricsRegistry) {
        registry.samples(
            "latchkey_loop_lag_seconds", help: "How long the current turn of a loop has run; new work waits for it.",
            label: "loop",
            loops.map { loop in (String(loop.index), { loop.lag.inSeconds }) })
        registry.samples(
            "latchkey_loop_longest_turn_seconds",
            help:
                "The longest turn of a loop in the last 30 to 60 seconds; everything else on it waited for that long.",
            label: "loop", loops.map { loop in (String(loop.index), { loop.longestTurn.inSeconds }) })
        registry.samples(
            "latchkey_loop_computation_seconds",
            help: "How long the computation on the thread beside a loop has run: RSA, or checks of signatures.",
            label: "loop", loops.map { loop in (String(loop.index), { loop.computationAge.inSeconds }) })
    }

    private func registerMemory(in registry: MetricsRegistry) {
        let memory = resources.memory
        registry.samples(
            "latchkey_memory_charged_bytes",
            help: "Memory that the daemon holds for clients, by share of limits.memoryBudget.",
            label: "share",
            MemoryBudget.Share.allCases.map { share in (share.rawValue, { Double(memory.charged(to: share)) }) })
        registry.samples(
            "latchkey_memory_maximum_bytes", help: "The most that each share may hold.", label: "share",
            MemoryBudget.Share.allCases.map { share in (share.rawValue, { Double(memory.maximum(of: share)) }) })
        registry.samples(
            "latchkey_memory_refused_total", help: "Charges that did not fit their share.", isCounter: true,
            label: "share",
            MemoryBudget.Share.allCases.map { share in (share.rawValue, { Double(memory.refusalCount(of: share)) }) })
    }

    private func registerConnections(in registry: MetricsRegistry) {
        let (resources, adminResources) = (resources, adminResources)
        registry.samples(
            "latchkey_http_connections_by_state", help: "Open connections of public listeners.", label: "state",
            HTTPConnectionState.allCases.map { state in
                (state.rawValue, { Double(resources.connectionCount(in: state)) })
            })
        registry.samples(
            "latchkey_http_connections_maximum",
            help: "The most connections of all listeners of a kind together, as the descriptors of the process allow.",
            label: "listener",
            [
                ("public", { Double(resources.connectionsMaximum) }),
                ("admin", { Double(adminResources.connectionsMaximum) }),
            ])
        registry.sample(
            "latchkey_http_requests_in_flight", help: "Requests that wait for a batch, a commit, a store or a service."
        ) { Double(resources.requestsInFlight) }
    }

    private func registerLog(in registry: MetricsRegistry) {
        let logger = logger
        registry.samples(
            "latchkey_log_lines_dropped_total",
            help:
                "Lines missing from the log: because clients caused an event too often, or because the reader is slow.",
            isCounter: true, label: "reason",
            [("sampled", { Double(logger.sampledLineCount) }), ("reader", { Double(logger.lostLineCount) })])
    }
}

extension Duration {
    fileprivate var inSeconds: Double { Double(clampedNanoseconds) / 1e9 }
}
