import DatabaseSupport
import Foundation
import Licensing
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import Records
@testable import RouteKit
@testable import StoragePostgreSQL
@testable import StorageSQLite
@testable import Upkeep

/// A node's ledger and its part of a database, with the checks that must hold after any number of kills.
final class CrashedNode: Sendable {
    private let server: DatabaseServer
    private let folder: TemporaryDirectory
    private let place: NodePlace
    private let acknowledged = Mutex<Set<UInt64>>([])

    init(on server: DatabaseServer) throws {
        self.server = server
        folder = try TemporaryDirectory()
        place = NodePlace(
            url: server.url, passwordFile: server.passwordFile,
            schema: "crash_" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "_"),
            ledgerPath: folder.path("ledger.db"))
    }

    deinit {
        // If the server has been deleted, its schema is deleted too.
        try? PostgreSQLConnection.connect(place.settings()).execute(
            "DROP SCHEMA IF EXISTS \(place.schema) CASCADE", until: Self.deadline)
    }

    private static var deadline: MonotonicTime { SystemMonotonicClock().monotonicTime + .seconds(60) }

    /// The number of licenses that were acknowledged to their callers.
    var acknowledgedCount: Int { acknowledged.withLock { $0.count } }

    /// Runs a node that gives licenses from number `first` on, until it is killed after `last` acknowledgements. If
    /// `killed` is given, the database's first process is killed after that number. Then checks the node's own ledger.
    func runChild(
        _ first: UInt64, _ comment: Comment, killDatabaseAfter killed: Int = -1, dieAfter last: Int
    ) async throws {
        let (url, passwordFile): (String, String) = (place.url, place.passwordFile)
        let (schema, ledger): (String, String) = (place.schema, place.ledgerPath)
        let processIDFile: String = server.processIDFile
        let result = await #expect(
            processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent], comment
        ) {
            [
                url = url as String, passwordFile = passwordFile as String, schema = schema as String,
                ledger = ledger as String, processIDFile = processIDFile as String, first = first as UInt64,
                killed = killed as Int, last = last as Int
            ] in
            let place = NodePlace(url: url, passwordFile: passwordFile, schema: schema, ledgerPath: ledger)
            let node = try CrashingNode(place)
            let count = Atomic<Int>(0)
            await NodeCrashLoad.run(first..<first + 90_000, on: node) {
                let before = count.add(1, ordering: .relaxed).oldValue
                if before == killed, let text = try? String(contentsOfFile: processIDFile, encoding: .utf8),
                    let server = text.split(separator: "\n").first.flatMap({ Int32($0) })
                {
                    NodeCrashLoad.kill(server)
                }
                if before == last { NodeCrashLoad.kill(getpid()) }
            }
        }
        let given = NodeCrashLoad.acknowledged(in: result?.standardOutputContent ?? [])
        #expect(given.count >= last, comment)
        let all = acknowledged.withLock { acknowledged in
            acknowledged.formUnion(given)
            return acknowledged
        }
        let recorded = try ledgerNumbers(comment)
        #expect(all.subtracting(recorded) == [], comment)
        #expect(Set(recorded).count == recorded.count, comment)
    }

    /// Ships the ledger, and compares it with everything in PostgreSQL.
    func checkEverything(_ comment: Comment) async throws {
        // The ledger opens as after a regular end, and its rows are shipped. Licenses that were settled but never
        // answered are requested again.
        let node = try CrashingNode(place)
        let settled = try await untilItWorks { [self] in try settledNumbers() }
        let recorded = Set(try ledgerNumbers(comment))
        #expect(recorded.subtracting(settled) == [], comment)
        for number in settled.subtracting(recorded) {
            let outcome = try await untilItWorks { try await node.decisions.commit(NodeCrashLoad.decision(number)) }
            guard case .repeated = outcome else {
                Issue.record("license \(number) was settled, but a repeated request gives \(outcome)")
                continue
            }
        }
        node.stop()
        try await shipEverything()

        let numbers = try ledgerNumbers(comment)
        #expect(Set(numbers) == settled && numbers.count == settled.count, comment)
        try expectSameLedger(comment)
        let uses = try cells(UseCount.self).reduce(0) { $0 + Int($1.contents.uses) }
        #expect(uses == settled.count, comment)
        let lists = try cells(PlaybackList.self)
        let limit = Int(NodeCrashLoad.slotLimit)
        for group in 0..<NodeCrashLoad.groupCount {
            let ofGroup = settled.count { $0 % NodeCrashLoad.groupCount == group }
            let list = lists.first { $0.number == group }?.contents ?? PlaybackList()
            #expect(list.slots.count(where: \.isCounted) == min(ofGroup, limit), comment)
            #expect(list.evicted.count == min(max(0, ofGroup - limit), AccountRules.evictedMaximum), comment)
        }
        print(
            "crashes: \(acknowledgedCount) licenses acknowledged, \(settled.count) settled, all recorded and shipped once"
        )
    }

    // MARK: The node's own ledger

    /// The numbers of the licenses in the ledger, after it has verified.
    private func ledgerNumbers(_ comment: Comment) throws -> [UInt64] {
        var reader = try LedgerReader.open(path: place.ledgerPath)
        var findings: [LedgerFinding] = []
        _ = try reader.verify(NodePlace.chain(), checkpoints: []) { findings.append($0) }
        #expect(findings == [], comment)
        return try reader.rows(1 ... .max, limit: .max).map {
            NodeCrashLoad.number(of: try LedgerEntry(parsing: $0.body).license)
        }
    }

    private func shipEverything() async throws {
        let store = try await untilItWorks { [self] in
            try PostgreSQLStore.open(place.settings(), keyRing: SampleKeys.keyRing())
        }
        defer { store.close() }
        let node = try NodePlace.chain().node
        let outbox = LedgerFileOutbox(path: place.ledgerPath, node: node, receiver: store)
        let shipper = LedgerShipper(node: node, outbox: outbox, receiver: store)
        _ = try await untilItWorks { try await shipper.shipAll() }
    }

    private func expectSameLedger(_ comment: Comment) throws {
        var reader = try LedgerReader.open(path: place.ledgerPath)
        let own = try reader.rows(1 ... .max, limit: .max)
        let shipped = try query("SELECT sequence, body FROM ledger_entry WHERE node = 'node-1' ORDER BY sequence")
        #expect(shipped.rowCount == own.count, comment)
        for (index, row) in own.enumerated().prefix(shipped.rowCount) {
            let isSame = try shipped[index].integer(at: 0) == row.sequence && shipped[index].bytes(at: 1) == row.body
            if !isSame { Issue.record("PostgreSQL has another row under \(row.sequence)") }
        }
    }

    // MARK: PostgreSQL

    /// The numbers of the requests that were settled.
    private func settledNumbers() throws -> Set<UInt64> {
        Set(try cells(KnownRequest.self).map(\.number))
    }

    /// The cells of a kind, with the numbers of their samples.
    private func cells<Contents: CellContents>(
        _ type: Contents.Type
    ) throws -> [(number: UInt64, contents: Contents)] {
        let found = try query("SELECT key, value FROM cell WHERE kind = \(Contents.kind.rawValue)")
        return try (0..<found.rowCount).map { row in
            // The last eight bytes of a sample's pseudonym are the number.
            let number = try found[row].bytes(at: 0).suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
            return (number, try Contents(parsing: found[row].bytes(at: 1)))
        }
    }

    private func query(_ sql: String) throws -> PostgreSQLResult {
        let connection = try PostgreSQLConnection.connect(place.settings())
        try connection.execute("SET search_path TO \(place.schema)", until: Self.deadline)
        return try connection.query(sql, until: Self.deadline)
    }

    /// Repeats the body until a server that was killed is back. Throws its last error if the server stays away.
    private func untilItWorks<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        for _ in 0..<3000 {
            if let result = try? await body() { return result }
            // Only a pace: no result depends on it.
            try? await Task.sleep(for: .milliseconds(20))
        }
        return try await body()
    }
}
