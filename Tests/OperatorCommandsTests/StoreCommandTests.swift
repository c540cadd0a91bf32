import ByteCoding
import Foundation
import Records
import ServiceConfiguration
import TestSupport
import Testing

@testable import CommandSupport
@testable import OperatorCommands
@testable import StorageSQLite

@Suite(.tags(.startsProcesses)) struct StoreCommandTests {
    private let fixture: DevelopmentFixture
    private static let kids = [
        "2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11", "3f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11",
        "4f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11",
    ]

    init() throws {
        fixture = try DevelopmentFixture()
    }

    private var database: String { fixture.folder.path("latchkey.db") }

    private func check(_ words: String...) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(arguments: ["store", "check", "--config", fixture.configuration] + words)
    }

    private func importKeys() async throws {
        for (number, kid) in Self.kids.enumerated() {
            let run = try await LatchkeyProcess(
                "keys", "import", "--config", fixture.configuration, "--content", "movie-\(number)", "--kid", kid,
                "--key",
                "00112233445566778899aabbccddee0\(number)", "--iv", "0f0e0d0c0b0a0908070605040302010\(number)")
            try #require(run.status == 0, "\(run.messages)")
        }
    }

    /// Makes the ledger as the daemon does at its start, and adds two entries.
    private func makeLedger() throws {
        let chain = try ConfiguredLedger(of: fixture.configuration).chain
        try SQLiteDecisionStore.open(path: database, chain: chain).stop()
        var appender = try LedgerAppender.open(path: database, chain: chain)
        for number in 1...2 as ClosedRange<UInt64> {
            let license = LicenseID(milliseconds: 1_800_000_000_000, random: Bytes16(high: 1, low: number))
            try appender.append(
                [LedgerEntry(kind: .licenseIssued, at: 1_800_000_000, license: license, detail: "streaming")],
                at: 1_800_000_000)
        }
    }

    private func execute(_ sql: StaticString) throws {
        var connection = try SQLiteConnection.open(path: database, busyTimeoutMilliseconds: 5000)
        try connection.execute(sql)
    }

    private func findings(of run: LatchkeyProcess) throws -> [String?] {
        try #require(try run.object()["findings"]?.array).map { $0.object?["finding"]?.string }
    }

    @Test func findsNothingWrongWithWhatIsSound() async throws {
        try await importKeys()
        let withoutLedger = try await check("--json")
        #expect(withoutLedger.status == 0, "\(withoutLedger.messages)")
        #expect(try withoutLedger.object()["keys"]?.number?.signed == 3)
        try makeLedger()
        let run = try await check("--json")
        #expect(run.status == 0, "\(run.messages)")
        #expect(run.output.contains("\"isSound\":true"))
        #expect(try run.object()["entries"]?.number?.signed == 5)
        #expect(
            try await check().output == "opened 3 keys, and verified 5 entries up to sequence 5: nothing was altered\n")
    }

    @Test func findsKeysThatWereExchangedAndEntriesThatWereAltered() async throws {
        try await importKeys()
        try makeLedger()
        try execute(
            """
            UPDATE content_key SET sealed = (SELECT sealed FROM content_key AS other WHERE other.content_id = 'movie-1')
                WHERE content_id = 'movie-0';
            UPDATE ledger_entry SET body = (SELECT body FROM ledger_entry AS other WHERE other.sequence = 1)
                WHERE sequence = 2;
            """)
        let run = try await check("--json")
        #expect(run.status == 1)
        #expect(run.output.contains("\"isSound\":false"))
        let found = try findings(of: run)
        #expect(found.first == "sealBroken" && found.count > 1)
        let text = try await check()
        #expect(text.status == 1 && text.output.contains("key \(Self.kids[0]):") && text.output.contains("ledger: 2"))
    }

    /// Each of these changes would weaken a key's floor, or make the server give the key out again.
    @Test(
        arguments: [
            "UPDATE content_key SET track_label = 'AUDIO', content_type = 'audio'",
            "UPDATE content_key SET content_type = 'uhd'",
            "UPDATE content_key SET least_hdcp = 'none'", "UPDATE content_key SET least_security_level = 'audio'",
            "UPDATE content_key SET state = 'withdrawn'", "UPDATE content_key SET scheme = 'sample-aes'",
            "UPDATE content_key SET created_at = created_at + 1",
        ] as [StaticString])
    func findsWhatWasAlteredBesideTheKey(sql: StaticString) async throws {
        try await importKeys()
        try execute(sql)
        let run = try await check("--json")
        #expect(run.status == 1)
        #expect(try findings(of: run) == ["sealBroken", "sealBroken", "sealBroken"])
    }

    @Test func namesADamagedFile() async throws {
        try await importKeys()
        try makeLedger()
        try execute("PRAGMA wal_checkpoint(TRUNCATE)")
        var bytes = try fixture.folder.read("latchkey.db")
        // The header of the second page, which is a tree's root, has the kind of the page.
        bytes[4096] = 0
        try fixture.folder.write(bytes, to: "latchkey.db")
        let run = try await check()
        #expect(run.status == 1)
        #expect(run.output.contains("database: ") && run.messages.contains("damaged"), "\(run.output) \(run.messages)")
    }
}
