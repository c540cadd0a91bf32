import ByteCoding

/// The revocations that one node knows (entitlement, section 4.6).
///
/// Values that identify a person are stored as keyed digests, which only this installation can compute. A digest costs
/// an HMAC, so it is only computed if a value of its kind is revoked.
package struct RevocationView: Sendable {
    /// The kind of value that is revoked, in the order in which requests are checked.
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

    /// Computes the digest of a value of a personal kind. It depends on the kind, the value and the issuer.
    package typealias Naming = @Sendable (Kind, _ value: String, _ issuer: String) throws(EntitlementError) -> [UInt8]

    /// The hash of kind, value and issuer: see `NameOfRevoked`. Two revocations have the same hash with a probability
    /// of 2^-128.
    private typealias Name = Bytes16

    private struct Entry {
        let name: Name
        /// The first second in which the entry is no longer valid; `Int64.max` if it has no end.
        let end: Int64
    }

    /// The state of a revocation after a change.
    package enum Standing: Equatable, Sendable {
        /// The revocation is valid until this second since 1970; nil if it has no end.
        case holds(until: Int64?)
        case isLifted
    }

    /// The number of changes after which they are merged into the sorted entries; a sixteenth of the entries, if that
    /// is more.
    private static let changeCountMinimum = 1024

    /// The entries in the order of their names. All copies share them until the changes are merged.
    private var entries: [Entry] = []
    private var changes: [Name: Standing] = [:]
    /// The number of entries of each kind. Kinds without entries are absent.
    private var counts: [Kind: Int] = [:]
    private let naming: Naming?
    /// The time by which entries end, if it is earlier than the time of a check. A clock that is set forward then lifts
    /// no revocation.
    package var settledTime = Int64.max

    /// Makes an empty view. Personal values are stored and compared as the digests that `naming` computes; without
    /// `naming`, as they are.
    package init(naming: Naming? = nil) {
        self.naming = naming
    }

    package var count: Int { counts.values.reduce(0, +) }

    /// The memory of the entries and of the changes, in bytes. Copies share both.
    package var size: Int {
        let places = changes.capacity * 4 / 3
        return entries.capacity * MemoryLayout<Entry>.stride
            + places * (MemoryLayout<Name>.stride + MemoryLayout<Standing>.stride + 1)
    }

    /// Whether any value of this kind is revoked.
    package func concerns(_ kind: Kind) -> Bool { counts[kind] != nil }

    /// Adds a revocation. If the value is revoked already, the later end counts.
    package mutating func revoke(_ kind: Kind, _ value: String, of issuer: String? = nil, until end: Int64? = nil) {
        hold(kind, NameOfRevoked(kind, Array(value.utf8), issuer).name, until: end)
    }

    /// Adds a revocation of a personal value by its digest, which includes the issuer.
    package mutating func revoke(_ kind: Kind, named name: [UInt8], until end: Int64?) {
        hold(kind, NameOfRevoked(kind, name, nil).name, until: end)
    }

    /// Replaces or lifts a revocation. Returns whether that changed anything.
    package mutating func set(
        _ kind: Kind, _ value: String, of issuer: String? = nil, _ standing: Standing
    ) -> Bool {
        set(kind, NameOfRevoked(kind, Array(value.utf8), issuer).name, standing)
    }

    /// Replaces or lifts the revocation of a personal value by its digest. Returns whether that changed anything.
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

    /// Checks a request. Throws the refusal of the first revoked kind, in the order of `Kind`, and `cryptoFailed`.
    ///
    /// Without content and device, only the values in the token are checked.
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

    /// Returns the index of a name in `entries`, or the index at which it would be inserted.
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

    /// The entries with all changes applied, in the order of their names.
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
    /// Whether both views have the same revocations with the same ends.
    package static func == (one: RevocationView, other: RevocationView) -> Bool {
        one.counts == other.counts
            && one.merged.elementsEqual(other.merged) { $0.name == $1.name && $0.end == $1.end }
    }
}

/// A hash of 16 bytes that stands for a revoked value, so that all revocations take the same memory.
///
/// It consists of two hashes with random seeds of this process. No client knows the seeds, so no client can choose a
/// value with the same hash as another one.
private struct NameOfRevoked {
    let name: Bytes16

    /// Computes the hash. `issuer` is nil if the revocation is for all issuers.
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
    /// Whether a value of this kind identifies a person.
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

    /// Returns the values of this kind in a request, and the refusal if one of them is revoked.
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
            // A session of renewals is also identified by the ID of its first license, which is in the ledger.
            (
                [claims.session.id, claims.renewal.map { Hexadecimal.encode($0.id) }]
                    + claims.rights.map(\.session.id), .sessionKilled
            )
        }
    }
}
