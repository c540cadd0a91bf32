import ByteCoding
import KeyCrypto
import TestSupport
import Testing

@testable import Records

@Suite struct LedgerCheckpointTests {
    let chain: LedgerChain
    let checkpoint: LedgerCheckpoint

    init() throws {
        chain = try LedgerSamples.chain()
        let batch = try chain.seal([LedgerSamples.license().encoded()], after: .start, at: LedgerSamples.at)
        checkpoint = try chain.checkpoint(batch.link, at: #require(UnixTime(seconds: 1_700_000_060, nanoseconds: 5)))
    }

    @Test func isOneLineThatReadsBack() throws {
        let line = checkpoint.description
        #expect(line.hasPrefix("latchkey-checkpoint-1 node-1 1 2023-11-14T22:14:20Z "))
        let read = try #require(LedgerCheckpoint(parsing: line))
        #expect(read == checkpoint)
        #expect(try chain.accepts(read))
    }

    @Test func macIsAsDocumented() throws {
        var message = Array("LKCHECK1".utf8) + [1, 6] + Array("node-1".utf8)
        for number in [1, 1_700_000_060] as [UInt64] { message += Bytes16(high: 0, low: number).bytes.suffix(8) }
        message += checkpoint.link.mac
        let key = try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 0x5A, count: 32)))
        #expect(try checkpoint.mac == key.code(for: message[...]))
    }

    @Test func everyAlteredCharacterIsRefused() throws {
        let line = Array(checkpoint.description.utf8)
        var readCount = 0
        for offset in line.indices {
            for replacement in Array("0 1aA-".utf8) where replacement != line[offset] {
                var altered = line
                altered[offset] = replacement
                guard let read = LedgerCheckpoint(parsing: String(decoding: altered, as: UTF8.self)) else { continue }
                readCount += 1
                #expect(try !chain.accepts(read))
            }
        }
        #expect(readCount > 0, "some altered texts are a checkpoint whose MAC is wrong")
    }

    @Test func otherSpellingsAreRefused() {
        let line = checkpoint.description
        #expect(LedgerCheckpoint(parsing: line + " ") == nil)
        #expect(LedgerCheckpoint(parsing: line.replacing(" 1 ", with: " +1 ")) == nil)
        #expect(LedgerCheckpoint(parsing: line.replacing("Z", with: "+00:00")) == nil)
        #expect(LedgerCheckpoint(parsing: String(line.dropLast())) == nil)
    }

    @Test func anotherNodeOrKeyDoesNotAcceptIt() throws {
        #expect(try !LedgerSamples.chain(node: "node-2").accepts(checkpoint))
        #expect(try !LedgerSamples.chain(keyByte: 1).accepts(checkpoint))
    }
}
