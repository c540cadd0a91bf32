import FairPlay

/// The blocks or the error of `TLLVBlocks` for a payload.
struct TLLVFraming {
    let blocks: [TLLVBlock]
    let error: TLLVError?

    init(_ payload: [UInt8]) {
        do throws(TLLVError) {
            blocks = try TLLVBlocks(parsing: payload).blocks
            error = nil
        } catch {
            blocks = []
            self.error = error
        }
    }

    /// Checks that the blocks follow one another from the first byte to the last, that each matches its header, and
    /// that each tag occurs once.
    func check(_ payload: [UInt8]) throws(PropertyViolation) {
        guard error == nil else { return }
        var end = 0
        for block in blocks {
            try require(block.range.lowerBound == end, "a block begins where the last one ended")
            let header = payload[end..<end + TLLVBlock.headerSize]
            let tag = header.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let lengths = header.dropFirst(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            try require(tag == block.tag, "a block has the tag of its header")
            try require(block.range.count == TLLVBlock.headerSize + Int(lengths >> 32), "a block has its length")
            try require(block.range.count % 16 == 0, "a block is whole")
            try require(block.value.lowerBound == end + TLLVBlock.headerSize, "a value follows its header")
            try require(block.value.count == Int(lengths & 0xFFFF_FFFF), "a value has the length in its header")
            try require(block.value.upperBound <= block.range.upperBound, "a value lies within its block")
            end = block.range.upperBound
        }
        try require(end == payload.count, "nothing is left over")
        try require(Set(blocks.map(\.tag)).count == blocks.count, "each tag occurs once")
        try require(blocks.count <= TLLVBlocks.countMaximum, "the number of blocks is within its limit")
    }
}
