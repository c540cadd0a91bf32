import ByteCoding
import KeyCrypto
import Records
import Testing

@testable import StorageSQLite

/// A database file with a ledger, which is written in the same way as by the daemon's writer.
struct LedgerFixture {
    static let start: Int64 = 1_700_000_000

    let folder: TemporaryFolder
    let chain: LedgerChain
    var path: String { folder.database }

    init() throws {
        folder = try TemporaryFolder()
        let secret = SecretBytes(copying: [UInt8](repeating: 0x5A, count: 32))
        chain = LedgerChain(key: try HMACSHA256Key(secret), node: try NodeID("node-1"))
        try DatabaseFile.prepare(path)
        var connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: 5000)
        try connection.migrate(path: path)
    }

    /// Returns the entry with this number: one for each second, with ten contents and three subjects.
    static func entry(_ number: Int64) -> LedgerEntry {
        let at = start + number
        var entry = LedgerEntry(
            kind: .licenseIssued, at: at,
            license: LicenseID(milliseconds: UInt64(at) * 1000, random: Bytes16(high: 0, low: UInt64(number))),
            content: "movie-\(number % 10)", detail: "streaming")
        entry.subject = subject(UInt64(number % 3))
        entry.tokenID = "token-\(number)"
        entry.cookie = number.isMultiple(of: 50) ? "cookie" : nil
        return entry
    }

    static func subject(_ number: UInt64) -> Pseudonym { Pseudonym(short: Bytes16(high: 7, low: number)) }

    /// Appends entries with these numbers in batches of `batchSize`.
    func append(_ numbers: Range<Int64>, batchSize: Int = 3) throws {
        var appender = try LedgerAppender.open(path: path, chain: chain)
        for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: batchSize) {
            let batch = first..<min(first + Int64(batchSize), numbers.upperBound)
            try appender.append(batch.map { Self.entry($0) }, at: Self.start + first)
        }
    }

    func execute(_ sql: StaticString) throws {
        var connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: 5000)
        try connection.execute(sql)
    }

    func findings(checkpoints: [LedgerCheckpoint] = []) throws -> [LedgerFinding] {
        var reader = try LedgerReader.open(path: path)
        var findings: [LedgerFinding] = []
        _ = try reader.verify(chain, checkpoints: checkpoints) { findings.append($0) }
        return findings
    }

    func found(_ query: LedgerQuery, isIndexed: Bool = false) throws -> [Int64] {
        var reader = try LedgerReader.open(path: path)
        var found: [Int64] = []
        let index = isIndexed ? try LedgerIndex.open(for: path) : nil
        try reader.find(query, index: index) {
            found.append($0.sequence)
            return true
        }
        return found
    }

    func time(_ offset: Int64) throws -> UnixTime {
        try #require(UnixTime(seconds: Self.start + offset))
    }
}
