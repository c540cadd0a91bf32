import FairPlay
import TestSupport
import Testing

@Suite struct TLLVBlocksTests {
    static func block(tag: UInt64, block: UInt32, value: UInt32, body: Int? = nil) -> [UInt8] {
        var bytes = bigEndianBytes(tag)
        bytes += bigEndianBytes(block)
        bytes += bigEndianBytes(value)
        return bytes + [UInt8](repeating: 0x5A, count: body ?? Int(block))
    }

    @Test func findsBlocksAndTheirValues() throws {
        let payload =
            Self.block(tag: 1, block: 32, value: 21) + Self.block(tag: 2, block: 16, value: 0)
            + Self.block(tag: 3, block: 16, value: 16) + Self.block(tag: 4, block: 0, value: 0)
        let blocks = try TLLVBlocks(parsing: payload).blocks
        #expect(blocks.map(\.tag) == [1, 2, 3, 4])
        #expect(blocks.map(\.value) == [16..<37, 64..<64, 96..<112, 128..<128])
        #expect(blocks.map(\.range) == [0..<48, 48..<80, 80..<112, 112..<128])
    }

    @Test func refusesEveryTruncation() throws {
        let payload = Self.block(tag: 1, block: 32, value: 21) + Self.block(tag: 2, block: 16, value: 16)
        for length in 1..<payload.count where length != 48 {
            #expect(throws: TLLVError.self, "\(length)") { try TLLVBlocks(parsing: Array(payload.prefix(length))) }
        }
    }

    @Test(arguments: [
        (block(tag: 1, block: 16, value: 17), TLLVError.valueExceedsBlock(tag: 1, length: 17)),
        (block(tag: 1, block: 16, value: .max), .valueExceedsBlock(tag: 1, length: .max)),
        (block(tag: 1, block: 17, value: 1), .blockUnaligned(tag: 1, length: 17)),
        (block(tag: 1, block: .max, value: 1, body: 16), .blockUnaligned(tag: 1, length: .max)),
        (block(tag: 1, block: 0x7FFF_FFF0, value: 1, body: 16), .blockOverrun(tag: 1, length: 0x7FFF_FFF0)),
        (block(tag: 1, block: 0xFFFF_FFF0, value: 1, body: 16), .blockOverrun(tag: 1, length: 0xFFFF_FFF0)),
        (block(tag: 1, block: 32, value: 1, body: 16), .blockOverrun(tag: 1, length: 32)),
        (block(tag: 7, block: 0, value: 0) + block(tag: 7, block: 0, value: 0), .duplicateTag(7)),
    ])
    func refusesBadFraming(_ pair: (payload: [UInt8], error: TLLVError)) {
        #expect(throws: pair.error) { try TLLVBlocks(parsing: pair.payload) }
    }

    @Test func boundsTheNumberOfBlocks() throws {
        let payload = (0..<UInt64(TLLVBlocks.countMaximum)).flatMap { Self.block(tag: $0, block: 0, value: 0) }
        #expect(try TLLVBlocks(parsing: payload).blocks.count == TLLVBlocks.countMaximum)
        #expect(throws: TLLVError.tooManyBlocks(maximum: TLLVBlocks.countMaximum)) {
            try TLLVBlocks(parsing: payload + Self.block(tag: 999, block: 0, value: 0))
        }
    }
}
