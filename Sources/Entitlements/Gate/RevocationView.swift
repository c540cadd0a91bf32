import ByteCoding

/// What has been revoked, as one node knows it (entitlement, section 4.6).
///
/// What tells of a person is kept by names that only this installation can make. Such a name costs an HMAC, so it is
/// made only if something of its kind is revoked.
package struct RevocationView: Sendable {
    /// What a revocation names, in the order in which requests are checked.
    package enum Kind: Sendable, CaseIterable {
        case token
        case key
        case issuer
        case subject
        /// An SPC's HU, as 40 upper-case hexadecimal digits.
        case hardware
        /// The issuer's own name for a device.
        case device
        case content
        case session
    }

    /// Names a value of a personal kind: the same for the same value of the same issuer, and for nothing else.
    package typealias Naming = @Sendable (Kind, _ value: String, _ issuer: String) throws(EntitlementError) -> [UInt8]

    /// Of kind, value and issuer: see `NameOfRevoked`. Two revocations share one by chance only, with odds of 2^-128.
    private typealias Name = Bytes16

    private struct Entry {
        let name: Name
        /// The first second in which the entry no longer holds; the largest integer for ever.
        let end: Int64
    }

    /// What a change makes of a revocation.
    package enum Standing: Equatable, Sendable {
        /// Until this second, since 1970; nil for ever.
        case holds(until: Int64?)
        case isLifted
    }

    /// How many changes are kept beside the sorted entries before they are merged: this many, or one for each 16
    /// entries.
    private static let changeCountMinimum = 1024

    /// In the order of their names; shared by all copies until the changes are merged.
    private var entries: [Entry] = []
    private var changes: [Name: Standing] = [:]
    /// How many entries there are of each kind. No kind has 0.
    private var counts: [Kind: Int] = [:]
    private let naming: Naming?
    /// Entries end by this time, if that is earlier than the time of a check: a clock that is stepped ahead lifts
    /// nothing.
    package var settledTime = Int64.max

    /// Personal values are revoked and compared by the names that `naming` gives them; without it, as they are.
    package init(naming: Naming? = nil) {
        self.naming = naming
    }

    package var count: Int { counts.values.reduce(0, +) }

    /// What the entries take in memory, in bytes: their own table and that of the changes. Copies share both.
    package var size: Int {
        let places = changes.capacity * 4 / 3
        return entries.capacity * MemoryLayout<Entry>.stride
            + places * (MemoryLayout<Name>.stride + MemoryLayout<Standing>.stride + 1)
    }

    /// Whether anything of this kind is revoked.
    package func concerns(_ kind: Kind) -> Bool { counts[kind] != nil }

    /// Adds a revocation; one that is there already holds until the later of both ends.
    package mutating func revoke(_ kind: Kind, _ value: String, of issuer: String? = nil, until end: Int64? = nil) {
        hold(kind, NameOfRevoked(kind, Array(value.utf8), issuer).name, until: end)
    }

    /// Adds a revocation of a personal value by its name, which says whose it is.
    package mutating func revoke(_ kind: Kind, named name: [UInt8], until end: Int64?) {
        hold(kind, NameOfRevoked(kind, name, nil).name, until: end)
    }

    /// Replaces or takes back a revocation; whether that makes a difference.
    package mutating func set(
        _ kind: Kind, _ value: String, of issuer: String? = nil, _ standing: Standing
    ) -> Bool {
        set(kind, NameOfRevoked(kind, Array(value.utf8), issuer).name, standing)
    }

    /// The same for a personal value, by its name.
    package mutating func set(_ kind: Kind, named name: [UInt8], _ standing: Standing) -> Bool {
        set(kind, NameOfRevoked(kind, name, nil).name, standing)
    }

    func contains(
        _ kind: Kind, _ value: String?, of issuer: String, now: Int64
    ) throws(EntitlementError) -> Bool {
        guard concerns(kind), let value else { return false }
        let endTime = min(now, settledTime)
        let bytes =
            if kind.isPersonal, let naming { try naming(kind, value, issuer) } else { Array(value.utf8) }
        for owner in [nil, issuer] {
            if let end = end(of: NameOfRevoked(kind, bytes, owner).name), end == .max || endTime < end { return true }
        }
        return false
    }

    /// Throws the refusal of the first kind that is revoked, in the order of `Kind`; and `cryptoFailed`.
    ///
    /// Without content and device it says what a token alone gives away.
    package func check(
        _ claims: Claims, content: RequestedContent? = nil, device: DeviceIdentifier? = nil, now: Int64
    ) throws(EntitlementError) {
        guard !counts.isEmpty else { return }
        for kind in Kind.allCases where concerns(kind) {
            let (values, refusal) = kind.subject(of: claims, content: content, device: device)
            for value in values where try contains(kind, value, of: claims.issuer, now: now) { throw refusal }
        }
    }

    /// What `check` refuses claims for, in words for the operator: the kind, and the value unless it names a person.
    /// Nil if nothing of them is revoked.
    package func revoked(
        by claims: Claims, content: RequestedContent? = nil, device: DeviceIdentifier? = nil, now: Int64
    ) -> String? {
        for kind in Kind.allCases where concerns(kind) {
            for case let value? in kind.subject(of: claims, content: content, device: device).0
            where (try? contains(kind, value, of: claims.issuer, now: now)) == true {
                return "revoked: the \(kind.words)" + (kind.isPersonal ? "" : " \(ExplainedText.shown(value))")
            }
        }
        return nil
    }
}

