import DeviceSimulation
import FairPlay
import TestSupport
import Testing

/// How well a device protects keys and pictures, and which block takes precedence if several report it (protocol,
/// section 4.6).
@Suite struct SecurityLevelTests {
    private let bench: SPCBench

    init() throws {
        bench = try SPCBench()
    }

    private func facts(_ change: (inout DeviceOptions) -> Void) throws -> DeviceFacts {
        try bench.open(change).device
    }

    private static func report(_ level: UInt64, denyListVersion: UInt32 = 0) -> SecurityLevelStatement {
        .report(SecurityLevelReport(rawLevel: level, denyListVersion: denyListVersion))
    }

    private static let main = SecurityLevel.main.rawValue

    @Test func theNumbersAreOrderedByStrength() {
        #expect(SecurityLevel.allCases.map(\.rawValue) == SecurityLevel.allCases.map(\.rawValue).sorted())
        #expect(SecurityLevel.audio < .baseline && .baseline < .main)
    }

    private static let reports: [(UInt64, SecurityLevel?)] = [
        (0, nil), (1, nil), (0x17d9_9d57_4eed_567c, nil), (0x17d9_9d57_4eed_567d, SecurityLevel.audio),
        (0x32f0_0049_66a5_c4f7, .audio), (0x32f0_0049_66a5_c4f8, .baseline), (0x4e7f_d924_21d5_88b3, .baseline),
        (0x4e7f_d924_21d5_88b4, .main), (.max, .main),
    ]

    @Test(arguments: reports)
    func aReportReachesTheStrongestLevelNotAboveIt(number: UInt64, level: SecurityLevel?) throws {
        #expect(SecurityLevel(reported: number) == level)
        #expect(try facts { $0.securityLevel = Self.report(number) }.securityLevel == level)
    }

    private static let levelsByBits: [(Capabilities, SecurityLevel?)] = [
        (Capabilities.securityLevelBaseline, SecurityLevel.baseline), (.securityLevelMain, .main),
        ([.securityLevelBaseline, .securityLevelMain, .hdcpEnforcement], .main), (.hdcpEnforcement, nil), ([], nil),
    ]

    @Test(arguments: levelsByBits)
    func withoutAReportTheBitsCount(capabilities: Capabilities, level: SecurityLevel?) throws {
        #expect(try facts { $0.capabilities = capabilities }.securityLevel == level)
    }

    @Test func aReportCountsBeforeTheBits() throws {
        let facts = try facts {
            $0.capabilities = .securityLevelMain
            $0.securityLevel = Self.report(SecurityLevel.audio.rawValue)
        }
        #expect(facts.securityLevel == .audio)
    }

    /// One report cannot be read, and one has a version that does not exist yet.
    @Test func theBitsCountIfTheReportCannotBeRead() throws {
        let facts = try facts {
            $0.capabilities = .securityLevelBaseline
            $0.securityLevel = .encrypted
        }
        #expect(facts.securityLevel == .baseline)
        #expect(try bench.facts(TLLVTag.securityLevelReport, words(2, 0, .max, .max, 0)).securityLevel == nil)
    }

    /// A level of 0 counts as reported, so the capability bits are ignored.
    @Test(arguments: SecurityLevel.allCases)
    func aReportOfZeroIsBelowEveryLevel(level: SecurityLevel) throws {
        let facts = try facts {
            $0.capabilities = [.securityLevelBaseline, .securityLevelMain]
            $0.securityLevel = Self.report(0)
        }
        #expect(facts.securityLevel == nil)
        #expect(facts.falls(below: level))
    }

    @Test(arguments: SecurityLevel.allCases)
    func aDeviceBelowAllLevelsFallsBelowEach(level: SecurityLevel) throws {
        let weak = try facts { $0.securityLevel = Self.report(1) }
        #expect(weak.securityLevel == nil)
        #expect(weak.falls(below: level))
        let silent = try facts { _ in }
        #expect(!silent.falls(below: level))
    }

    // MARK: The deny list

    @Test(arguments: [
        (UInt32(0), false), (1, true), (30, true), (31, false), (32, false), (.max, false),
    ])
    func aDenyListUnder31MakesBaselineOfMain(version: UInt32, isOld: Bool) throws {
        let facts = try facts {
            $0.capabilities = .securityLevelMain
            $0.denyListVersion = version
        }
        #expect(facts.hasOldDenyList == isOld)
        #expect(facts.securityLevel == (isOld ? .baseline : .main))
    }

    @Test func anOldDenyListLiftsNobody() throws {
        let audio = try facts {
            $0.denyListVersion = 30
            $0.securityLevel = Self.report(SecurityLevel.audio.rawValue)
        }
        #expect(audio.securityLevel == .audio)
        let none = try facts {
            $0.denyListVersion = 30
            $0.securityLevel = Self.report(1)
        }
        #expect(none.falls(below: .audio))
        let silent = try facts { $0.denyListVersion = 30 }
        #expect(silent.securityLevel == .baseline)
    }

    private static let denyLists: [(UInt32?, UInt32, Bool)] = [
        (nil, 30, true), (nil, 31, false), (30, 31, true), (31, 30, false), (0, 30, false),
    ]

    @Test(arguments: denyLists)
    func theBlockOfItsOwnCountsBeforeTheReport(own: UInt32?, reported: UInt32, isOld: Bool) throws {
        let facts = try facts {
            $0.denyListVersion = own
            $0.securityLevel = Self.report(Self.main, denyListVersion: reported)
        }
        #expect(facts.denyListVersion == own ?? reported)
        #expect(facts.hasOldDenyList == isOld)
        #expect(facts.securityLevel == (isOld ? .baseline : .main))
    }
}
