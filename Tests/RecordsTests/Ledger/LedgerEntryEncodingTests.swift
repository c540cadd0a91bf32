import ByteCoding
import TestSupport
import Testing

@testable import Records

@Suite struct LedgerEntryEncodingTests {
    /// The size of the longest encoding, in bytes.
    private static let encodedSizeMaximum =
        6 + 16 + 10 + 16 + 16 + 201 + 2 * 16 + 5 * 65 + 3 * 5 + 2 * 10 + 25 + 3 * 16
        + 1 + RefusalFacts.Name.allCases.reduce(0) { $0 + 2 + $1.sizeMaximum } + DeviceSummary.sizeMaximum

    @Test func isAsDocumented() throws {
        var entry = LedgerEntry(
            kind: .licenseRenewed, at: 1_700_000_000,
            license: LicenseID(
                milliseconds: 1_700_000_000_250, random: Bytes16(high: 0xFFFF_FFFF_FFFF_0A0B, low: 0x0C)),
            content: "m", detail: "x")
        entry.tokenID = "00112233-4455-6677-8899-aabbccddeeff"
        (entry.lease, entry.until) = (300, 1_699_999_999)
        let parts = [
            "01 02 00000548", "018bcfe568fa 0a0b 000000000000000c", "01 6d", "ff 00112233445566778899aabbccddeeff",
            "01 78",
            "ac02", "01",
        ]
        #expect(Hexadecimal.encode(entry.encoded()) == parts.joined().filter { $0 != " " })
    }

    @Test func saysWhatAnAppWasToldOfItsLicense() {
        var entry = LedgerEntry(
            kind: .licenseIssued, at: 1_700_000_000, license: LicenseID(milliseconds: 1_700_000_000_250, random: .zero),
            detail: "x")
        entry.lease = 300
        entry.playback = 300
        entry.renewAfter = 1_700_000_200
        let parts = ["01 01 00001900", "018bcfe568fa 0000 0000000000000000", "01 78", "ac02", "ac02", "9003"]
        #expect(Hexadecimal.encode(entry.encoded()) == parts.joined().filter { $0 != " " })
    }

    @Test func typicalLicenseIsSmall() {
        #expect(LedgerSamples.license().encoded().count == 113)
    }

    @Test func readsBackWhatItWrote() throws {
        var generator = SeededGenerator.announced("readsBackWhatItWrote")
        for _ in 0..<2000 {
            let entry = LedgerSamples.any(using: &generator)
            let bytes = entry.encoded()
            #expect(bytes.count <= Self.encodedSizeMaximum)
            #expect(try LedgerEntry(parsing: bytes) == entry)
        }
    }

    /// Every entry has only one encoding, so altered bytes are refused or mean another entry.
    @Test func everyReadableEncodingIsTheOnlyOne() throws {
        var generator = SeededGenerator.announced("everyReadableEncodingIsTheOnlyOne")
        var readCount = 0
        for _ in 0..<5000 {
            var bytes = LedgerSamples.any(using: &generator).encoded()
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            guard let entry = try? LedgerEntry(parsing: bytes) else { continue }
            readCount += 1
            #expect(entry.encoded() == bytes)
        }
        #expect(readCount > 1000)
    }

    @Test func refusesEveryTruncationAndTrailingBytes() throws {
        var generator = SeededGenerator.announced("refusesEveryTruncationAndTrailingBytes")
        for _ in 0..<50 {
            let bytes = LedgerSamples.any(using: &generator).encoded()
            for size in bytes.indices {
                #expect(throws: LedgerEntryError.truncated) { try LedgerEntry(parsing: Array(bytes.prefix(size))) }
            }
            #expect(throws: LedgerEntryError.notCanonical) { try LedgerEntry(parsing: bytes + [0]) }
        }
    }

