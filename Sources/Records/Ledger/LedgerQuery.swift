package import ByteCoding

/// A search in a ledger: an entry must match every field that is set.
package struct LedgerQuery: Equatable, Sendable {
    /// The license, or a renewal that directly follows it.
    package var license: LicenseID?
    package var content: String?
    package var subject: Pseudonym?
    package var tokenID: String?
    package var cookie: String?
    /// The id of a request.
    package var request: String?
    /// The pseudonym of a device. No index finds it.
    package var device: Pseudonym?
    /// No index finds it.
    package var keyID: KeyID?
    /// The id of a playback session that its device has reported as ended. No index finds it.
    package var playback: String?
    /// What the device has stated. No index finds it.
    package var stated = StatedFilter()
    /// The first second of the search, since 1970.
    package var from: Int64?
    /// The second after the last one of the search.
    package var to: Int64?

    package init(
        license: LicenseID? = nil, content: String? = nil, subject: Pseudonym? = nil, tokenID: String? = nil,
        cookie: String? = nil, request: String? = nil, from: Int64? = nil, to: Int64? = nil
    ) {
        self.license = license
        self.content = content?.cut(toSize: LedgerEntry.contentSizeMaximum)
        self.subject = subject?.shortened
        self.tokenID = tokenID?.cut(toSize: LedgerEntry.textSizeMaximum)
        self.cookie = cookie?.cut(toSize: LedgerEntry.textSizeMaximum)
        self.request = request?.cut(toSize: LedgerEntry.textSizeMaximum)
        self.from = from
        self.to = to
    }

    /// The same search for the entries of a device, a key or a playback session too.
    package func also(device: Pseudonym?, keyID: KeyID?, playback: String?) -> LedgerQuery {
        var query = self
        query.device = device?.shortened
        query.keyID = keyID
        query.playback = playback
        return query
    }

    package func matches(_ entry: LedgerEntry) -> Bool {
        (license == nil || entry.license == license || entry.previous == license)
            && (content == nil || entry.content == content) && (subject == nil || entry.subject == subject)
            && (tokenID == nil || entry.tokenID == tokenID) && (cookie == nil || entry.cookie == cookie)
            && (request == nil || entry.request == request)
            && (device == nil || entry.device == device) && (keyID == nil || entry.keyID == keyID)
            && (playback == nil || entry.kind == .sessionEndReported && entry.detail == playback)
            && stated.matches(entry.stated)
            && (from.map { entry.at >= $0 } ?? true) && (to.map { entry.at < $0 } ?? true)
    }

    /// The most selective term for a look-up in the index; nil if the whole ledger must be read.
    package var term: LedgerTerm? {
        license.map { LedgerTerm($0) } ?? request.map { LedgerTerm(.request, $0) } ?? tokenID.map {
            LedgerTerm(.tokenID, $0)
        }
            ?? subject.map { LedgerTerm($0) } ?? cookie.map { LedgerTerm(.cookie, $0) }
            ?? content.map { LedgerTerm(.content, $0) }
    }
}

/// A term of a ledger's index: 48 bits of a hash. Several values may have the same hash, so entries that are found must
/// be compared.
package struct LedgerTerm: Hashable, Sendable {
    /// The indexed field. The raw values are stored, and never change.
    package enum Kind: UInt8, Sendable, CaseIterable {
        case license = 1
        case content = 2
        case subject = 3
        case tokenID = 4
        case cookie = 5
        case request = 6
    }

    /// The hash, from 0 to 2^48 - 1.
    package let value: Int64

    /// Computes FNV-1a over the kind and the bytes, folded to 48 bits.
    init(_ kind: Kind, _ bytes: some Sequence<UInt8>) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        hash = (hash ^ UInt64(kind.rawValue)) &* 0x100_0000_01B3
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        value = Int64((hash ^ hash >> 48) & 0xFFFF_FFFF_FFFF)
    }

    /// Computes the hash of bytes that are not a field of an entry.
    package init(mark bytes: [UInt8]) {
        self.init(.license, bytes)
    }

    init(_ kind: Kind, _ text: String) {
        self.init(kind, text.utf8)
    }

    init(_ license: LicenseID) {
        self.init(.license, license.bytes.bytes)
    }

    init(_ subject: Pseudonym) {
        self.init(.subject, subject.firstHalf.bytes)
    }
}

extension LedgerEntry {
    /// All terms by which an index finds the entry.
    package var terms: [LedgerTerm] {
        var terms: [LedgerTerm] = []
        terms.reserveCapacity(7)
        terms.append(LedgerTerm(license))
        if let previous { terms.append(LedgerTerm(previous)) }
        if let content { terms.append(LedgerTerm(.content, content)) }
        if let subject { terms.append(LedgerTerm(subject)) }
        if let tokenID { terms.append(LedgerTerm(.tokenID, tokenID)) }
        if let cookie { terms.append(LedgerTerm(.cookie, cookie)) }
        if let request { terms.append(LedgerTerm(.request, request)) }
        return terms
    }
}
