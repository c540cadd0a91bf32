import ByteCoding
import DeviceSimulation
import FairPlay
import TestSupport
import Testing

/// The contents of a sync block, from values that are written here byte by byte (protocol, section 4.4).
@Suite struct SyncReportTests {
    private let bench: SPCBench
    private static let contentID = hex("deadbeefdeadfefe000000000deaddaa")

    init() throws {
        bench = try SPCBench()
    }

    private func report(_ value: [UInt8]) throws -> SyncReport? {
        try bench.open { $0.otherBlocks = [DeviceBlock(TLLVTag.sync, value)] }.syncReport
    }

    /// The values of a public sample.
    @Test func readsVersion1WithItsContentID() throws {
        let report = try #require(try report(words(1, 0) + Self.contentID + words(2_591_995)))
        #expect(report.subject == .version1(contentID: Bytes16(Self.contentID, at: 0)))
        #expect(report.remaining == .seconds(2_591_995))
        #expect(report.challenge == nil)
    }

    @Test(arguments: [
        (UInt32(0), SyncReport.Remaining.expired), (1, .seconds(1)), (.max - 1, .seconds(.max - 1)), (.max, .unlimited),
    ])
    func readsWhatIsLeft(word: UInt32, remaining: SyncReport.Remaining) throws {
        #expect(remaining.wireValue == word)
        #expect(try report(words(1, 0) + Self.contentID + words(word))?.remaining == remaining)
        let value = words(2, 0, 0, 0, 0, 1) + zeros(16) + words(word, 0)
        #expect(try report(value)?.remaining == remaining)
    }

    @Test func readsEveryFieldOfVersion2() throws {
        let head = words(2, 0, 0x1122_3344, 0x5566_7788, 0, 0x0001_0003)
        let value = head + Self.contentID + words(60, 2) + [UInt8](0..<32)
        let report = try #require(try report(value))
        let details = SyncReportVersion2(
            challenge: 0x1122_3344_5566_7788, flags: [.report, .secureInvalidation, .success],
            titleID: Bytes16(Self.contentID, at: 0),
            streamIDs: [Bytes16([UInt8](0..<16), at: 0), Bytes16([UInt8](16..<32), at: 0)])
        #expect(report == SyncReport(.version2(details), remaining: .seconds(60)))
        #expect(report.challenge == 0x1122_3344_5566_7788)
    }

    @Test(arguments: [
        (UInt64(0), SyncFlags.report), (1, .secureInvalidation), (2, .secureInvalidationOfAll), (3, .titleIDIsValid),
        (16, .success), (17, .objectNotFound), (18, .objectExpired),
    ])
    func readsEachFlagByItsBit(bit: UInt64, flag: SyncFlags) throws {
        #expect(flag.rawValue == 1 << bit)
        let value = words(2, 0, 0, 0) + bigEndianBytes(UInt64(1) << bit) + zeros(16) + words(0, 0)
        let report = try #require(try report(value))
        #expect(report.subject == .version2(.init(challenge: 0, flags: flag, titleID: .zero, streamIDs: [])))
    }

    @Test func aChallengeOfZeroIsNone() throws {
        #expect(try report(words(2, 0, 0, 0, 0, 1) + zeros(24))?.challenge == nil)
    }

    /// Only version 1 demands that the reserved word is zero.
    @Test func ignoresTheReservedWordOfVersion2() throws {
        #expect(try report(words(2, 9, 0, 0, 0, 1) + zeros(24)) != nil)
        #expect(throws: SPCError.rejected(.reservedWord(tag: TLLVTag.sync))) { try report(words(1, 9) + zeros(20)) }
    }

    @Test(arguments: [UInt32(0), 3, .max])
    func anotherVersionIsNoSync(version: UInt32) throws {
        #expect(try report(words(version, 7) + [UInt8](repeating: 0xEE, count: 40)) == nil)
    }

    @Test func anOrdinarySPCHasNone() throws {
        #expect(try bench.open().syncReport == nil)
    }

    // MARK: Lengths that do not agree

    private func version2(declaring count: UInt32, recordBytes: Int) -> [UInt8] {
        words(2, 0, 0, 0, 0, 1) + zeros(16) + words(0, count) + zeros(recordBytes)
    }

    @Test(arguments: [(UInt32(0), 0), (0, 16), (1, 16), (2, 47), (250, 4000), (250, 4016)])
    func takesAtLeastTheRecordsThatAreDeclared(count: UInt32, recordBytes: Int) throws {
        let value = version2(declaring: count, recordBytes: recordBytes)
        guard case .version2(let details) = try report(value)?.subject else {
            Issue.record("no report of version 2")
            return
        }
        #expect(details.streamIDs.count == Int(count))
    }

    @Test(arguments: [UInt32(1), 3, 250, 0x1000_0000, .max])
    func refusesRecordsThatAreNotThere(count: UInt32) throws {
        for recordBytes in [0, Int(min(count, 250)) * 16 - 1] {
            let value = version2(declaring: count, recordBytes: recordBytes)
            #expect(throws: SPCError.rejected(.wrongSize(tag: TLLVTag.sync, size: value.count))) { try report(value) }
        }
    }

    @Test(arguments: [UInt32(251), 252, 1000])
    func refusesMoreThan250Records(count: UInt32) throws {
        let value = version2(declaring: count, recordBytes: Int(count) * 16)
        #expect(throws: SPCError.rejected(.syncContradictory)) { try report(value) }
    }

    @Test func refusesVersion2WithoutAnyFlag() throws {
        #expect(throws: SPCError.rejected(.syncContradictory)) { try report(words(2, 0, 0, 0, 0, 0) + zeros(24)) }
    }

    /// Values of less than four bytes have no version.
    @Test(arguments: 4..<48)
    func refusesEveryTruncationOfVersion2(size: Int) throws {
        let value = Array((words(2, 0, 0, 0, 0, 1) + zeros(24)).prefix(size))
        #expect(throws: SPCError.rejected(.wrongSize(tag: TLLVTag.sync, size: size))) { try report(value) }
    }
}
