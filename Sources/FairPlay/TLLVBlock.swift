package import ByteCoding
package import KeyCrypto

/// The position of one TLLV block in a payload (protocol, section 2).
///
///     offset  size  field
///          0     8  tag
///          8     4  block length B: value and padding, a multiple of 16
///         12     4  value length V, at most B
///         16     V  value
///       16+V   B-V  padding
package struct TLLVBlock: Sendable, Equatable {
    package static let headerSize = 16

    package let tag: UInt64
    /// The position of the whole block with its header and padding, as a CKC echoes it.
    package let range: Range<Int>
    package let value: Range<Int>
}

/// Why a payload is not a sequence of TLLV blocks.
package enum TLLVError: Error, Equatable, Sendable {
    case truncatedHeader(offset: Int)
    case blockUnaligned(tag: UInt64, length: UInt32)
    case blockOverrun(tag: UInt64, length: UInt32)
    case valueExceedsBlock(tag: UInt64, length: UInt32)
    case tooManyBlocks(maximum: Int)
    case duplicateTag(UInt64)
}

/// The blocks of a payload in their order. They fill the payload without gaps, and each tag occurs at most once.
package struct TLLVBlocks: Sendable {
    /// The most blocks that a payload may have. All known SPCs have fewer than 40.
    package static let countMaximum = 128

    package private(set) var blocks: [TLLVBlock] = []

    /// Parses all of `payload`.
    package init(parsing payload: [UInt8]) throws(TLLVError) {
        if let error = append(from: payload, skipping: 0) { throw error }
    }

    /// Parses `payload`. After a fault, reports the fault and parses `decoy` instead, whose blocks are then the result.
    ///
    /// As many blocks of the decoy as `payload` had before the fault are read without the search for duplicates. So a
    /// valid and an invalid payload take about the same time.
    init(parsing payload: [UInt8], elseDecoy decoy: [UInt8], fault: inout TLLVError?) {
        guard let error = append(from: payload, skipping: 0) else { return }
        fault = error
        let parsedCount = blocks.count
        blocks.removeAll(keepingCapacity: true)
        _ = append(from: decoy, skipping: parsedCount)
    }

    /// Reads blocks until the end or the first fault.
    ///
    /// The first `skippedCount` blocks are read without the search for duplicates, which takes most of the time.
    private mutating func append(from payload: [UInt8], skipping skippedCount: Int) -> TLLVError? {
        blocks.reserveCapacity(40)
        var reader = ByteReader(payload)
        do throws(TLLVError) {
            while reader.remaining > 0 {
                guard blocks.count < Self.countMaximum else { return .tooManyBlocks(maximum: Self.countMaximum) }
                let block = try Self.read(from: &reader)
                if blocks.count >= skippedCount, contains(block.tag) { return .duplicateTag(block.tag) }
                blocks.append(block)
            }
            return nil
        } catch {
            return error
        }
    }

    private func contains(_ tag: UInt64) -> Bool {
        for block in blocks where block.tag == tag { return true }
        return false
    }

    private static func read(from reader: inout ByteReader) throws(TLLVError) -> TLLVBlock {
        let start = reader.offset
        let tag: UInt64
        let blockLength: UInt32
        let valueLength: UInt32
        do throws(ByteReaderError) {
            tag = try reader.readUInt64("tag")
            blockLength = try reader.readUInt32("block length")
            valueLength = try reader.readUInt32("value length")
        } catch {
            throw .truncatedHeader(offset: start)
        }
        guard blockLength % 16 == 0 else { throw .blockUnaligned(tag: tag, length: blockLength) }
        guard valueLength <= blockLength else { throw .valueExceedsBlock(tag: tag, length: valueLength) }
        let body: Range<Int>
        do throws(ByteReaderError) {
            body = try reader.readRange(count: Int(blockLength), "block")
        } catch {
            throw .blockOverrun(tag: tag, length: blockLength)
        }
        return TLLVBlock(
            tag: tag, range: start..<body.upperBound, value: body.lowerBound..<body.lowerBound + Int(valueLength))
    }
}

/// Builds a payload of TLLV blocks with random padding (protocol, section 2).
package struct TLLVWriter {
    // Room for most payloads. The C library hands out pieces of up to 1032 bytes faster than larger ones.
    package private(set) var payload = ByteWriter(capacity: 960)
    private let crypto: CryptoContext

    package init(using crypto: CryptoContext) {
        self.crypto = crypto
    }

    /// Writes a block. Its value is padded to a multiple of 16 bytes, and then with `extraBlocks` times 16 bytes; all
    /// padding is random.
    package mutating func write(_ tag: UInt64, _ value: [UInt8], extraBlocks: Int) throws(CryptoError) {
        let blockLength = (value.count + 15) & ~15 + extraBlocks * 16
        payload.write(tag)
        payload.write(UInt32(blockLength))
        payload.write(UInt32(value.count))
        payload.write(value)
        payload.write(try crypto.randomBytes(count: blockLength - value.count))
    }

    /// Writes a block with a random number of extra padding blocks, from 0 to 3.
    package mutating func write(_ tag: UInt64, _ value: [UInt8]) throws(CryptoError) {
        try write(tag, value, extraBlocks: try crypto.randomIndex(below: 4))
    }

    /// Writes bytes that are whole blocks already, for the echoes of a return request.
    package mutating func writeVerbatim(_ blocks: ArraySlice<UInt8>) {
        payload.write(blocks)
    }
}
