import ByteCoding
import KeyCrypto
import TestSupport
import Testing

@testable import Records

@Suite struct LedgerVerifierTests {
    /// A ledger with batches of 3, 1, 4, 2 and 5 rows.
    let ledger: SampleLedger

    init() throws {
        ledger = try SampleLedger(batchSizes: [3, 1, 4, 2, 5])
    }

    @Test func findsNothingInAWholeLedger() throws {
        let checkpoints = try ledger.batches.map { try ledger.checkpoint($0.link) }
        #expect(try ledger.findings(checkpoints: checkpoints) == [])
    }

    @Test func sealIsAsDocumented() throws {
        let batch = ledger.batches[1]
        var message = Array("LKBATCH1".utf8) + [6] + Array("node-1".utf8)
        for number in [4, 4, UInt64(batch.at)] { message += Bytes16(high: 0, low: number).bytes.suffix(8) }
        message += ledger.batches[0].mac + [0, 0, 0, UInt8(ledger.rows[3].body.count)] + ledger.rows[3].body
        let key = try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 0x5A, count: 32)))
        #expect(try batch.mac == key.code(for: message[...]))
        #expect(batch.seal.count == 32 + 4)
    }

    @Test func locatorIsCRC32C() {
        #expect(LedgerLocator.of(Array("123456789".utf8)) == 0xE306_9283)
    }

    @Test(arguments: 1...15 as ClosedRange<Int64>)
    func namesAnAlteredRow(sequence: Int64) throws {
        var altered = ledger
        altered.rows[Int(sequence) - 1].body[20] ^= 1
        #expect(try altered.findings() == [.rowAltered(sequence)])
    }

    @Test(arguments: 1...15 as ClosedRange<Int64>)
    func namesADeletedRow(sequence: Int64) throws {
        var altered = ledger
        altered.rows.remove(at: Int(sequence) - 1)
        #expect(try altered.findings() == [.rowsMissing(sequence...sequence)])
    }

    @Test func namesReorderedRows() throws {
        var altered = ledger
        (altered.rows[4].body, altered.rows[6].body) = (ledger.rows[6].body, ledger.rows[4].body)
        #expect(try altered.findings() == [.rowMoved(from: 7, to: 5), .rowMoved(from: 5, to: 7)])
        (altered.rows[4].body, altered.rows[6].body) = (ledger.rows[4].body, ledger.rows[0].body)
        #expect(try altered.findings() == [.rowAltered(7)])
    }

    @Test func namesTheBatchWhereLocatorsWereForgedToo() throws {
        var altered = ledger
        altered.rows[5].body[20] ^= 1
        let forged = try LedgerSamples.chain(keyByte: 1).seal(
            altered.rows[4..<8].map(\.body), after: ledger.batches[1].link, at: ledger.batches[2].at)
        altered.batches[2].seal = ledger.batches[2].mac + forged.seal.dropFirst(32)
        #expect(try altered.findings() == [.batchAltered(5...8)])
    }

    @Test func namesABatchWhoseSealOrTimeWasAltered() throws {
        for offset in [0, 31, 32, 47] {
            var altered = ledger
            altered.batches[2].seal[offset] ^= 0x80
            let findings = try altered.findings()
            // An altered locator points to its row. Either finding belongs to this batch.
            #expect([[.batchAltered(5...8)], [.rowAltered(8)]].contains(findings), "\(offset): \(findings)")
        }
        var altered = ledger
        altered.batches[2].at += 1
        #expect(try altered.findings() == [.batchAltered(5...8)])
    }

    @Test func findsADeletedBatchWithItsRows() throws {
        var altered = ledger
        altered.batches.remove(at: 2)
        altered.rows.removeSubrange(4..<8)
        #expect(try altered.findings() == [.rowsMissing(5...8), .batchUnproven(9...10)])
    }

    @Test func findsADeletedBatchWithoutItsRows() throws {
        var altered = ledger
        altered.batches.remove(at: 2)
        #expect(try altered.findings() == [.rowsUnsealed(5...8), .batchUnproven(9...10)])
    }

    @Test func findsRowsThatWereAppended() throws {
        var altered = ledger
        altered.rows.append(LedgerRow(sequence: 18, body: ledger.rows[0].body))
        #expect(try altered.findings() == [.rowsMissing(16...17), .rowsUnsealed(18...18)])
    }

    @Test func findsACutTailByACheckpointAlone() throws {
        var altered = ledger
        let checkpoint = try ledger.checkpoint(ledger.batches[4].link)
        altered.batches.removeLast(2)
        altered.rows.removeLast(7)
        #expect(try altered.findings() == [])
        #expect(try altered.findings(checkpoints: [checkpoint]) == [.tailMissing(9...15)])
    }

    @Test func findsALedgerThatWasMadeAnew() throws {
        let checkpoint = try ledger.checkpoint(ledger.batches[1].link)
        let other = try SampleLedger(batchSizes: [2, 2, 2], firstNumber: 500)
        #expect(try other.findings(checkpoints: [checkpoint]) == [.checkpointContradicted(4)])
        let shifted = try SampleLedger(batchSizes: [3, 3], firstNumber: 500)
        #expect(try shifted.findings(checkpoints: [checkpoint]) == [.checkpointContradicted(4)])
    }

    @Test func refusesForgedCheckpoints() throws {
        let foreign = try LedgerSamples.chain(keyByte: 1).checkpoint(ledger.batches[0].link, at: ledger.time)
        let neighbour = try LedgerSamples.chain(node: "node-2").checkpoint(ledger.batches[1].link, at: ledger.time)
        #expect(try ledger.findings(checkpoints: [foreign, neighbour]) == [.checkpointForged(3)])
    }

    @Test func verifiesBehindASignedBeginning() throws {
        var purged = ledger
        purged.purge(batches: 2)
        let old = try ledger.checkpoint(ledger.batches[0].link)
        let beginning = try ledger.checkpoint(ledger.batches[1].link, .beginning)
        #expect(try purged.findings(beginning: beginning, checkpoints: [old]) == [])
        #expect(try purged.findings() == [.rowsMissing(1...4), .batchUnproven(5...8)])
    }

    @Test func takesNoCheckpointForABeginning() throws {
        var purged = ledger
        purged.purge(batches: 2)
        let checkpoint = try ledger.checkpoint(ledger.batches[1].link)
        #expect(try purged.findings(beginning: checkpoint) == [.beginningForged])
        let foreign = try LedgerSamples.chain(keyByte: 1).checkpoint(
            ledger.batches[1].link, .beginning, at: ledger.time)
        #expect(try purged.findings(beginning: foreign) == [.beginningForged])
    }

    @Test func readsAnythingWithoutATrap() throws {
        var generator = SeededGenerator.announced("readsAnythingWithoutATrap")
        let numbers: [Int64] = [.min, -1, 0, 1, 2, 3, 4, 15, 16, .max - 1, .max]
        for _ in 0..<2000 {
            var altered = ledger
            let index = Int.random(in: 0..<5, using: &generator)
            let number = numbers.randomElement(using: &generator) ?? 0
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: altered.batches[index].first = number
            case 1: altered.batches[index].last = number
            case 2: altered.batches[index].seal = generator.bytes(count: Int.random(in: 0..<64, using: &generator))
            default: altered.rows[index].sequence = number
            }
            altered.rows.sort { $0.sequence < $1.sequence }
            #expect(try altered == ledger || !altered.findings().isEmpty)
        }
    }

    @Test func namesAnEntryOfAnotherVersion() throws {
        let chain = try LedgerSamples.chain()
        let batch = try chain.seal([[9, 1, 2]], after: .start, at: 1)
        var verifier = try LedgerVerifier(chain)
        #expect(try verifier.read(batch, [LedgerRow(sequence: 1, body: [9, 1, 2])]) == [.entryUnreadable(1)])
    }
}

