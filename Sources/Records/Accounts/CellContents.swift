import ByteCoding
import ContentKeys

/// What the bytes of a cell mean.
///
/// The encoding is that of `LedgerEntry`: numbers, signed numbers and texts as there, pseudonyms as 32 bytes. The first
/// byte is the version, 1. The fields of each kind follow in the order of `write(to:)`.
protocol CellContents {
    static var kind: CellKey.Kind { get }

    init(reading reader: inout LedgerFieldReader) throws(LedgerEntryError)
    func write(to writer: inout LedgerFieldWriter)

    /// When the last part ends; nil if there is no part.
    var end: Int64? { get }
    /// The subject in whose lists the cell is found.
    var owner: Pseudonym? { get }
}

extension CellContents {
    var owner: Pseudonym? { nil }

    init(parsing bytes: [UInt8]) throws(StoreError) {
        do {
            var reader = LedgerFieldReader(bytes)
            guard try reader.readUInt8() == cellVersion else { throw StoreError.recordMalformed }
            try self.init(reading: &reader)
            try reader.finish()
        } catch {
            throw .recordMalformed
        }
    }

    func encoded() -> [UInt8] {
        var writer = LedgerFieldWriter()
        writer.write(cellVersion)
        write(to: &writer)
        return writer.bytes
    }
}

private let cellVersion: UInt8 = 1

/// A request that was decided.
struct KnownRequest: CellContents, Equatable {
    static let kind = CellKey.Kind.request
    static let answerSizeMaximum = 1024

    /// Whether a node's ledger is known to have the entry.
    var isRecorded: Bool
    /// Whether a repeated request has got the answer. The node that got it may have given the license.
    var isHandedOut: Bool
    /// Until when the request gets the same answer again.
    var retryUntil: Int64
    var keptUntil: Int64
    var answer: [UInt8]

    var end: Int64? { keptUntil }
}

extension KnownRequest {
    init(reading reader: inout LedgerFieldReader) throws(LedgerEntryError) {
        isRecorded = try reader.readFlag()
        isHandedOut = try reader.readFlag()
        retryUntil = try reader.readSigned()
        keptUntil = try reader.readSigned()
        answer = []
        for _ in 0..<(try reader.readCount(maximum: Self.answerSizeMaximum)) { answer.append(try reader.readUInt8()) }
    }

    func write(to writer: inout LedgerFieldWriter) {
        writer.write(flag: isRecorded)
        writer.write(flag: isHandedOut)
        writer.write(signed: retryUntil)
        writer.write(signed: keptUntil)
        writer.write(number: UInt64(answer.count))
        for byte in answer { writer.write(byte) }
    }
}

/// How often a token was used for one key.
struct UseCount: CellContents, Equatable {
    static let kind = CellKey.Kind.uses

    var uses: UInt32
    var keptUntil: Int64

    /// Returns the name of the cell. It differs for each token and key, because the second half of its pseudonym tells
    /// a token apart from all others.
    static func name(_ token: Pseudonym, _ keyID: KeyID) -> Pseudonym {
        let (first, key) = (token.firstHalf, keyID.words)
        return Pseudonym(Bytes32(Bytes16(high: first.high ^ key.high, low: first.low ^ key.low), token.secondHalf))
    }

    var end: Int64? { uses > 0 ? keptUntil : nil }
}

extension UseCount {
    init(reading reader: inout LedgerFieldReader) throws(LedgerEntryError) {
        uses = try reader.readUInt32()
        keptUntil = try reader.readSigned()
    }

    func write(to writer: inout LedgerFieldWriter) {
        writer.write(number: UInt64(uses))
        writer.write(signed: keptUntil)
    }
}

/// The devices of a subject or token, the oldest first.
struct DeviceList: CellContents, Equatable {
    static let kind = CellKey.Kind.devices

    var devices: [KnownDevice] = []

    var end: Int64? { devices.map { $0.keptUntil ?? .max }.max() }
}

extension DeviceList {
    init(reading reader: inout LedgerFieldReader) throws(LedgerEntryError) {
        for _ in 0..<(try reader.readCount(maximum: AccountRules.devicesMaximum)) {
            devices.append(
                KnownDevice(
                    device: try reader.readPseudonym(), addedAt: try reader.readSigned(),
                    seenAt: try reader.readSigned(), keptUntil: try reader.readEnd()))
        }
    }

