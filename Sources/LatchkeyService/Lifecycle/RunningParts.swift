/// The running parts of a daemon, each with the closure that stops it.
///
/// They stop in the same way after a failed start and at the end of the daemon.
struct RunningParts: Sendable {
    /// The order in which parts stop, which does not depend on the order of starting.
    ///
    /// The parts that bring requests stop first. The parts that answers need stop last.
    enum Phase: CaseIterable {
        case connections
        case loops
        case services
        case records
        case storage
    }

    private var stops: [(phase: Phase, stop: @Sendable () -> Void)] = []

    /// Adds a part that runs from now on.
    mutating func add(_ phase: Phase, _ stop: @escaping @Sendable () -> Void) {
        stops.append((phase, stop))
    }

    /// Stops all parts phase by phase; in each phase, the part that was added last stops first.
    ///
    /// Blocks until all parts have stopped.
    func stop() {
        for phase in Phase.allCases {
            for part in stops.reversed() where part.phase == phase { part.stop() }
        }
    }
}
