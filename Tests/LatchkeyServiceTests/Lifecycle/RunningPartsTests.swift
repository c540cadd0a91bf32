import Synchronization
import Testing

@testable import LatchkeyService

@Suite struct RunningPartsTests {
    /// What brings requests ends first and what their answers need last, however the parts were started.
    @Test func stopsPhaseByPhaseAndTheYoungestFirst() {
        let stopped = Mutex<[String]>([])
        var parts = RunningParts()
        func add(_ name: String, _ phase: RunningParts.Phase) {
            parts.add(phase) { stopped.withLock { $0.append(name) } }
        }
        add("database", .storage)
        add("admin loop", .adminLoop)
        add("loops", .loops)
        add("modules", .services)
        add("ledger", .records)
        add("revocations", .services)
        add("admin server", .adminConnections)
        add("server", .connections)
        parts.stop()
        #expect(
            stopped.withLock { $0 } == [
                "server", "loops", "revocations", "modules", "ledger", "database", "admin server", "admin loop",
            ])
    }
}
