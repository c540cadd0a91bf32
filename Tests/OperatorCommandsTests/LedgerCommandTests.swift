import ByteCoding
import Foundation
import KeyCrypto
import Records
import ServiceConfiguration
import TestSupport
import Testing

@testable import CommandSupport
@testable import OperatorCommands
@testable import StorageSQLite

/// A checkpoint of another node of the same installation.
private enum LedgerSamplesOfOthers {
    static func checkpoint(at time: UnixTime) throws -> LedgerCheckpoint {
        let key = try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 3, count: 32)))
        let chain = LedgerChain(key: key, node: try NodeID("another-node"))
        return try chain.checkpoint(LedgerLink(sequence: 7, mac: [UInt8](repeating: 9, count: 32)), at: time)
    }
}

@Suite(.tags(.startsProcesses)) struct LedgerCommandTests {
    private let fixture: DevelopmentFixture
    private let chain: LedgerChain
    private var database: String { fixture.folder.path("latchkey.db") }
    private static let start: Int64 = 1_700_000_000

    init() throws {
        fixture = try DevelopmentFixture()
        let loaded = try ConfiguredLedger(of: fixture.configuration)
        chain = loaded.chain
        var appender = try LedgerAppender.open(path: database, chain: chain)
        for number in 0..<20 as Range<Int64> {
            let subject = try loaded.pseudonymizer.pseudonym(
                of: .subject, Array("latchkey-development".utf8), Array("viewer-\(number % 4)".utf8))
            let at = Self.start + number
            var entry = LedgerEntry(
                kind: .licenseIssued, at: at,
                license: LicenseID(milliseconds: UInt64(at) * 1000, random: Bytes16(high: 0, low: UInt64(number))),
                content: "movie-\(number % 2)", detail: "streaming")
            (entry.subject, entry.tokenID, entry.cookie) = (subject, "t-\(number)", "evil\u{1B}[31m\u{202E}")
            (entry.lease, entry.until) = (300, at + 300)
            try appender.append([entry], at: at)
        }
    }

    private func ledger(_ words: String...) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(
            arguments: ["ledger", words[0], "--config", fixture.configuration] + words.dropFirst())
    }

    private func found(_ words: String...) async throws -> [Int64?] {
        let run = try await LatchkeyProcess(
            arguments: ["ledger", "query", "--config", fixture.configuration, "--json"] + words)
        try #require(run.status == 0, "\(run.messages)")
        return try #require(try run.object()["entries"]?.array).map { $0.object?["sequence"]?.number?.signed }
    }

    @Test(arguments: ["query", "verify"])
    func refusesANodeWithoutTheCopies(name: String) async throws {
        let run = try await ledger(name, "--node", "node-a")
        #expect(run.status == 2 && run.output.isEmpty)
        #expect(run.messages.contains("--node needs --shared"), "\(run.messages)")
        let copies = try await ledger(name, "--node", "node-a", "--shared")
        #expect(copies.status == 1 && copies.messages.contains("PostgreSQL"), "\(copies.messages)")
    }

    private func execute(_ sql: StaticString) throws {
        var connection = try SQLiteConnection.open(path: database, busyTimeoutMilliseconds: 5000)
        try connection.execute(sql)
    }

    @Test func findsByWhatIsGiven() async throws {
        #expect(try await found("--subject", "viewer-2") == [19, 15, 11, 7, 3])
        #expect(try await found("--subject", "viewer-2", "--content", "movie-1") == [])
        #expect(try await found("--token", "t-7") == [8])
        #expect(try await found("--license", "018bcfe56800000000000000000000ff").isEmpty)
        #expect(try await found("--from", "2023-11-14T22:13:25Z", "--to", "2023-11-14T23:13:27+01:00") == [7, 6])
        let license = LicenseID(
            milliseconds: UInt64(Self.start + 4) * 1000, random: Bytes16(high: 0, low: 4)
        ).description
        #expect(try await found("--license", license) == [5])
    }

    @Test func showsAPersonOneLineForAnEntry() async throws {
        let run = try await ledger("query", "--content", "movie-1", "--limit", "3")
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("20  2023-11-14T22:13:39Z  license_issued  streaming  license 018bcfe5"))
        #expect(!run.output.unicodeScalars.contains { ["\u{1B}", "\u{202E}"].contains($0) })
        #expect(run.messages.contains("--limit"))
    }

    @Test func exportsALineForEachEntry() async throws {
        let output = try await ledger("export").output
        #expect(!output.unicodeScalars.contains { ["\u{1B}", "\u{202E}"].contains($0) })
        let lines = output.split(separator: "\n")
        #expect(lines.count == 20)
        for (number, line) in lines.enumerated() {
            let object = try #require(try JSONReader.parse(Array(line.utf8)).object)
            #expect(object["sequence"]?.number?.signed == Int64(number) + 1)
            #expect(object["token"]?.string == "t-\(number)")
            #expect(object["until"]?.string != nil)
            #expect(object["cookie"]?.string == "evil\u{1B}[31m\u{202E}")
        }
    }

    @Test func verifiesAndNamesWhatWasAltered() async throws {
        let good = try await ledger("verify", "--json")
        #expect(good.status == 0, "\(good.messages)")
        #expect(try good.object()["isSound"]?.bool == true)
        #expect(try good.object()["entries"]?.number?.signed == 20)

        try execute("UPDATE ledger_entry SET body = zeroblob(50) WHERE sequence = 9")
        try execute("DELETE FROM ledger_entry WHERE sequence = 12")
        let bad = try await ledger("verify")
        #expect(bad.status == 1)
        #expect(bad.output == "9: altered\n12: missing\n")
        let json = try await ledger("verify", "--json")
        let findings = try #require(try json.object()["findings"]?.array).compactMap(\.object)
        #expect(findings.map { $0["finding"]?.string } == ["row_altered", "rows_missing"])
        #expect(findings.map { $0["first"]?.number?.signed } == [9, 12])
    }

    @Test func findsACutTailByTheLog() async throws {
        var reader = try LedgerReader.open(path: database)
        let checkpoint = try chain.checkpoint(reader.link(), at: try #require(UnixTime(seconds: Self.start + 60)))
        let log = #"{"level":"info","checkpoint":"\#(checkpoint)"}"# + "\nsomething else\n"
        try fixture.folder.write(log.utf8, to: "log.jsonl")
        let file = fixture.folder.path("log.jsonl")
        #expect(try await ledger("verify", "--checkpoints", file).status == 0)
        try execute("DELETE FROM ledger_entry WHERE sequence > 15; DELETE FROM ledger_batch WHERE first_sequence > 15")
        #expect(try await ledger("verify").status == 0)
        let run = try await ledger("verify", "--checkpoints", file)
        #expect(run.status == 1)
        #expect(run.output.contains("16 to 20: missing at the end"))
    }

    @Test func anotherKeyVerifiesNothing() async throws {
        try fixture.folder.write((String(repeating: "ab", count: 32) + "\n").utf8, to: "secrets/ledger-key")
        let run = try await ledger("verify")
        #expect(run.status == 1)
        #expect(run.output.split(separator: "\n").count == 1)
        let json = try await ledger("verify", "--json")
        let findings = try #require(try json.object()["findings"]?.array).compactMap(\.object)
        #expect(findings.map { $0["finding"]?.string } == ["sealed_by_others"])
    }

    /// A log of several nodes has checkpoints of other nodes, which are ignored for this one.
    @Test func passesOverTheCheckpointsOfOtherNodes() async throws {
        var reader = try LedgerReader.open(path: database)
        let time = try #require(UnixTime(seconds: Self.start + 60))
        let own = try chain.checkpoint(reader.link(), at: time)
        let other = try LedgerSamplesOfOthers.checkpoint(at: time)
        try fixture.folder.write("\(other)\n\(own)\n".utf8, to: "log.txt")
        let run = try await ledger("verify", "--json", "--checkpoints", fixture.folder.path("log.txt"))
        #expect(run.status == 0, "\(run.output)")
        #expect(try run.object()["checkpoints"]?.number?.signed == 1)
        #expect(try run.object()["otherNodesCheckpoints"]?.number?.signed == 1)
    }

    /// A ledger that was replaced has another node's id, so no checkpoint of the old one fits.
    @Test func aLedgerThatNoCheckpointNamesDoesNotVerify() async throws {
        let time = try #require(UnixTime(seconds: Self.start + 60))
        try fixture.folder.write("\(try LedgerSamplesOfOthers.checkpoint(at: time))\n".utf8, to: "log.txt")
        let run = try await ledger("verify", "--json", "--checkpoints", fixture.folder.path("log.txt"))
        #expect(run.status == 1 && run.messages.contains("no checkpoint of the file belongs to this ledger"))
        #expect(try run.object()["isSound"]?.bool == false)
    }

    @Test func reportsWhatThePurgesSay() async throws {
        var purger = try LedgerPurger.open(path: database, chain: chain)
        let now = try #require(UnixTime(seconds: Self.start + 86_400))
        #expect(try purger.purge(before: Self.start + 5, now: now).count == 5)
        #expect(try purger.state(retention: 3600, now: now) != nil)
        let json = try await ledger("verify", "--json")
        let purges = try #require(try json.object()["purges"]?.array).compactMap(\.object)
        #expect(purges.map { $0["entries"]?.number?.signed } == [5])
        #expect(purges.map { $0["through"]?.number?.signed } == [5])
        #expect(purges.map { $0["retention"]?.number?.signed } == [3600])
        #expect(try json.object()["purgedThrough"]?.number?.signed == 5)
        let text = try await ledger("verify").output
        #expect(text.contains("5 entries through 5"))
    }

    @Test(arguments: [
        ["query", "--license", "xyz"], ["query", "--from", "yesterday"],
        ["query", "--from", "2026-02-01T00:00:00Z", "--to", "2026-01-01T00:00:00Z"], ["query", "--limit", "0"],
        ["query", "--subject", "a", "--issuer", "nobody"], ["verify", "--content", "a"],
    ])
    func refusesMisuse(words: [String]) async throws {
        let run = try await LatchkeyProcess(
            arguments: ["ledger", words[0], "--config", fixture.configuration] + words.dropFirst())
        #expect(run.status == 2)
        #expect(run.messages.contains("--"))
    }

    @Test func saysWhenThereIsNoLedger() async throws {
        let other = try DevelopmentFixture()
        let run = try await LatchkeyProcess("ledger", "verify", "--config", other.configuration)
        #expect(run.status == 1)
        #expect(run.messages.contains("latchkey.db"))
    }
}
