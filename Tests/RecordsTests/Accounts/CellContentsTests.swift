import ByteCoding
import ContentKeys
import TestSupport
import Testing

@testable import Records

/// The encodings of cells.
@Suite struct CellContentsTests {
    private static func pseudonym(_ number: UInt64) -> Pseudonym { SampleDecisions.pseudonym(.owner, number) }

    private static func slot(_ number: Int64, full: Bool = true) -> SlotGroup.Slot {
        SlotGroup.Slot(
            number: number, device: pseudonym(1), session: full ? .max : nil,
            formerSessions: full ? [3, .max - 1] : [],
            screen: number < 0 ? nil : SlotGroup.Slot.Screen(device: pseudonym(4), session: full ? 9 : nil),
            content: pseudonym(2),
            contentName: full ? "movie" : nil, isCounted: full, isConfirmed: full, isEnded: full, heldUntil: 5)
    }

    private static func device(_ number: UInt64, keptUntil: Int64? = nil) -> KnownDevice {
        KnownDevice(device: pseudonym(number), addedAt: -1, seenAt: 2, keptUntil: keptUntil)
    }

    private static func requests(_ answerSize: Int) -> KnownRequest {
        KnownRequest(
            isRecorded: true, isHandedOut: answerSize > 0, retryUntil: .min, keptUntil: .max,
            answer: [UInt8](repeating: 7, count: answerSize))
    }

    private static func challenges(_ count: Int) -> ChallengeList {
        ChallengeList(
            challenges: (0..<count).map { ChallengeList.OpenChallenge(challenge: .max - UInt64($0), expiresAt: 3) })
    }

    private static let rental = StoredRental(
        subject: pseudonym(1), content: "movie", record: RentalRecord(openedAt: 5), isShared: false, keptUntil: 6)
    private static let group = PlaybackList.Group(owner: pseudonym(3), name: "all")

    /// A cell of each kind, with all of its parts and with few.
    private static let samples: [any CellContents & Equatable & Sendable] = [
        requests(3), requests(0), UseCount(uses: .max, keptUntil: -5), DeviceList(),
        DeviceList(devices: [device(1), device(2, keptUntil: .max)]), PlaybackList(), PlaybackList(group: group),
        PlaybackList(group: group, slots: [slot(1), slot(2, full: false)], evicted: [slot(-3)]),
        SessionStanding(generation: .max, keptUntil: 9), rental,
        StoredRental(
            subject: pseudonym(1), content: "0f0e0d0c-0b0a-0908-0706-050403020100",
            record: RentalRecord(openedAt: 5, firstPlay: -6), isShared: true, keptUntil: 6),
        challenges(0), challenges(2),
    ]

    /// Reads bytes as the kind of a sample, and writes them again.
    private func copy<Contents: CellContents>(_ bytes: [UInt8], as sample: Contents) throws(StoreError) -> [UInt8] {
        try Contents(parsing: bytes).encoded()
    }

    private func read<Contents: CellContents & Equatable>(_ sample: Contents) throws -> Bool {
        try Contents(parsing: sample.encoded()) == sample
    }

    @Test(arguments: samples.indices)
    func isReadAsItWasWritten(index: Int) throws {
        #expect(try read(Self.samples[index]))
    }

    @Test(arguments: samples.indices)
    func refusesEveryTruncationATrailingByteAndAnotherVersion(index: Int) {
        let sample = Self.samples[index]
        let bytes = sample.encoded()
        for wrong in bytes.indices.map({ Array(bytes.prefix($0)) }) + [bytes + [0], [2] + bytes.dropFirst()] {
            #expect(throws: StoreError.recordMalformed) { try copy(wrong, as: sample) }
        }
    }

    /// Whatever can be read is written in the same way.
    @Test(arguments: samples.indices)
    func hasOneEncoding(index: Int) {
        let sample = Self.samples[index]
        let bytes = sample.encoded()
        for place in bytes.indices {
            for bit in 0..<8 {
                var other = bytes
                other[place] ^= 1 << bit
                if let read = try? copy(other, as: sample) { #expect(read == other) }
            }
        }
    }

    @Test func refusesFlagsWithoutAMeaning() throws {
        func refuses(_ sample: some CellContents, at offset: Int, flag: UInt8, wrong: UInt8) throws {
            var bytes = sample.encoded()
            try #require(bytes[offset] == flag)
            bytes[offset] = wrong
            #expect(throws: StoreError.recordMalformed) { try copy(bytes, as: sample) }
        }
        try refuses(Self.requests(1), at: 1, flag: 1, wrong: 2)
        try refuses(DeviceList(devices: [Self.device(1)]), at: 36, flag: 0, wrong: 2)
        try refuses(PlaybackList(), at: 1, flag: 0, wrong: 2)
        try refuses(PlaybackList(slots: [Self.slot(1)]), at: 4, flag: 63, wrong: 127)
        try refuses(Self.rental, at: 40, flag: 0, wrong: 2)
    }

    @Test func refusesNumbersThatAreTooLarge() {
        let tooMany: [UInt8] = [1, 0x80, 0x80, 0x80, 0x80, 0x10, 0]
        #expect(throws: StoreError.recordMalformed) { try UseCount(parsing: tooMany) }
        #expect(throws: StoreError.recordMalformed) { try SessionStanding(parsing: tooMany) }
        #expect(throws: StoreError.recordMalformed) { try DeviceList(parsing: tooMany) }
    }

    @Test func refusesMoreEntriesThanACellMayHave() throws {
        func takes(_ limit: Int, _ cell: (Int) -> some CellContents) throws {
            let largest = cell(limit)
            #expect(try copy(largest.encoded(), as: largest) == largest.encoded())
            let larger = cell(limit + 1)
            #expect(throws: StoreError.recordMalformed) { try copy(larger.encoded(), as: larger) }
        }
        try takes(1024) { Self.requests($0) }
        try takes(512) { DeviceList(devices: (0..<$0).map { Self.device(UInt64($0)) }) }
        try takes(576) { PlaybackList(slots: (0..<$0).map { Self.slot(Int64($0)) }) }
        try takes(32) { PlaybackList(evicted: (0..<$0).map { Self.slot(Int64($0)) }) }
        try takes(64) { Self.challenges($0) }
    }

    @Test func cutsNamesToTheirSize() throws {
        let long = String(repeating: "n", count: 300)
        let list = PlaybackList(group: PlaybackList.Group(owner: Self.pseudonym(1), name: long))
        #expect(try PlaybackList(parsing: list.encoded()).group?.name == String(long.prefix(200)))
    }

    @Test func endsWithItsLastPart() {
        #expect(UseCount(uses: 0, keptUntil: 5).end == nil && UseCount(uses: 1, keptUntil: 5).end == 5)
        #expect(DeviceList(devices: [Self.device(1, keptUntil: 4), Self.device(2, keptUntil: 3)]).end == 4)
        #expect(DeviceList(devices: [Self.device(1), Self.device(2, keptUntil: 3)]).end == .max)
        #expect(DeviceList().end == nil && ChallengeList().end == nil && PlaybackList(group: Self.group).end == nil)
        #expect(PlaybackList(slots: [Self.slot(1)]).end == 5 && PlaybackList(evicted: [Self.slot(1)]).end == 5)
        #expect(PlaybackList(group: Self.group).owner == Self.pseudonym(3) && Self.rental.owner == Self.pseudonym(1))
    }
}
