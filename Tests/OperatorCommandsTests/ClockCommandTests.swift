import ByteCoding
import Foundation
import POSIXSockets
import Records
import ServiceConfiguration
import TestSupport
import Testing

@testable import CommandSupport
@testable import OperatorCommands
@testable import StorageSQLite

@Suite(.tags(.startsProcesses)) struct ClockCommandTests {
    private let fixture: DevelopmentFixture
    private let chain: LedgerChain
    private var database: String { fixture.folder.path("latchkey.db") }

    init() throws {
        fixture = try DevelopmentFixture()
        chain = try ConfiguredLedger(of: fixture.configuration).chain
    }

    private func clock(_ words: String...) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(
            arguments: ["clock", words[0], "--config", fixture.configuration] + words.dropFirst())
    }

    /// Stores a clock record as a daemon does.
    private func keep(_ record: ClockRecord) async throws {
        let store = try SQLiteDecisionStore.open(path: database, chain: chain)
        try await store.keep(record)
        store.stop()
    }

    private func record() throws -> ClockRecord? {
        let store = try SQLiteDecisionStore.open(path: database, chain: chain)
        defer { store.stop() }
        return try store.clockRecord()
    }

    /// Ten days, which is much longer than the tests take.
    private static let behind: Int64 = 864_000
    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    @Test func showsWhatTheNodeHasKept() async throws {
        try await keep(
            ClockRecord(settled: Self.now + Self.behind, reference: Self.now + Self.behind, standing: "behind"))
        let shown = try await clock("show")
        #expect(shown.status == 0 && shown.output.contains("behind by 86") && shown.output.contains("standing  behind"))
        let object = try await clock("show", "--json").object()
        let ahead = try #require(object["aheadSeconds"]?.number?.signed)
        #expect((-Self.behind...(-860_000)).contains(ahead))
        #expect(object["standing"]?.string == "behind" && object["accepted"]?.number?.signed == 0)
    }

    @Test func acceptsWithARowInTheLedger() async throws {
        let wrong = Self.now + Self.behind
        try await keep(ClockRecord(settled: wrong, reference: wrong, standing: "behind"))
        let accepted = try await clock("accept")
        #expect(accepted.status == 0 && accepted.output.hasPrefix("accepted: 2"))
        let record = try #require(try record())
        #expect(record.settled == wrong, "settled time never goes back")
        #expect(record.reference < wrong - 860_000 && record.acceptance.number == 1 && record.acceptance.offset > 0)
        let rows = try await LatchkeyProcess(arguments: ["ledger", "export", "--config", fixture.configuration])
        #expect(rows.output.contains(#""clock_accepted""#) && rows.output.contains("s against the known time"))
        #expect(rows.output.contains("\"actor\":\"\(OperatingSystemUser.actor)\""), "\(rows.output)")
        #expect(
            try await LatchkeyProcess(arguments: ["ledger", "verify", "--config", fixture.configuration]).status == 0)
    }

    @Test func makesNoDatabase() async throws {
        for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: database + ending) }
        #expect(try await clock("accept").status != 0)
        #expect(try await clock("show").status != 0)
        #expect(!FileManager.default.fileExists(atPath: database))
    }
}
