import ByteCoding
import FairPlay
import TestSupport

/// Changes of a sequence of TLLV blocks that keep it valid: blocks are added, removed or moved, or change their tag,
/// size or value.
///
/// Bytes that are no sequence of blocks are changed without regard to their meaning, and so are some valid sequences.
enum TLLVMutation {
    static func mutate(_ payload: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        let isPlain = Int.random(in: 0..<8, using: &generator) == 0
        guard !isPlain, var blocks = RawTLLV.parse(payload) else {
            return ByteMutation.mutate(payload, using: &generator)
        }
        // Usually makes one change, because each further change makes it more likely that the first check refuses.
        repeat { change(&blocks, using: &generator) } while Int.random(in: 0..<4, using: &generator) == 0
        return blocks.flatMap(\.bytes)
    }

    private static func change(_ blocks: inout [RawTLLV], using generator: inout SeededGenerator) {
        guard let index = blocks.indices.randomElement(using: &generator) else {
            return blocks.append(newBlock(using: &generator))
        }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: blocks.remove(at: index)
        case 1: blocks.insert(newBlock(using: &generator), at: index)
        case 2: blocks.swapAt(index, Int.random(in: blocks.indices, using: &generator))
        case 3: blocks[index].tag = tag(using: &generator)
        case 4: blocks[index].resize(to: Int.random(in: 0...64, using: &generator))
        case 5: blocks[index].resize(to: blocks[index].value.count + Int.random(in: -1...1, using: &generator))
        case 6: nameTags(&blocks, using: &generator)
        default: blocks[index].value = changed(blocks[index].value, using: &generator)
        }
    }

    /// A value with other bytes of the same size, so that the framing stays valid.
    private static func changed(_ value: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var other = Array(ByteMutation.mutate(value, using: &generator).prefix(value.count))
        other += generator.bytes(count: value.count - other.count)
        return other
    }

    private static func newBlock(using generator: inout SeededGenerator) -> RawTLLV {
        let size = [0, 4, 8, 12, 16, 20, 28, 32, 36, 48, 64].randomElement(using: &generator) ?? 0
        var value = generator.bytes(count: size)
        // Most numbers are small, especially versions.
        if size >= 4, Bool.random(using: &generator) { value.replaceSubrange(0..<4, with: [0, 0, 0, 1]) }
        return RawTLLV(tag: tag(using: &generator), value: value, padding: [])
    }

    /// A known tag or a random one.
    private static func tag(using generator: inout SeededGenerator) -> UInt64 {
        let known = Bool.random(using: &generator) ? KnownTags.request : KnownTags.license
        return known.randomElement(using: &generator) ?? generator.next()
    }

    /// Rewrites a list of tags (the return request or the key formats) with tags of present blocks, and sometimes with
    /// an absent one.
    private static func nameTags(_ blocks: inout [RawTLLV], using generator: inout SeededGenerator) {
        let headerSizes = [TLLVTag.tagReturnRequest: 0, TLLVTag.supportedKeyFormats: 12]
        let lists = blocks.indices.filter { headerSizes[blocks[$0].tag] != nil }
        guard let index = lists.randomElement(using: &generator), let headerSize = headerSizes[blocks[index].tag]
        else { return }
        var tags = (0..<Int.random(in: 0...8, using: &generator)).compactMap { _ in
            blocks.randomElement(using: &generator)?.tag
        }
        if Int.random(in: 0..<8, using: &generator) == 0 { tags.append(tag(using: &generator)) }
        blocks[index].resize(to: headerSize)
        if headerSize > 0 { blocks[index].value.replaceSubrange(8..<12, with: bigEndianBytes(UInt32(tags.count))) }
        blocks[index].value += tags.flatMap { bigEndianBytes($0) }
    }
}

/// The tags that the code under test knows by name.
private enum KnownTags {
    static let request: [UInt64] = [
        TLLVTag.sessionKeyBlock, TLLVTag.sessionKeyIntegrity, TLLVTag.antiReplaySeed, TLLVTag.r2,
        TLLVTag.tagReturnRequest, TLLVTag.assetID, TLLVTag.transactionID, TLLVTag.protocolVersionsSupported,
        TLLVTag.protocolVersionUsed, TLLVTag.streamingIndicator, TLLVTag.mediaPlaybackState, TLLVTag.capabilities,
        TLLVTag.deviceIdentity, TLLVTag.deviceInfo, TLLVTag.kextDenyListVersion, TLLVTag.securityLevelReport,
        TLLVTag.supportedKeyFormats, TLLVTag.virtualMachineInfo, TLLVTag.sync, TLLVTag.sessionKeyBlockVideo,
        TLLVTag.r2Video,
    ]
    static let license = TLLVTag.carriedByCKC
}

/// One TLLV block in its parts.
struct RawTLLV {
    var tag: UInt64
    var value: [UInt8]
    var padding: [UInt8]

    /// The blocks of `payload`, or nil if it is no sequence of blocks.
    static func parse(_ payload: [UInt8]) -> [RawTLLV]? {
        do throws(TLLVError) {
            return try TLLVBlocks(parsing: payload).blocks.map { block in
                RawTLLV(
                    tag: block.tag, value: Array(payload[block.value]),
                    padding: Array(payload[block.value.upperBound..<block.range.upperBound]))
            }
        } catch {
            return nil
        }
    }

    /// Cuts the value, or fills it with zeros.
    mutating func resize(to size: Int) {
        let size = max(0, size)
        value = Array(value.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - value.count))
    }

    /// The encoded block with its own padding, filled up to a multiple of 16 bytes.
    var bytes: [UInt8] {
        let filled = (value.count + padding.count + 15) & ~15
        var writer = ByteWriter(capacity: 16 + filled)
        writer.write(tag)
        writer.write(UInt32(filled))
        writer.write(UInt32(value.count))
        writer.write(value)
        writer.write(padding)
        writer.write([UInt8](repeating: 0, count: filled - value.count - padding.count))
        return writer.bytes
    }
}
