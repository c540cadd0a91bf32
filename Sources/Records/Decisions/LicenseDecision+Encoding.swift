import ByteCoding

/// The encoding of what a decision spends, for the node's own use. Version 1.
///
///     size  field
///        1  version, 1
///       16  license
///    1...10  now, a signed number
///        1  which of the next four follow: 1 replay, 2 token use, 4 session token, 8 rental
///            replay: request (32), window and end (signed numbers), size of the answer (a number), answer
///            token use: token (32), key id (16), limit (a number), end (a signed number)
///            session token: session (32), generation (a number), end (a signed number)
///            rental: name (32), owner (32), content (a text), known record, new record,
///            end (a signed number)
///            each record: 0 if there is none; 1 and the opening; or 2, the opening and the first play (signed numbers)
///    1...10  how many device places, a number
///            each: owner (32), device (32), limit (a number), 1 and the end (a signed number) or 0, kind (1)
///    1...10  how many slot claims, a number
///            each: group (32), limit (a number), flags (1), device (32), content (32), session (a number),
///            end (a signed number)
///
/// Numbers, signed numbers, texts and key ids are encoded as in `LedgerEntry`. The flags of a slot are: 1 evicts the
/// oldest, 2 is confirmed, 4 is relayed, 8 has a session.
extension LicenseDecision {
    private static let version: UInt8 = 1
    private static let listCountMaximum = 64

    /// Encodes the decision without its ledger entry.
    package func encodedSpending() -> [UInt8] {
        var writer = LedgerFieldWriter()
        writer.write(Self.version)
        writer.write(entry.license.bytes)
        writer.write(signed: now)
        writer.write(
            UInt8(
                (replay == nil ? 0 : 1) | (tokenUse == nil ? 0 : 2) | (sessionTokenUse == nil ? 0 : 4)
                    | (rental == nil ? 0 : 8)))
        if let replay { writer.write(replay) }
        if let tokenUse { writer.write(tokenUse) }
        if let sessionTokenUse { writer.write(sessionTokenUse) }
        if let rental { writer.write(rental) }
        writer.write(number: UInt64(devicePlaces.count))
        for place in devicePlaces { writer.write(place) }
        writer.write(number: UInt64(slotClaims.count))
        for claim in slotClaims { writer.write(claim) }
        return writer.bytes
    }

    /// Reads the bytes of `encodedSpending`. The entry has only the license and the time of the decision.
    package init(parsingSpending bytes: [UInt8]) throws(LedgerEntryError) {
        var reader = LedgerFieldReader(bytes)
        let version = try reader.readUInt8()
        guard version == Self.version else { throw .unsupportedVersion(version) }
        let license = LicenseID(try reader.readBytes16())
        let now = try reader.readSigned()
        self.init(now: now, entry: LedgerEntry(kind: .licenseIssued, at: now, license: license))
        let parts = try reader.readUInt8()
        guard parts < 16 else { throw .notCanonical }
        if parts & 1 != 0 { replay = try reader.readReplay() }
        if parts & 2 != 0 { tokenUse = try reader.readTokenUse() }
        if parts & 4 != 0 { sessionTokenUse = try reader.readSessionTokenUse() }
        if parts & 8 != 0 { rental = try reader.readRental() }
        for _ in 0..<(try reader.readCount(maximum: Self.listCountMaximum)) {
            devicePlaces.append(try reader.readDevicePlace())
        }
        for _ in 0..<(try reader.readCount(maximum: Self.listCountMaximum)) {
            slotClaims.append(try reader.readSlotClaim())
        }
        try reader.finish()
    }
}

extension LedgerFieldWriter {
    fileprivate mutating func write(_ claim: RentalClaim) {
        write(claim.name)
        write(claim.owner)
        write(claim.content, sizeMaximum: 200)
        write(claim.known)
        write(claim.record)
        write(signed: claim.keptUntil)
    }

    private mutating func write(_ record: RentalRecord?) {
        guard let record else { return write(UInt8(0)) }
        write(UInt8(record.firstPlay == nil ? 1 : 2))
        write(signed: record.openedAt)
        if let firstPlay = record.firstPlay { write(signed: firstPlay) }
    }

