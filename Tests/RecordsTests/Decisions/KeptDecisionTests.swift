import ByteCoding
import ContentKeys
import Testing

@testable import Records

/// Tests of the encoding of decisions that a node keeps.
@Suite struct KeptDecisionTests {
    private static func pseudonym(_ number: UInt8) -> Pseudonym? { Pseudonym([UInt8](repeating: number, count: 32)) }

    private static func license(_ now: Int64) -> LedgerEntry {
        LedgerEntry(kind: .licenseIssued, at: now, license: LicenseID(Bytes16(high: 3, low: 4)))
    }

    /// Returns a decision with all parts, or with none.
    private static func decision(isFull: Bool) throws -> LicenseDecision {
        var decision = LicenseDecision(now: 1_700_000_000, entry: license(1_700_000_000))
        guard isFull else { return decision }
        let names = try (1...8 as ClosedRange<UInt8>).map { try #require(pseudonym($0)) }
        decision.replay = ReplayRecord(
            request: names[0], retryWindow: 120, keptUntil: .max, answer: [UInt8](0..<18))
        decision.tokenUse = TokenUse(
            token: names[2], keyID: KeyID(words: Bytes16(high: 1, low: 2)), limit: .max, keptUntil: -1)
        decision.sessionTokenUse = SessionTokenUse(session: names[3], generation: 0, keptUntil: 5)
        decision.devicePlaces = [
            DevicePlace(owner: names[4], device: names[5], limit: 1, keptUntil: nil),
            DevicePlace(owner: names[5], device: names[4], limit: 0, keptUntil: 9),
        ]
        for (session, mode) in [(nil, SlotClaim.WhenFull.denyNew), (UInt64.max, .evictOldest)] as [(UInt64?, _)] {
            decision.slotClaims.append(
                SlotClaim(
                    group: names[6], limit: 2, whenFull: mode,
                    playback: .init(device: names[7], session: session, content: names[0], isRelayed: session == nil),
                    isConfirmed: session != nil, heldUntil: 77))
        }
        return decision
    }

    @Test(arguments: [true, false])
    func isReadAsItWasWritten(isFull: Bool) throws {
        let decision = try Self.decision(isFull: isFull)
        let read = try LicenseDecision(parsingSpending: decision.encodedSpending())
        #expect(read.now == decision.now && read.entry == decision.entry)
        #expect(read.replay == decision.replay && read.tokenUse == decision.tokenUse)
        #expect(read.sessionTokenUse == decision.sessionTokenUse)
        #expect(read.devicePlaces == decision.devicePlaces && read.slotClaims == decision.slotClaims)
    }

    @Test func refusesEveryTruncationAndTrailingBytes() throws {
        let bytes = try Self.decision(isFull: true).encodedSpending()
        #expect(bytes.count > 500)
        for count in bytes.indices {
            #expect(throws: LedgerEntryError.self) {
                try LicenseDecision(parsingSpending: Array(bytes.prefix(count)))
            }
        }
        #expect(throws: LedgerEntryError.notCanonical) { try LicenseDecision(parsingSpending: bytes + [0]) }
        #expect(throws: LedgerEntryError.unsupportedVersion(2)) {
            try LicenseDecision(parsingSpending: [2] + bytes.dropFirst())
        }
    }

    /// A row has a mark if its license was not counted. The name of its validity does not change.
    @Test func marksARowThatWasNotCounted() throws {
        var entry = Self.license(5)
        entry.detail = "lease"
        #expect(!entry.isUncounted && entry.validityName == "lease")
        let marked = entry.uncounted
        #expect(marked.isUncounted && marked.validityName == "lease" && marked.detail == "lease uncounted")
        #expect(marked.uncounted == marked)
        #expect(try LedgerEntry(parsing: marked.encoded()) == marked)
    }
}
