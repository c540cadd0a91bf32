import ByteCoding
import KeyCrypto
import TestSupport

@testable import Records

/// Makes entries and chains for tests.
enum LedgerSamples {
    static let at: Int64 = 1_700_000_000

    static func chain(keyByte: UInt8 = 0x5A, node: String = "node-1") throws -> LedgerChain {
        let secret = SecretBytes(copying: [UInt8](repeating: keyByte, count: 32))
        return LedgerChain(key: try HMACSHA256Key(secret), node: try NodeID(node))
    }

    /// The entry of a typical streaming license.
    static func license(_ number: UInt64 = 1) -> LedgerEntry {
        var entry = LedgerEntry(
            kind: .licenseIssued, at: at,
            license: LicenseID(milliseconds: UInt64(at) * 1000 + 250, random: Bytes16(high: number, low: number)),
            keyID: KeyID(words: Bytes16(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)),
            content: "movie-10042", detail: "streaming")
        entry.subject = Pseudonym(short: Bytes16(high: 1, low: 2))
        entry.device = Pseudonym(short: Bytes16(high: 3, low: 4))
        entry.tokenID = "6f1c0f54-3b7a-4d5f-8f7e-0a1b2c3d4e5f"
        (entry.lease, entry.until) = (600, at + 600)
        return entry
    }

    static func any(using generator: inout SeededGenerator) -> LedgerEntry {
        let id = Bytes16(generator.bytes(count: 16), at: 0)
        let license = LicenseID(id)
        var entry = LedgerEntry(
            kind: LedgerEntry.Kind.allCases.randomElement(using: &generator) ?? .revoked, at: 0, license: license)
        entry.at =
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: Int64(license.milliseconds / 1000)
            case 1: Int64.random(in: .min ... .max, using: &generator)
            default: at
            }
        entry.previous = maybe(using: &generator) { LicenseID(Bytes16($0.bytes(count: 16), at: 0)) }
        entry.keyID = maybe(using: &generator) { KeyID(words: Bytes16($0.bytes(count: 16), at: 0)) }
        entry.content = maybe(using: &generator) { text(upTo: 200, using: &$0) }
        entry.subject = maybe(using: &generator) { Pseudonym(short: Bytes16($0.bytes(count: 16), at: 0)) }
        entry.device = maybe(using: &generator) { Pseudonym(short: Bytes16($0.bytes(count: 16), at: 0)) }
        entry.tokenID = maybe(using: &generator) { text(upTo: 64, using: &$0) }
        entry.cookie = maybe(using: &generator) { text(upTo: 64, using: &$0) }
        entry.detail = text(upTo: 64, using: &generator)
        entry.lease = maybe(using: &generator) { number(using: &$0) }
        entry.rental = maybe(using: &generator) { number(using: &$0) }
        entry.until = maybe(using: &generator) { Int64.random(in: .min ... .max, using: &$0) }
        entry.playback = maybe(using: &generator) { number(using: &$0) }
        entry.renewAfter = maybe(using: &generator) { Int64.random(in: .min ... .max, using: &$0) }
        guard Bool.random(using: &generator) else { return entry.bounded }
        entry.actor = maybe(using: &generator) { text(upTo: 64, using: &$0) }
        entry.request = maybe(using: &generator) { text(upTo: 64, using: &$0) }
        entry.report = maybe(using: &generator) { generator in
            DeviceReport(
                flags: UInt64.random(in: .min ... .max, using: &generator),
                titleID: Bytes16(generator.bytes(count: 16), at: 0),
                streamIDs: (0..<Int.random(in: 0..<4, using: &generator)).map { _ in
                    Bytes16(generator.bytes(count: 16), at: 0)
                })
        }
        guard Bool.random(using: &generator) else { return entry.bounded }
        for name in RefusalFacts.Name.allCases {
            entry.facts[name] = maybe(using: &generator) { text(upTo: 64, using: &$0) }
        }
        entry.stated = maybe(using: &generator) { summary(using: &$0) }
        return entry.bounded
    }

    /// Any summary, of known and of unknown devices.
    static func summary(using generator: inout SeededGenerator) -> DeviceSummary {
        var summary = DeviceSummary(
            versions: .init(
                used: UInt32.random(in: 0...20, using: &generator), newest: UInt32.random(in: 0...20, using: &generator)
            ))
        summary.securityLevel = maybe(using: &generator) { generator in
            [.audio, .baseline, .main, .other(.random(in: 0 ... .max, using: &generator))]
                .randomElement(using: &generator) ?? .main
        }
        if Bool.random(using: &generator) {
            summary.deviceClass = maybe(using: &generator) { number(using: &$0) }
        } else {
            summary.deviceType = maybe(using: &generator) { UInt64.random(in: 0 ... .max, using: &$0) }
        }
        summary.operatingSystem = maybe(using: &generator) { UInt32.random(in: 0...0xFF_FFFF, using: &$0) }
        summary.denyList = maybe(using: &generator) { UInt16.random(in: 0 ... .max, using: &$0) }
        summary.capabilities = maybe(using: &generator) { UInt16.random(in: 0 ... .max, using: &$0) }
        summary.output = DeviceSummary.Output.allCases.randomElement(using: &generator) ?? .local
        summary.playback = maybe(using: &generator) { DeviceSummary.Playback.allCases.randomElement(using: &$0) } ?? nil
        summary.machine = maybe(using: &generator) { DeviceSummary.Machine.allCases.randomElement(using: &$0) } ?? nil
        return summary
    }

    private static func maybe<Value>(
        using generator: inout SeededGenerator, _ make: (inout SeededGenerator) -> Value
    ) -> Value? {
        Bool.random(using: &generator) ? make(&generator) : nil
    }

    private static func number(using generator: inout SeededGenerator) -> UInt32 {
        UInt32.random(in: .min ... .max, using: &generator) >> UInt32.random(in: 0..<32, using: &generator)
    }

    private static func text(upTo size: Int, using generator: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: ""
        case 1: KeyID(words: Bytes16(generator.bytes(count: 16), at: 0)).description
        case 2: String(repeating: "é€𝄞a", count: Int.random(in: 1...size, using: &generator))
        default: String(decoding: generator.bytes(count: size).map { $0 & 0x3F | 0x20 }, as: UTF8.self)
        }
    }
}