// MARK: Entries

extension RevocationView {
    private func end(of name: Name) -> Int64? {
        switch changes[name] {
        case .holds(let end): return end ?? .max
        case .isLifted: return nil
        case nil: break
        }
        let index = place(of: name)
        return index < entries.count && entries[index].name == name ? entries[index].end : nil
    }

    /// Where the name is, or would be.
    private func place(of name: Name) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].name.isOrdered(before: name) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func hold(_ kind: Kind, _ name: Name, until end: Int64?) {
        let latest = max(self.end(of: name) ?? .min, end ?? .max)
        _ = set(kind, name, .holds(until: latest))
    }

    private mutating func set(_ kind: Kind, _ name: Name, _ standing: Standing) -> Bool {
        let known = end(of: name)
        switch standing {
        case .holds(let end):
            guard known != end ?? .max else { return false }
            if known == nil { counts[kind, default: 0] += 1 }
        case .isLifted:
            guard known != nil else { return false }
            let count = (counts[kind] ?? 1) - 1
            counts[kind] = count > 0 ? count : nil
        }
        changes[name] = standing
        mergeIfDue()
        return true
    }

    private mutating func mergeIfDue() {
        guard changes.count > max(Self.changeCountMinimum, entries.count / 16) else { return }
        entries = merged
        changes = [:]
    }

    /// All that hold, in the order of their names.
    private var merged: [Entry] {
        let changed = changes.sorted { $0.key.isOrdered(before: $1.key) }
        var merged: [Entry] = []
        merged.reserveCapacity(count)
        var next = 0
        for (name, change) in changed {
            while next < entries.count, entries[next].name.isOrdered(before: name) {
                merged.append(entries[next])
                next += 1
            }
            if next < entries.count, entries[next].name == name { next += 1 }
            if case .holds(let end) = change { merged.append(Entry(name: name, end: end ?? .max)) }
        }
        merged += entries[next...]
        return merged
    }
}

extension RevocationView: Equatable {
    /// Whether both say the same of the same names.
    package static func == (one: RevocationView, other: RevocationView) -> Bool {
        one.counts == other.counts
            && one.merged.elementsEqual(other.merged) { $0.name == $1.name && $0.end == $1.end }
    }
}

/// Sixteen bytes in place of what is revoked, so that a revocation takes the same memory however long its value is.
///
/// Made of two hashes under keys of this process, which no client knows: so no client can choose a value that is taken
/// for another one.
private struct NameOfRevoked {
    let name: Bytes16

    /// `issuer` is nil for every issuer.
    init(_ kind: RevocationView.Kind, _ value: [UInt8], _ issuer: String?) {
        func half(_ number: UInt8) -> UInt64 {
            var hasher = Hasher()
            hasher.combine(number)
            hasher.combine(kind)
            hasher.combine(value)
            hasher.combine(issuer.map { Array($0.utf8) })
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }
        name = Bytes16(high: half(1), low: half(2))
    }
}

extension Bytes16 {
    fileprivate func isOrdered(before other: Bytes16) -> Bool { (high, low) < (other.high, other.low) }
}

extension RevocationView.Kind {
    /// Whether a value of this kind tells of a person.
    fileprivate var isPersonal: Bool {
        switch self {
        case .subject, .hardware, .device: true
        case .token, .key, .issuer, .content, .session: false
        }
    }

    fileprivate var words: String {
        switch self {
        case .token: "token"
        case .key: "issuer's key"
        case .issuer: "issuer"
        case .subject: "subject"
        case .hardware: "device (hardware)"
        case .device: "device"
        case .content: "content or key"
        case .session: "session"
        }
    }

    /// What a request has of this kind, and the refusal if one of these is revoked.
    fileprivate func subject(
        of claims: Claims, content: RequestedContent?, device: DeviceIdentifier?
    ) -> ([String?], EntitlementError) {
        switch self {
        case .token: ([claims.tokenID], .tokenRevoked)
        case .key: ([claims.keyID], .keyRevoked)
        case .issuer: ([claims.issuer], .subjectDisabled)
        case .subject: ([claims.subject, claims.device.account], .subjectDisabled)
        case .hardware: ([device?.description ?? claims.device.pinned?.description], .deviceRevoked)
        case .device: ([claims.device.id], .deviceRevoked)
        case .content: ([content?.contentID, content?.keyID.description], .contentRevoked)
        case .session:
            // A session of renewals goes by the id of its first licence, which the ledger has.
            (
                [claims.session.id, claims.renewal.map { Hexadecimal.encode($0.id.bytes) }]
                    + claims.rights.map(\.session.id), .sessionKilled
            )
        }
    }
}