    func write(to writer: inout LedgerFieldWriter) {
        writer.write(number: UInt64(devices.count))
        for device in devices {
            writer.write(device.device)
            writer.write(signed: device.addedAt)
            writer.write(signed: device.seenAt)
            writer.write(end: device.keptUntil)
        }
    }
}

/// The playbacks of a group.
struct PlaybackList: CellContents, Equatable {
    static let kind = CellKey.Kind.playbacks

    /// The subject and the group's name, for lists; nil if no claim has told them.
    var group: Group?
    var slots: [SlotGroup.Slot] = []
    /// The playbacks that have lost their slots, in the order in which they are forgotten.
    var evicted: [SlotGroup.Slot] = []

    struct Group: Equatable {
        let owner: Pseudonym
        let name: String
    }

    var owner: Pseudonym? { group?.owner }
    var end: Int64? { (slots + evicted).map(\.heldUntil).max() }
}

extension PlaybackList {
    private static let nameSizeMaximum = 200

    init(reading reader: inout LedgerFieldReader) throws(LedgerEntryError) {
        if try reader.readFlag() {
            group = Group(
                owner: try reader.readPseudonym(), name: try reader.readText(sizeMaximum: Self.nameSizeMaximum))
        }
        for _ in 0..<(try reader.readCount(maximum: AccountRules.slotsMaximum)) {
            slots.append(try Self.readSlot(&reader))
        }
        for _ in 0..<(try reader.readCount(maximum: AccountRules.evictedMaximum)) {
            evicted.append(try Self.readSlot(&reader))
        }
    }

    private static func readSlot(_ reader: inout LedgerFieldReader) throws(LedgerEntryError) -> SlotGroup.Slot {
        let number = try reader.readSigned()
        let flags = try reader.readUInt8()
        guard flags < 64 else { throw .notCanonical }
        let (device, content) = (try reader.readPseudonym(), try reader.readPseudonym())
        let session = flags & 4 != 0 ? try reader.readFixedUInt64() : nil
        var former: [UInt64] = []
        for _ in 0..<(try reader.readCount(maximum: AccountRules.formerMaximum)) {
            former.append(try reader.readFixedUInt64())
        }
        let screen = flags & 32 != 0 ? try readScreen(&reader) : nil
        return SlotGroup.Slot(
            number: number, device: device, session: session, formerSessions: former, screen: screen,
            content: content, contentName: flags & 8 != 0 ? try reader.readText(sizeMaximum: nameSizeMaximum) : nil,
            isCounted: flags & 1 != 0, isConfirmed: flags & 2 != 0, isEnded: flags & 16 != 0,
            heldUntil: try reader.readSigned())
    }

    private static func readScreen(
        _ reader: inout LedgerFieldReader
    ) throws(LedgerEntryError) -> SlotGroup.Slot.Screen {
        let device = try reader.readPseudonym()
        return SlotGroup.Slot.Screen(
            device: device, session: try reader.readFlag() ? try reader.readFixedUInt64() : nil)
    }

    func write(to writer: inout LedgerFieldWriter) {
        writer.write(flag: group != nil)
        if let group {
            writer.write(group.owner)
            writer.write(group.name, sizeMaximum: Self.nameSizeMaximum)
        }
        for list in [slots, evicted] {
            writer.write(number: UInt64(list.count))
            for slot in list { Self.write(slot, to: &writer) }
        }
    }

    private static func write(_ slot: SlotGroup.Slot, to writer: inout LedgerFieldWriter) {
        writer.write(signed: slot.number)
        writer.write(
            UInt8(
                (slot.isCounted ? 1 : 0) | (slot.isConfirmed ? 2 : 0) | (slot.session == nil ? 0 : 4)
                    | (slot.contentName == nil ? 0 : 8) | (slot.isEnded ? 16 : 0) | (slot.screen == nil ? 0 : 32)))
        writer.write(slot.device)
        writer.write(slot.content)
        if let session = slot.session { writer.write(session) }
        writer.write(number: UInt64(slot.formerSessions.count))
        for session in slot.formerSessions { writer.write(session) }
        if let screen = slot.screen {
            writer.write(screen.device)
            writer.write(flag: screen.session != nil)
            if let session = screen.session { writer.write(session) }
        }
        if let name = slot.contentName { writer.write(name, sizeMaximum: nameSizeMaximum) }
        writer.write(signed: slot.heldUntil)
    }
}

