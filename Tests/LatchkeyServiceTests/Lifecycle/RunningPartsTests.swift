import Synchronization
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

@Suite struct RunningPartsTests {
    /// Parts stop phase by phase: parts that accept requests first, and parts that answers need last. Within a phase,
    /// the part that started last stops first.
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
