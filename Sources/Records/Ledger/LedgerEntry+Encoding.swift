import ByteCoding

/// The encoding of an entry, which a ledger stores, seals and ships.
///
///     size  field
///        1  version, 1
///        1  kind
///        4  flags, below, big-endian; all other bits are 0
///       16  license
///    1...10  time, as a signed number; only with flag 0x0001, otherwise it is the second in the license's id
///       16  previous license                      flag 0x0002
///       16  key id                                flag 0x0004
///   1...201  content, a text of at most 200 bytes  flag 0x0008
///       16  subject, half a pseudonym             flag 0x0010
///       16  device, half a pseudonym              flag 0x0020
///    1...65  token id, a text of at most 64 bytes  flag 0x0040
///    1...65  cookie, a text of at most 64 bytes    flag 0x0080
///    1...65  detail, a text of at most 64 bytes
///     1...5  lease, a number                       flag 0x0100
///     1...5  rental, a number                      flag 0x0200
///    1...10  end less time, as a signed number     flag 0x0400
///     1...5  playback, a number                    flag 0x0800
///    1...10  renewal less time, as a signed number flag 0x1000
///    1...65  actor, a text of at most 64 bytes     flag 0x2000
///    1...65  request id, a text of at most 64 bytes flag 0x4000
///        25  a device's report: flags (8), title id (16), number of stream ids (1); then 16 bytes for each;
///            flag 0x8000
///        1  number of facts, at least 1, in the order of their names; for each its name (1) and a text of at most 64,
///            128 (issuer, content of the player) or 192 bytes (found, expected, cause); flag 0x10000
///    6...22  `DeviceSummary`                        flag 0x20000
///
/// A number has seven bits in each byte, the lowest first, and the top bit set in every byte but the last. The last
/// byte is zero only in the number 0. A signed number n is the number 2n, or -2n - 1 if it is negative. A difference of
/// two times wraps at 64 bits. A text is its size in one byte, followed by its UTF-8. A text that is a UUID in lower
/// case with hyphens is 0xFF, followed by the UUID's 16 bytes. Only the first 16 bytes of a pseudonym are kept, because
/// half an HMAC is enough to identify it (RFC 2104 section 5).
///
/// Each entry has exactly one encoding: a longer or different one is refused. A license of a named subject with a UUID
/// as its token id takes about 120 bytes.
extension LedgerEntry {
    /// The version that is written. Other versions are refused.
    static let version: UInt8 = 1
    /// The largest size of a content id, in bytes.
    package static let contentSizeMaximum = 200
    /// The largest size of a token id, cookie or detail, in bytes.
    package static let textSizeMaximum = 64

    /// The entry in the form that a ledger keeps: texts are cut at the end of a character to their largest size, and
    /// pseudonyms to their first half.
    package var bounded: LedgerEntry {
        var entry = self
        entry.content = content.map { $0.cut(toSize: Self.contentSizeMaximum) }
        entry.tokenID = tokenID.map { $0.cut(toSize: Self.textSizeMaximum) }
        entry.cookie = cookie.map { $0.cut(toSize: Self.textSizeMaximum) }
        entry.detail = detail.cut(toSize: Self.textSizeMaximum)
        entry.subject = subject?.shortened
        entry.device = device?.shortened
        entry.actor = actor.map { $0.cut(toSize: Self.textSizeMaximum) }
        entry.request = request.map { $0.cut(toSize: Self.textSizeMaximum) }
        if let report { entry.report?.streamIDs = Array(report.streamIDs.prefix(DeviceReport.streamIDCountMaximum)) }
        entry.stated = stated?.bounded
        return entry
    }

    /// Returns the encoding of `bounded`.
    package func encoded() -> [UInt8] {
        var writer = LedgerFieldWriter()
        let hasOwnTime = at != license.second
        writer.write(Self.version)
        writer.write(kind.rawValue)
        writer.write(flags(hasOwnTime: hasOwnTime))
        writer.write(license.bytes)
        if hasOwnTime { writer.write(signed: at) }
        if let previous { writer.write(previous.bytes) }
        if let keyID { writer.write(keyID.words) }
        if let content { writer.write(content, sizeMaximum: Self.contentSizeMaximum) }
        if let subject { writer.write(subject.firstHalf) }
        if let device { writer.write(device.firstHalf) }
        if let tokenID { writer.write(tokenID, sizeMaximum: Self.textSizeMaximum) }
        if let cookie { writer.write(cookie, sizeMaximum: Self.textSizeMaximum) }
        writer.write(detail, sizeMaximum: Self.textSizeMaximum)
        if let lease { writer.write(number: UInt64(lease)) }
        if let rental { writer.write(number: UInt64(rental)) }
        if let until { writer.write(signed: until &- at) }
        if let playback { writer.write(number: UInt64(playback)) }
        if let renewAfter { writer.write(signed: renewAfter &- at) }
        if let actor { writer.write(actor, sizeMaximum: Self.textSizeMaximum) }
        if let request { writer.write(request, sizeMaximum: Self.textSizeMaximum) }
        if let report { writer.write(report) }
        if !facts.isEmpty { writer.write(facts) }
        if let stated { writer.write(stated) }
        return writer.bytes
    }