/// The newest token that a session has used.
struct SessionStanding: CellContents, Equatable {
    static let kind = CellKey.Kind.session

    var generation: UInt32
    var keptUntil: Int64

    var end: Int64? { keptUntil }
}

extension SessionStanding {
    init(reading reader: inout LedgerFieldReader) throws(LedgerEntryError) {
        generation = try reader.readUInt32()
        keptUntil = try reader.readSigned()
    }

    func write(to writer: inout LedgerFieldWriter) {
        writer.write(number: UInt64(generation))
        writer.write(signed: keptUntil)
    }
}

/// A rental.
struct StoredRental: CellContents, Equatable {
    static let kind = CellKey.Kind.rental
    private static let contentSizeMaximum = 200

    var subject: Pseudonym
    var content: String
    var record: RentalRecord
    /// Whether another license than the one that changed the record was computed from it.
    var isShared: Bool
    var keptUntil: Int64

    var owner: Pseudonym? { subject }
    var end: Int64? { keptUntil }
}

extension StoredRental {
    init(reading reader: inout LedgerFieldReader) throws(LedgerEntryError) {
        subject = try reader.readPseudonym()
        content = try reader.readText(sizeMaximum: Self.contentSizeMaximum)
        record = RentalRecord(openedAt: try reader.readSigned(), firstPlay: try reader.readEnd())
        isShared = try reader.readFlag()
        keptUntil = try reader.readSigned()
    }

    func write(to writer: inout LedgerFieldWriter) {
        writer.write(subject)
        writer.write(content, sizeMaximum: Self.contentSizeMaximum)
        writer.write(signed: record.openedAt)
        writer.write(end: record.firstPlay)
        writer.write(flag: isShared)
        writer.write(signed: keptUntil)
    }
}

/// The open challenges of a holder.
struct ChallengeList: CellContents, Equatable {
    static let kind = CellKey.Kind.challenges
    static let countMaximum = 64

    var challenges: [OpenChallenge] = []

    struct OpenChallenge: Equatable {
        let challenge: UInt64
        let expiresAt: Int64
    }

    var end: Int64? { challenges.map(\.expiresAt).max() }
}

extension ChallengeList {
    init(reading reader: inout LedgerFieldReader) throws(LedgerEntryError) {
        for _ in 0..<(try reader.readCount(maximum: Self.countMaximum)) {
            challenges.append(
                OpenChallenge(challenge: try reader.readFixedUInt64(), expiresAt: try reader.readSigned()))
        }
    }

    func write(to writer: inout LedgerFieldWriter) {
        writer.write(number: UInt64(challenges.count))
        for one in challenges {
            writer.write(one.challenge)
            writer.write(signed: one.expiresAt)
        }
    }
}

extension LedgerFieldWriter {
    mutating func write(flag: Bool) {
        write(UInt8(flag ? 1 : 0))
    }

    /// Writes 1 and a time, or 0 for none.
    mutating func write(end: Int64?) {
        write(flag: end != nil)
        if let end { write(signed: end) }
    }

    mutating func write(_ pseudonym: Pseudonym) {
        write(pseudonym.firstHalf)
        write(pseudonym.secondHalf)
    }
}

extension LedgerFieldReader {
    mutating func readFlag() throws(LedgerEntryError) -> Bool {
        switch try readUInt8() {
        case 0: false
        case 1: true
        default: throw .notCanonical
        }
    }

    mutating func readEnd() throws(LedgerEntryError) -> Int64? {
        try readFlag() ? try readSigned() : nil
    }

    mutating func readPseudonym() throws(LedgerEntryError) -> Pseudonym {
        let first = try readBytes16()
        return Pseudonym(Bytes32(first, try readBytes16()))
    }

    mutating func readCount(maximum: Int) throws(LedgerEntryError) -> Int {
        guard let count = Int(exactly: try readNumber()), count <= maximum else { throw .notCanonical }
        return count
    }
}
