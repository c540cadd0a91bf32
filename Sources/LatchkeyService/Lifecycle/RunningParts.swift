/// The parts of a daemon that run, each with how it stops. If the start fails and when the daemon ends, they stop in
/// the same way.
struct RunningParts: Sendable {
    /// The order of stopping, which does not depend on the order of starting: first what brings requests, then what
    /// their answers need, and last the admin listeners, so that operators can watch the end.
    enum Phase: CaseIterable {
        case connections
        case loops
        case services
        case records
        case storage
        case adminConnections
        case adminLoop
    }

    private var stops: [(phase: Phase, stop: @Sendable () -> Void)] = []

    /// Notes a part that runs from now on.
    mutating func add(_ phase: Phase, _ stop: @escaping @Sendable () -> Void) {
        stops.append((phase, stop))
    }

    /// Stops all parts: phase by phase, and in each the youngest part first. Blocks until all are down.
    func stop() {
        for phase in Phase.allCases {
            for part in stops.reversed() where part.phase == phase { part.stop() }
        }
    }
}
