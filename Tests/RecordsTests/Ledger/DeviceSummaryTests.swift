import ByteCoding
import TestSupport
import Testing

@testable import Records

@Suite struct DeviceSummaryTests {
    /// An iPhone with everything that newer devices state.
    private static let phone: DeviceSummary = {
        var phone = DeviceSummary(versions: .init(used: 1, newest: 3))
        phone.securityLevel = .main
        phone.deviceClass = 2
        phone.operatingSystem = 17 << 16 | 4 << 8 | 1
        phone.capabilities = 0b11_1111
        phone.playback = .ready
        phone.machine = .physical
        return phone
    }()

    private static func encoded(_ summary: DeviceSummary) -> [UInt8] {
        var entry = LedgerSamples.license()
        let before = entry.encoded().count
        entry.stated = summary
        return Array(entry.encoded().dropFirst(before))
    }

    @Test func isEncodedAsDocumented() {
        #expect(Hexadecimal.encode(Self.encoded(Self.phone)) == ["24ab", "02", "110401", "3f", "13"].joined())
        #expect(Hexadecimal.encode(Self.encoded(DeviceSummary(versions: .init(used: 1, newest: 1)))) == "000011")
    }

    @Test func hasWordsForPeople() {
        #expect(
            Self.phone.text
                == "class mobile, os 17.4.1, level main, state ready, "
                + "capabilities hdcp+offline_key+secure_invalidation+offline_key_2+baseline+main, protocol 1/3")
        var box = DeviceSummary(versions: .init(used: 9, newest: 99))
        (box.deviceType, box.securityLevel, box.output) = (0xABC, .other(5), .airPlay)
        (box.machine, box.denyList, box.capabilities, box.playback) = (.virtual, 30, 1 << 6, .stopped)
        #expect(
            box.text
                == "class 0000000000000abc, level 0000000000000005, output airplay, state stopped, machine virtual, "
                + "deny_list 30, capabilities bit_6, protocol 9/15")
        #expect(DeviceSummary.word(ofClass: 77) == "77")
    }

    /// A license takes at most 22 bytes more. Only a device with an unknown level and an unknown class loses a fact.
    @Test func isSmall() throws {
        var generator = SeededGenerator.announced("a summary of a device is small")
        var entry = LedgerSamples.license()
        let before = entry.encoded().count
        for _ in 0..<10_000 {
            let summary = LedgerSamples.summary(using: &generator)
            entry.stated = summary
            let bytes = entry.encoded()
            #expect(bytes.count - before <= DeviceSummary.sizeMaximum)
            var read = try #require(LedgerEntry(parsing: bytes).stated)
            #expect(read == summary.bounded)
            if case .other = summary.securityLevel, summary.deviceClass ?? 0 > 255 || summary.deviceType != nil {
                if read.capabilities == nil { read.capabilities = summary.capabilities }
                if read.denyList == nil { read.denyList = summary.denyList }
            }
            #expect(read == summary)
        }
    }

    @Test func cutsWhatWouldNotFit() {
        var summary = Self.phone
        (summary.securityLevel, summary.deviceClass) = (.other(.max), .max)
        summary.denyList = .max
        #expect(summary.bounded.capabilities == nil && summary.bounded.denyList == .max)
        (summary.deviceClass, summary.deviceType) = (nil, .max)
        #expect(summary.bounded.capabilities == nil && summary.bounded.denyList == nil)
        #expect(
            summary.bounded.operatingSystem == summary.operatingSystem && summary.bounded.bounded == summary.bounded)
        #expect(Self.encoded(summary).count == DeviceSummary.sizeMaximum)
    }

    @Test(arguments: [
        ("an unknown level", "0005 11"), ("an unknown output", "0300 11"), ("an unknown playback", "1400 11"),
        ("the last bit", "8000 11"), ("a class with a superfluous byte", "0008 8100 11"),
        ("a class beyond 32 bits", "0008 8080808010 11"), ("a deny list beyond 16 bits", "0040 808004 11"),
        ("more than 22 bytes", "00d4 ffffffffffffffff ffffffffffffffff ffff03 ffff03 11"),
    ])
    func refuses(what: String, digits: String) throws {
        let head = "01 01 00020000 018bcfe568fa00000000000000000000 01 63"
        let bytes = try Hexadecimal.decode((head + digits).filter { $0 != " " })
        #expect(throws: LedgerEntryError.notCanonical, "\(what)") { try LedgerEntry(parsing: bytes) }
    }

    @Test func isFound() throws {
        var entry = LedgerSamples.license()
        func finds(_ filter: StatedFilter) -> Bool {
            var query = LedgerQuery()
            query.stated = filter
            return query.matches(entry)
        }
        func version(_ text: String) throws -> StatedFilter {
            let wanted: StatedFilter.OSVersion = try #require(.init(text), "\(text)")
            return StatedFilter(osVersion: wanted)
        }
        #expect(finds(StatedFilter()))
        #expect(try !finds(version("17")))
        entry.stated = Self.phone
        for text in ["17", "17.4", "17.4.1"] { #expect(try finds(version(text)), "\(text)") }
        for text in ["1", "17.40", "4", "17.4.0"] { #expect(try !finds(version(text)), "\(text)") }
        #expect(
            finds(StatedFilter(deviceClass: .init("mobile"), securityLevel: .init("main"), osVersion: .init("17"))))
        #expect(finds(StatedFilter(deviceClass: .init("2"))) && finds(StatedFilter(securityLevel: .level(.main))))
        #expect(
            !finds(StatedFilter(deviceClass: .init("desktop")))
                && !finds(StatedFilter(securityLevel: .level(.baseline))))
        #expect(!finds(StatedFilter(deviceClass: .some(.none))) && !finds(StatedFilter(securityLevel: .some(.none))))
        entry.stated = DeviceSummary(versions: .init(used: 1, newest: 1))
        #expect(finds(StatedFilter(deviceClass: .some(.none), securityLevel: .some(.none))))
        entry.stated?.deviceType = 0xABC
        entry.stated?.securityLevel = .other(5)
        #expect(
            finds(
                StatedFilter(deviceClass: .init("0000000000000abc"), securityLevel: .init("0000000000000005"))))
    }

    /// A value that no entry can have is refused, so that an empty answer means that no device is concerned.
    @Test(arguments: ["", "Mobile", "01", "-1", "4294967296", "abc", "000000000000000g"])
    func refusesAClassThatNothingHas(text: String) {
        #expect(StatedFilter.DeviceClass(text) == nil)
    }

    @Test(arguments: ["", "MAIN", "1", "strong", "+000000000000005"])
    func refusesALevelThatNothingHas(text: String) {
        #expect(StatedFilter.SecurityLevel(text) == nil)
    }

    @Test(arguments: ["", "17.", "017", "256", "17.4.1.0", "17,4", "iOS 17", "-1", ".17"])
    func refusesAVersionThatNothingHas(text: String) {
        #expect(StatedFilter.OSVersion(text) == nil)
    }
}