/// A ledger in the form that a database stores.
struct SampleLedger: Equatable {
    var rows: [LedgerRow] = []
    var batches: [LedgerBatch] = []
    let time: UnixTime

    init(batchSizes: [Int], firstNumber: UInt64 = 1) throws {
        time = try #require(UnixTime(seconds: LedgerSamples.at))
        let chain = try LedgerSamples.chain()
        var number = firstNumber
        var link = LedgerLink.start
        for size in batchSizes {
            let bodies = (0..<UInt64(size)).map { LedgerSamples.license(number + $0).encoded() }
            number += UInt64(size)
            let batch = try chain.seal(bodies, after: link, at: LedgerSamples.at)
            for (offset, body) in bodies.enumerated() {
                rows.append(LedgerRow(sequence: batch.first + Int64(offset), body: body))
            }
            batches.append(batch)
            link = batch.link
        }
    }

    func checkpoint(_ link: LedgerLink, _ kind: LedgerCheckpoint.Kind = .checkpoint) throws -> LedgerCheckpoint {
        try LedgerSamples.chain().checkpoint(link, kind, at: time)
    }

    mutating func purge(batches count: Int) {
        rows.removeAll { $0.sequence <= batches[count - 1].last }
        batches.removeFirst(count)
    }

    /// Passes the whole ledger to a verifier in the prescribed order.
    func findings(
        beginning: LedgerCheckpoint? = nil, checkpoints: [LedgerCheckpoint] = []
    ) throws -> [LedgerFinding] {
        var verifier = try LedgerVerifier(LedgerSamples.chain(), beginning: beginning, checkpoints: checkpoints)
        var findings: [LedgerFinding] = []
        var end = beginning?.sequence ?? 0
        for batch in batches.sorted(by: { $0.first < $1.first }) {
            findings += try verifier.read(batch, rows.filter { $0.sequence > end && $0.sequence <= batch.last })
            end = max(end, batch.last)
        }
        return findings + verifier.finish(rows.filter { $0.sequence > end })
    }
}