    @Test(arguments: [
        ("an unknown kind", "01 63 00000000 018bcfe568fa00000000000000000000 00"),
        ("an unknown flag", "01 01 00040000 018bcfe568fa00000000000000000000 00"),
        ("the second of the license's id as a time", "01 01 00000001 018bcfe568fa00000000000000000000 80c49fd50c 00"),
        ("a number with a superfluous last byte", "01 01 00000100 018bcfe568fa00000000000000000000 00 8100"),
        ("a lease beyond 32 bits", "01 01 00000100 018bcfe568fa00000000000000000000 00 8080808010"),
        ("a number beyond 64 bits", "01 01 00000400 018bcfe568fa00000000000000000000 00 ffffffffffffffffff02"),
        ("a number without an end", "01 01 00000400 018bcfe568fa00000000000000000000 00 ffffffffffffffffffff01"),
        (
            "a detail that is too long",
            "01 01 00000000 018bcfe568fa00000000000000000000 41" + String(repeating: "61", count: 65)
        ),
        ("a text that is not UTF-8", "01 01 00000000 018bcfe568fa00000000000000000000 01 c3"),
        (
            "a UUID as a text",
            "01 01 00000000 018bcfe568fa00000000000000000000 24"
                + "30303030303030302d303030302d303030302d303030302d303030303030303030303030"
        ),
    ])
    func refuses(what: String, digits: String) throws {
        let bytes = try Hexadecimal.decode(digits.filter { $0 != " " })
        #expect(throws: LedgerEntryError.notCanonical, "\(what)") { try LedgerEntry(parsing: bytes) }
    }

    @Test func refusesAnotherVersion() {
        var bytes = LedgerSamples.license().encoded()
        bytes[0] = 2
        #expect(throws: LedgerEntryError.unsupportedVersion(2)) { try LedgerEntry(parsing: bytes) }
    }

    @Test func saysWhoDidWhat() throws {
        var entry = LedgerEntry(
            kind: .keyWithdrawn, at: 1_700_000_000, license: LicenseID(milliseconds: 1_700_000_000_250, random: .zero),
            content: "m")
        entry.actor = "user:eve"
        let parts = ["01 23 00002008", "018bcfe568fa 0000 0000000000000000", "01 6d", "00", "08 757365723a657665"]
        #expect(Hexadecimal.encode(entry.encoded()) == parts.joined().filter { $0 != " " })
        #expect(try LedgerEntry(parsing: entry.encoded()) == entry)
    }

    /// Each issuer chooses the ids of its tokens, so an id without a subject needs the issuer.
    @Test func saysWhoseTokenItWas() throws {
        var entry = LedgerSamples.license()
        (entry.subject, entry.issuer) = (nil, "https://portal.example")
        #expect(try LedgerEntry(parsing: entry.encoded()).issuer == "https://portal.example")
        #expect(try LedgerEntry(parsing: LedgerSamples.license().encoded()).issuer == nil)
    }

    @Test func keepsAllThatADeviceReports() throws {
        var entry = LedgerSamples.license()
        entry.kind = .syncReportAccepted
        let streams = (0..<251).map { Bytes16(high: 5, low: $0) }
        entry.report = DeviceReport(flags: 1 << 63 | 1, titleID: Bytes16(high: 3, low: 4), streamIDs: streams)
        let read = try LedgerEntry(parsing: entry.encoded())
        #expect(read.report?.flags == 1 << 63 | 1 && read.report?.titleID == Bytes16(high: 3, low: 4))
        #expect(read.report?.streamIDs == Array(streams.prefix(250)) && read == entry.bounded)
    }

    @Test func cutsLongTextsAtTheEndOfACharacter() throws {
        var entry = LedgerSamples.license()
        entry.cookie = String(repeating: "a", count: 63) + "é"
        entry.content = String(repeating: "€", count: 67)
        let read = try LedgerEntry(parsing: entry.encoded())
        #expect(read.cookie == String(repeating: "a", count: 63))
        #expect(read.content == String(repeating: "€", count: 66))
        #expect(read == entry.bounded)
    }

    @Test func keepsHalfOfAPseudonym() throws {
        var entry = LedgerSamples.license()
        entry.subject = Pseudonym([UInt8](0..<32))
        let read = try LedgerEntry(parsing: entry.encoded())
        #expect(read.subject?.bytes == [UInt8](0..<16) + [UInt8](repeating: 0, count: 16))
    }
}
