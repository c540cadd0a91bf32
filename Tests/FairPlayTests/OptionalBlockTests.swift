import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// The sizes of every optional block around its limits.
///
/// A value must have at least the listed size if extra bytes are ignored, and at most the listed size if it is opaque.
/// Blocks with a version are ignored if their layout is not known.
@Suite struct OptionalBlockTests {
    struct Block: Sendable, CustomTestStringConvertible {
        let name: String
        let tag: UInt64
        /// The beginning of the value. Zeros follow it.
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
        // A sync block that is too short for a version is no sync request.
        if block.tag == TLLVTag.sync { sizes = sizes.filter { $0 >= 4 } }
        for size in sizes {
            #expect(throws: SPCError.rejected(.wrongSize(tag: block.tag, size: size)), "\(size) bytes") {
                try open(block, size)
            }
        }
    }

    /// Java's server refuses values that fill their block, without padding after the value. This server accepts them.
    @Test(arguments: blocks.filter { $0.minimum % 16 == 0 && $0.minimum > 0 })
    func acceptsAValueThatFillsItsBlock(block: Block) throws {
        let value = block.value(block.minimum)
        let spc = try bench.open { $0.otherBlocks = [DeviceBlock(block.tag, value, extraBlocks: 0)] }
        #expect(spc.blocks.contains { $0.tag == block.tag && $0.value.upperBound == $0.range.upperBound })
    }

    @Test(arguments: [UInt32(1), 0x8000_0000, .max])
    func refusesAReportWithAReservedWord(word: UInt32) throws {
        #expect(throws: SPCError.rejected(.reservedWord(tag: TLLVTag.securityLevelReport))) {
            try bench.facts(TLLVTag.securityLevelReport, words(1, word, 0, 0, 0))
        }
    }

    /// Only version 1 is known, so the reserved word is only checked in version 1.
    @Test func passesOverTheReservedWordOfAnotherVersion() throws {
        #expect(try bench.facts(TLLVTag.securityLevelReport, words(2, 9, 0, 0, 0)).securityReport == nil)
    }

    // MARK: Layouts that are not known

    private static let formats = words(1, 0, 2) + bigEndianBytes(UInt64(7)) + bigEndianBytes(UInt64(8))

    @Test(arguments: [
        [], words(1), words(1, 0), words(2, 0, 1, 0, 7), words(0, 0, 1, 0, 7), words(1, 0, 1),
        words(1, 0, 3, 0, 7, 0, 8),
        words(1, 0, 65) + zeros(65 * 8), words(1, 0, .max) + zeros(8), words(1, 0, 0x2000_0001) + zeros(8),
    ])
    func passesOverKeyFormatsInALayoutThatIsNotKnown(value: [UInt8]) throws {
        #expect(try bench.facts(TLLVTag.supportedKeyFormats, value).keyFormats == [DeviceFacts.keyFormatDefault])
    }

    @Test func readsKeyFormatsThatAreFollowedByMore() throws {
        #expect(try bench.facts(TLLVTag.supportedKeyFormats, Self.formats + zeros(20)).keyFormats == [7, 8])
        #expect(try bench.facts(TLLVTag.supportedKeyFormats, words(1, 0, 64) + zeros(512)).keyFormats.count == 64)
    }

    @Test(arguments: [
        [], words(1), words(1, 0, 0, 1), words(1, 9, 0, 0), words(2, 0, 0, 1, 30), words(.max, 0, 0, 1, 30), zeros(19),
        words(1, 0, 0, 1, 30, 0, 0, 0),
    ])
    func passesOverASecurityLevelReportInALayoutThatIsNotKnown(value: [UInt8]) throws {
        let facts = try bench.facts(TLLVTag.securityLevelReport, value)
        #expect(facts.securityReport == nil && facts.securityLevel == nil && facts.denyListVersion == nil)
    }

    @Test(arguments: [20, 21, 31, 33, 64])
    func readsASecurityLevelReportThatIsFollowedByMore(size: Int) throws {
        let value = Array((words(1, 0, 0x17d9_9d57, 0x4eed_567d, 40) + zeros(44)).prefix(size))
        let facts = try bench.facts(TLLVTag.securityLevelReport, value)
        #expect(facts.securityLevel == .audio && facts.denyListVersion == 40)
    }

    /// Version 0 means no virtual machine, with any size of the value.
    @Test(arguments: [
        (words(0), false), (zeros(27), false), ([], true), (zeros(3), true), (words(1), true),
        (words(1) + zeros(23), true),
        (words(2) + zeros(24), true), (words(.max) + zeros(60), true),
    ])
    func passesOverVirtualMachineInfoInALayoutThatIsNotKnown(value: [UInt8], isUnreadable: Bool) throws {
        let facts = try bench.facts(TLLVTag.virtualMachineInfo, value)
        #expect(facts.virtualMachine == nil && facts.hasUnreadableVirtualMachineInfo == isUnreadable)
        try LicenseTerms().check(for: facts, by: DevicePolicy())
        var strict = DevicePolicy()
        strict.refusesVirtualMachines = true
        // The terms depend on this fact, so an unreadable value is refused.
        if isUnreadable {
            #expect(throws: LicenseTermsError.virtualMachineUnknown) {
                try LicenseTerms().check(for: facts, by: strict)
            }
        } else {
            try LicenseTerms().check(for: facts, by: strict)
        }
    }

    @Test(arguments: [[], zeros(3), zeros(4), zeros(27), words(3), words(3) + zeros(44), words(.max, 1)])
    func passesOverASyncBlockOfAVersionThatIsNotKnown(value: [UInt8]) throws {
        let spc = try bench.open { $0.otherBlocks = [DeviceBlock(TLLVTag.sync, value)] }
        #expect(spc.syncReport == nil)
    }
}
