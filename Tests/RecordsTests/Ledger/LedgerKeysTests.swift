import ByteCoding
import KeyCrypto
import Testing

@testable import Records

/// Tests of ledger keys by version, and of ledgers of another key or node.
@Suite struct LedgerKeysTests {
    private static func key(_ byte: UInt8) throws -> HMACSHA256Key {
        try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
    }

    private static func keys(_ current: (UInt32, UInt8), older: [(UInt32, UInt8)] = []) throws -> LedgerKeys? {
        LedgerKeys(
            current: .init(version: current.0, key: try key(current.1)),
            older: try older.map { .init(version: $0.0, key: try key($0.1)) })
    }

    private static func chain(
        _ current: (UInt32, UInt8), older: [(UInt32, UInt8)] = [], node: String = "node-1"
    ) throws -> LedgerChain {
        LedgerChain(keys: try #require(try keys(current, older: older)), node: try NodeID(node))
    }

    /// Returns batches of one row each, sealed by these chains in turn.
    private static func ledger(_ chains: [LedgerChain]) throws -> [(LedgerBatch, LedgerRow)] {
        var link = LedgerLink.start
        return try chains.enumerated().map { number, chain in
            let body = LedgerSamples.license(UInt64(number) + 1).encoded()
            let batch = try chain.seal([body], after: link, at: LedgerSamples.at)
            link = batch.link
            return (batch, LedgerRow(sequence: batch.first, body: body))
        }
    }

    private static func findings(
        _ ledger: [(LedgerBatch, LedgerRow)], by chain: LedgerChain, checkpoints: [LedgerCheckpoint] = []
    ) throws -> [LedgerFinding] {
        var verifier = try LedgerVerifier(chain, checkpoints: checkpoints)
        var findings: [LedgerFinding] = []
        for (batch, row) in ledger { findings += try verifier.read(batch, [row]) }
        return findings + verifier.finish([])
    }

    @Test func verifiesWhatEachVersionHasSealed() throws {
        let old = try Self.chain((1, 1))
        let new = try Self.chain((2, 2), older: [(1, 1)])
        let ledger = try Self.ledger([old, old, new, new, new])
        #expect(try Self.findings(ledger, by: new) == [])
        // The older key verifies only its own batches.
        #expect(
            try Self.findings(ledger, by: old) == [.batchAltered(3...3), .batchAltered(4...4), .batchAltered(5...5)])
    }

    /// An older key may be known to more people, which may be why it was replaced.
    @Test func acceptsNoOlderKeyBehindANewerOne() throws {
        let old = try Self.chain((1, 1))
        let new = try Self.chain((2, 2), older: [(1, 1)])
        let ledger = try Self.ledger([old, new, old])
        #expect(try Self.findings(ledger, by: new) == [.batchAltered(3...3)])
    }

    @Test func sealsUnderTheCurrentKey() throws {
        let new = try Self.chain((7, 2), older: [(3, 1)])
        let ledger = try Self.ledger([new])
        #expect(try Self.findings(ledger, by: Self.chain((7, 2))) == [])
        #expect(try new.accepts(ledger[0].0, [ledger[0].1.body], after: .start))
        #expect(try !Self.chain((3, 1)).accepts(ledger[0].0, [ledger[0].1.body], after: .start))
    }

    @Test func acceptsCheckpointsOfOlderKeys() throws {
        let old = try Self.chain((1, 1))
        let new = try Self.chain((2, 2), older: [(1, 1)])
        let ledger = try Self.ledger([old, new])
        let checkpoint = try old.checkpoint(ledger[0].0.link, at: #require(UnixTime(seconds: LedgerSamples.at)))
        #expect(try new.accepts(checkpoint))
        #expect(try Self.findings(ledger, by: new, checkpoints: [checkpoint]) == [])
    }

    @Test func refusesVersionsThatAreNotInOrder() throws {
        #expect(try Self.keys((1, 1), older: [(1, 2)]) == nil)
        #expect(try Self.keys((1, 1), older: [(2, 2)]) == nil)
        #expect(try Self.keys((3, 1), older: [(2, 2), (2, 3)]) == nil)
        #expect(try Self.keys((3, 1), older: [(2, 2), (1, 3)]) != nil)
    }

    /// A ledger that is read under another name or with another key has a single finding, even if it is long.
    @Test(arguments: [("node-2", 1), ("node-1", 2)] as [(String, UInt8)])
    func aLedgerOfAnotherNodeOrKeyIsOneFinding(node: String, key: UInt8) throws {
        let chain = try Self.chain((1, 1))
        let ledger = try Self.ledger([LedgerChain](repeating: chain, count: 717))
        let reader = try Self.chain((1, key), node: node)
        #expect(try Self.findings(ledger, by: reader) == [.sealedByOthers(1...717)])
    }

    @Test func anAlteredBeginningIsNamedOnceSomethingIsProven() throws {
        let chain = try Self.chain((1, 1))
        var ledger = try Self.ledger([LedgerChain](repeating: chain, count: 4))
        ledger[0].0.seal[0] ^= 1
        #expect(try Self.findings(ledger, by: chain) == [.batchAltered(1...1)])
        #expect(try Self.findings(Array(ledger.prefix(1)), by: chain) == [.batchAltered(1...1)])
    }

    @Test func readsWhatPurgesSay() throws {
        let purge = LedgerPurge(at: LedgerSamples.at, rowCount: 300_000, through: 312_345, retention: 34_560_000)
        #expect(try LedgerPurge(purge.entry()) == purge)
        let copy = LedgerPurge(.sharedCopy, at: 5, rowCount: .max, through: .max, retention: 36_500 * 86_400)
        #expect(try LedgerPurge(LedgerEntry(parsing: copy.entry().encoded())) == copy)
        #expect(LedgerPurge(LedgerSamples.license()) == nil)
        var forged = try purge.entry()
        forged.detail = "many"
        #expect(LedgerPurge(forged) == nil)
    }
}
