import ContentKeys
import DatabaseSupport
import EventLoops
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import StoragePostgreSQL
@testable import StorageSQLite
@testable import Upkeep

/// Nodes and their PostgreSQL server are killed while licenses are given. `Scripts/test-crashes` kills more often than
/// a normal run.
@Suite(.tags(.startsProcesses, .slow), .needsPostgreSQL, .serialized) struct NodeCrashTests {
    /// The number of processes that are killed in each test.
    private static let rounds =
        ProcessInfo.processInfo.environment["LATCHKEY_CRASH_ROUNDS"].flatMap { Int($0) } ?? 6
    /// The number of successive kills with one database.
    private static let roundsPerDatabase = 15

    /// The node is killed repeatedly, each time after a random acknowledgement.
    @Test func losesNothingWhenANodeIsKilled() async throws {
        var random = SeededGenerator.announced("nothing is lost when a node is killed")
        // The test has its own server, because tests of other suites hold locks in the shared server.
        let own = try OwnServer()
        defer { own.stop() }
        let server = own.server
        var database = try CrashedNode(on: server)
        for round in 0..<Self.rounds {
            if round > 0, round % Self.roundsPerDatabase == 0 {
                try await database.checkEverything("before round \(round)")
                database = try CrashedNode(on: server)
            }
            let first = UInt64(round) * 100_000
            let last = Int.random(in: 0..<300, using: &random)
            try await database.runChild(first, "round \(round)", dieAfter: last)
        }
        try await database.checkEverything("at the end")
    }

    /// PostgreSQL is killed after a random acknowledgement and comes back while licenses are requested. Later the node
    /// is killed too.
    @Test func losesNothingWhenTheDatabaseIsKilled() async throws {
        var random = SeededGenerator.announced("nothing is lost when the database is killed")
        let own = try OwnServer()
        defer { own.stop() }
        var database = try CrashedNode(on: own.server)
        for round in 0..<Self.rounds {
            if round > 0, round % Self.roundsPerDatabase == 0 {
                try await database.checkEverything("before round \(round)")
                database = try CrashedNode(on: own.server)
            }
            let first = UInt64(round) * 100_000
            let killed = Int.random(in: 0..<200, using: &random)
            let last = killed + Int.random(in: 1..<200, using: &random)
            try await database.runChild(first, "round \(round)", killDatabaseAfter: killed, dieAfter: last)
        }
        try await database.checkEverything("at the end")
    }
}