    /// Reads the bytes of `encoded`. Throws for all other bytes.
    package init(parsing bytes: [UInt8]) throws(LedgerEntryError) {
        var reader = LedgerFieldReader(bytes)
        let version = try reader.readUInt8()
        guard version == Self.version else { throw .unsupportedVersion(version) }
        guard let kind = Kind(rawValue: try reader.readUInt8()) else { throw .notCanonical }
        let flags = LedgerEntryFlags(rawValue: try reader.readFixedUInt32())
        guard flags.isSubset(of: .all) else { throw .notCanonical }
        let license = LicenseID(try reader.readBytes16())
        let at = flags.contains(.ownTime) ? try reader.readSigned() : license.second
        guard !flags.contains(.ownTime) || at != license.second else { throw .notCanonical }

        self.init(kind: kind, at: at, license: license)
        if flags.contains(.previous) { previous = LicenseID(try reader.readBytes16()) }
        if flags.contains(.keyID) { keyID = KeyID(words: try reader.readBytes16()) }
        if flags.contains(.content) { content = try reader.readText(sizeMaximum: Self.contentSizeMaximum) }
        if flags.contains(.subject) { subject = Pseudonym(short: try reader.readBytes16()) }
        if flags.contains(.device) { device = Pseudonym(short: try reader.readBytes16()) }
        if flags.contains(.tokenID) { tokenID = try reader.readText(sizeMaximum: Self.textSizeMaximum) }
        if flags.contains(.cookie) { cookie = try reader.readText(sizeMaximum: Self.textSizeMaximum) }
        detail = try reader.readText(sizeMaximum: Self.textSizeMaximum)
        if flags.contains(.lease) { lease = try reader.readUInt32() }
        if flags.contains(.rental) { rental = try reader.readUInt32() }
        if flags.contains(.until) { until = at &+ (try reader.readSigned()) }
        if flags.contains(.playback) { playback = try reader.readUInt32() }
        if flags.contains(.renewAfter) { renewAfter = at &+ (try reader.readSigned()) }
        if flags.contains(.actor) { actor = try reader.readText(sizeMaximum: Self.textSizeMaximum) }
        if flags.contains(.request) { request = try reader.readText(sizeMaximum: Self.textSizeMaximum) }
        if flags.contains(.report) { report = try reader.readReport() }
        if flags.contains(.facts) { facts = try reader.readFacts() }
        if flags.contains(.stated) { stated = try reader.readDeviceSummary() }
        try reader.finish()
    }

    private func flags(hasOwnTime: Bool) -> UInt32 {
        var flags: LedgerEntryFlags = []
        if hasOwnTime { flags.insert(.ownTime) }
        if previous != nil { flags.insert(.previous) }
        if keyID != nil { flags.insert(.keyID) }
        if content != nil { flags.insert(.content) }
        if subject != nil { flags.insert(.subject) }
        if device != nil { flags.insert(.device) }
        if tokenID != nil { flags.insert(.tokenID) }
        if cookie != nil { flags.insert(.cookie) }
        if lease != nil { flags.insert(.lease) }
        if rental != nil { flags.insert(.rental) }
        if until != nil { flags.insert(.until) }
        if playback != nil { flags.insert(.playback) }
        if renewAfter != nil { flags.insert(.renewAfter) }
        if actor != nil { flags.insert(.actor) }
        if request != nil { flags.insert(.request) }
        if report != nil { flags.insert(.report) }
        if !facts.isEmpty { flags.insert(.facts) }
        if stated != nil { flags.insert(.stated) }
        return flags.rawValue
    }
}

/// The reason why bytes are not a ledger entry.
package enum LedgerEntryError: Error, Equatable, Sendable {
    /// The entry is of another version of this program, or not an entry at all.
    case unsupportedVersion(UInt8)
    /// The bytes end within a field.
    case truncated
    /// Bytes follow the last field, or a field is not in the form that this version writes.
    case notCanonical
}

/// The optional fields that an entry has.
private struct LedgerEntryFlags: OptionSet {
    let rawValue: UInt32

    static let ownTime = LedgerEntryFlags(rawValue: 0x0001)
    static let previous = LedgerEntryFlags(rawValue: 0x0002)
    static let keyID = LedgerEntryFlags(rawValue: 0x0004)
    static let content = LedgerEntryFlags(rawValue: 0x0008)
    static let subject = LedgerEntryFlags(rawValue: 0x0010)
    static let device = LedgerEntryFlags(rawValue: 0x0020)
    static let tokenID = LedgerEntryFlags(rawValue: 0x0040)
    static let cookie = LedgerEntryFlags(rawValue: 0x0080)
    static let lease = LedgerEntryFlags(rawValue: 0x0100)
    static let rental = LedgerEntryFlags(rawValue: 0x0200)
    static let until = LedgerEntryFlags(rawValue: 0x0400)
    static let playback = LedgerEntryFlags(rawValue: 0x0800)
    static let renewAfter = LedgerEntryFlags(rawValue: 0x1000)
    static let actor = LedgerEntryFlags(rawValue: 0x2000)
    static let request = LedgerEntryFlags(rawValue: 0x4000)
    static let report = LedgerEntryFlags(rawValue: 0x8000)
    static let facts = LedgerEntryFlags(rawValue: 0x10000)
    static let stated = LedgerEntryFlags(rawValue: 0x20000)
    static let all = LedgerEntryFlags(rawValue: 0x3FFFF)
}

extension LicenseID {
    /// The second in which the license was decided. It is the time of an entry without a time field.
    fileprivate var second: Int64 { Int64(milliseconds / 1000) }
}
