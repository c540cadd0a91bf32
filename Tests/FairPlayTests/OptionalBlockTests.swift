import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// The sizes of every optional block around its limits: at least the listed size where more is passed over, and at most where it is opaque.
@Suite struct OptionalBlockTests {
    struct Block: Sendable, CustomTestStringConvertible {
        let name: String
        let tag: UInt64
        /// What the value begins with; zeros follow.
        var start: [UInt8] = []
        let minimum: Int
        var maximum: Int?

        var testDescription: String { name }

        func value(_ size: Int) -> [UInt8] { Array((start + zeros(600)).prefix(size)) }
    }

    private static let blocks = [
        Block(name: "streaming indicator", tag: TLLVTag.streamingIndicator, minimum: 8),
        Block(name: "media playback state", tag: TLLVTag.mediaPlaybackState, minimum: 16),
        Block(name: "capabilities", tag: TLLVTag.capabilities, minimum: 16),
        Block(name: "device identity", tag: TLLVTag.deviceIdentity, minimum: 36),
        Block(name: "device info", tag: TLLVTag.deviceInfo, minimum: 16),
        Block(name: "deny list version", tag: TLLVTag.kextDenyListVersion, minimum: 4),
        Block(name: "security level report", tag: TLLVTag.securityLevelReport, start: words(1), minimum: 20),
        Block(name: "key formats without one", tag: TLLVTag.supportedKeyFormats, start: words(1), minimum: 12),
        Block(name: "one key format", tag: TLLVTag.supportedKeyFormats, start: words(1, 0, 1), minimum: 20),
        Block(name: "64 key formats", tag: TLLVTag.supportedKeyFormats, start: words(1, 0, 64), minimum: 524),
        Block(name: "virtual machine info", tag: TLLVTag.virtualMachineInfo, minimum: 28),
        Block(name: "sync that is none", tag: TLLVTag.sync, minimum: 28),
        Block(name: "sync 1", tag: TLLVTag.sync, start: words(1), minimum: 28),
        Block(name: "sync 2", tag: TLLVTag.sync, start: words(2, 0, 0, 0, 0, 1), minimum: 48),
        Block(name: "SK..R1 for video", tag: TLLVTag.sessionKeyBlockVideo, minimum: 0, maximum: 256),
        Block(name: "R2 for video", tag: TLLVTag.r2Video, minimum: 0, maximum: 64),
    ]

    private let bench: SPCBench

    init() throws {
        bench = try SPCBench()
    }

    private func open(_ block: Block, _ size: Int) throws -> SPC {
        try bench.open { $0.otherBlocks = [DeviceBlock(block.tag, block.value(size))] }
    }

    @Test(arguments: blocks)
    func acceptsEverySizeFromItsLeast(block: Block) throws {
        let largest = block.maximum ?? block.minimum + 64
        for size in [block.minimum, block.minimum + 1, block.minimum + 15, largest - 1, largest] {
            #expect(throws: Never.self, "\(size) bytes") { try open(block, size) }
        }
    }

    @Test(arguments: blocks)
    func refusesEveryOtherSize(block: Block) throws {
        var sizes = Set([0, 1, block.minimum / 2, block.minimum - 1].filter { (0..<block.minimum).contains($0) })
        if let maximum = block.maximum { sizes.formUnion([maximum + 1, maximum + 100]) }
        for size in sizes {
            #expect(throws: SPCError.rejected(.wrongSize(tag: block.tag, size: size)), "\(size) bytes") {
                try open(block, size)
            }
        }
    }

    /// Java's server refuses values that fill their block: here nothing stands behind the value.
    @Test(arguments: blocks.filter { $0.minimum % 16 == 0 && $0.minimum > 0 })
    func acceptsAValueThatFillsItsBlock(block: Block) throws {
        let value = block.value(block.minimum)
        let spc = try bench.open { $0.otherBlocks = [DeviceBlock(block.tag, value, extraBlocks: 0)] }
        #expect(spc.blocks.contains { $0.tag == block.tag && $0.value.upperBound == $0.range.upperBound })
    }

    @Test func refusesMoreThan64KeyFormats() throws {
        let value = words(1, 0, 65) + zeros(65 * 8)
        #expect(throws: SPCError.rejected(.wrongSize(tag: TLLVTag.supportedKeyFormats, size: value.count))) {
            try bench.facts(TLLVTag.supportedKeyFormats, value)
        }
    }

    @Test(arguments: [UInt32(1), 0x8000_0000, .max])
    func refusesAReportWithAReservedWord(word: UInt32) throws {
        #expect(throws: SPCError.rejected(.reservedWord(tag: TLLVTag.securityLevelReport))) {
            try bench.facts(TLLVTag.securityLevelReport, words(1, word, 0, 0, 0))
        }
    }

    /// Only version 1 is understood, so only there the word means anything.
    @Test func passesOverTheReservedWordOfAnotherVersion() throws {
        #expect(try bench.facts(TLLVTag.securityLevelReport, words(2, 9, 0, 0, 0)).securityReport == nil)
    }
}