    fileprivate mutating func write(_ replay: ReplayRecord) {
        write(replay.request)
        write(signed: replay.retryWindow)
        write(signed: replay.keptUntil)
        write(number: UInt64(replay.answer.count))
        for byte in replay.answer { write(byte) }
    }

    fileprivate mutating func write(_ use: TokenUse) {
        write(use.token)
        write(use.keyID.words)
        write(number: UInt64(use.limit))
        write(signed: use.keptUntil)
    }

    fileprivate mutating func write(_ use: SessionTokenUse) {
        write(use.session)
        write(number: UInt64(use.generation))
        write(signed: use.keptUntil)
    }

    fileprivate mutating func write(_ place: DevicePlace) {
        write(place.owner)
        write(place.device)
        write(number: UInt64(place.limit))
        write(end: place.keptUntil)
        write(place.kind.rawValue)
    }

    fileprivate mutating func write(_ claim: SlotClaim) {
        let playback = claim.playback
        write(claim.group)
        write(number: UInt64(claim.limit))
        write(
            UInt8(
                (claim.whenFull == .evictOldest ? 1 : 0) | (claim.isConfirmed ? 2 : 0) | (playback.isRelayed ? 4 : 0)
                    | (playback.session == nil ? 0 : 8)))
        write(playback.device)
        write(playback.content)
        if let session = playback.session { write(number: session) }
        write(signed: claim.heldUntil)
    }
}

extension LedgerFieldReader {
    fileprivate mutating func readRental() throws(LedgerEntryError) -> RentalClaim {
        let (name, owner) = (try readPseudonym(), try readPseudonym())
        let text = try readText(sizeMaximum: 200)
        let known = try readRentalRecord()
        guard let record = try readRentalRecord() else { throw .notCanonical }
        return RentalClaim(
            name: name, owner: owner, content: text, known: known, record: record, keptUntil: try readSigned())
    }

    private mutating func readRentalRecord() throws(LedgerEntryError) -> RentalRecord? {
        switch try readUInt8() {
        case 0: return nil
        case 1: return RentalRecord(openedAt: try readSigned())
        case 2: return RentalRecord(openedAt: try readSigned(), firstPlay: try readSigned())
        default: throw .notCanonical
        }
    }

    fileprivate mutating func readReplay() throws(LedgerEntryError) -> ReplayRecord {
        let request = try readPseudonym()
        let (window, end) = (try readSigned(), try readSigned())
        var answer: [UInt8] = []
        for _ in 0..<(try readCount(maximum: KnownRequest.answerSizeMaximum)) { answer.append(try readUInt8()) }
        return ReplayRecord(request: request, retryWindow: window, keptUntil: end, answer: answer)
    }

    fileprivate mutating func readTokenUse() throws(LedgerEntryError) -> TokenUse {
        let (token, keyID) = (try readPseudonym(), KeyID(words: try readBytes16()))
        return TokenUse(token: token, keyID: keyID, limit: try readUInt32(), keptUntil: try readSigned())
    }

    fileprivate mutating func readSessionTokenUse() throws(LedgerEntryError) -> SessionTokenUse {
        let session = try readPseudonym()
        return SessionTokenUse(session: session, generation: try readUInt32(), keptUntil: try readSigned())
    }

    fileprivate mutating func readDevicePlace() throws(LedgerEntryError) -> DevicePlace {
        let (owner, device) = (try readPseudonym(), try readPseudonym())
        let limit = try readUInt32()
        let end = try readEnd()
        guard let kind = DevicePlace.Kind(rawValue: try readUInt8()) else { throw .notCanonical }
        return DevicePlace(owner: owner, device: device, limit: limit, keptUntil: end, kind: kind)
    }

    fileprivate mutating func readSlotClaim() throws(LedgerEntryError) -> SlotClaim {
        let group = try readPseudonym()
        let limit = try readUInt32()
        let flags = try readUInt8()
        guard flags < 16 else { throw .notCanonical }
        let (device, content) = (try readPseudonym(), try readPseudonym())
        let session = flags & 8 != 0 ? try readNumber() : nil
        return SlotClaim(
            group: group, limit: limit, whenFull: flags & 1 != 0 ? .evictOldest : .denyNew,
            playback: SlotClaim.Playback(
                device: device, session: session, content: content, isRelayed: flags & 4 != 0),
            isConfirmed: flags & 2 != 0, heldUntil: try readSigned())
    }
}
