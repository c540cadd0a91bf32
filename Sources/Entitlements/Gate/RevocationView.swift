import ByteCoding

/// What has been revoked, as one node knows it (entitlement, section 4.6).
///
/// What tells of a person is kept by names that only this installation can make. Such a name costs an HMAC, so it is made only where
/// something of its kind is revoked.
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

    private struct Entry: Hashable {
        let value: [UInt8]
        /// Whose token, subject, device or session it is; nil for anybody's.
        let issuer: [UInt8]?
    }

    /// The first second in which an entry no longer holds; nil for ever. No kind has an empty list.
    private var ends: [Kind: [Entry: Int64?]] = [:]
    private let naming: Naming?
    /// Entries end by this time, if that is earlier than the time of a check: a clock that is stepped ahead lifts nothing.
    package var settledTime = Int64.max

    /// Personal values are revoked and compared by the names that `naming` gives them; without it, as they are.
    package init(naming: Naming? = nil) {
        self.naming = naming
    }

    package var count: Int { ends.values.reduce(0) { $0 + $1.count } }

    /// Whether anything of this kind is revoked.
    package func concerns(_ kind: Kind) -> Bool { ends[kind] != nil }

    /// Adds a revocation; one that is there already holds until the later of both ends.
    package mutating func revoke(_ kind: Kind, _ value: String, of issuer: String? = nil, until end: Int64? = nil) {
        revoke(kind, Array(value.utf8), of: issuer, until: end)
    }

    /// Adds a revocation of a personal value by its name, which says whose it is.
    package mutating func revoke(_ kind: Kind, named name: [UInt8], until end: Int64?) {
        revoke(kind, name, of: nil, until: end)
    }

    private mutating func revoke(_ kind: Kind, _ value: [UInt8], of issuer: String?, until end: Int64?) {
        let entry = Entry(value: value, issuer: issuer.map { Array($0.utf8) })
        if let known = ends[kind]?[entry] {
            ends[kind]?[entry] = .some(known.flatMap { known in end.map { max(known, $0) } })
        } else {
            ends[kind, default: [:]][entry] = .some(end)
        }
    }

    /// Drops what no longer holds at `now`, in seconds since 1970.
    package mutating func purge(now: Int64) {
        ends = ends.mapValues { $0.filter { _, end in end.map { now < $0 } ?? true } }.filter { !$1.isEmpty }
    }

    func contains(
        _ kind: Kind, _ value: String?, of issuer: String, now: Int64
    ) throws(EntitlementError) -> Bool {
        guard let entries = ends[kind], let value else { return false }
        let endTime = min(now, settledTime)
        let bytes =
            if kind.isPersonal, let naming { try naming(kind, value, issuer) } else { Array(value.utf8) }
        for owner in [nil, Array(issuer.utf8)] {
            guard let end = entries[Entry(value: bytes, issuer: owner)] else { continue }
            if end.map({ endTime < $0 }) ?? true { return true }
        }
        return false
    }

    /// Throws the refusal of the first kind that is revoked, in the order of `Kind`; and `cryptoFailed`.
    ///
    /// Without content and device it says what a token alone gives away.
    package func check(
        _ claims: Claims, content: RequestedContent? = nil, device: DeviceIdentifier? = nil, now: Int64
    ) throws(EntitlementError) {
        guard !ends.isEmpty else { return }
        for kind in Kind.allCases where concerns(kind) {
            let (values, refusal) = kind.subject(of: claims, content: content, device: device)
            for value in values where try contains(kind, value, of: claims.issuer, now: now) { throw refusal }
        }
    }
}

extension RevocationView: Equatable {
    /// Whether both say the same of the same names.
    package static func == (one: RevocationView, other: RevocationView) -> Bool { one.ends == other.ends }
}

extension RevocationView.Kind {
    /// Whether a value of this kind tells of a person.
    fileprivate var isPersonal: Bool {
        switch self {
        case .subject, .hardware, .device: true
        case .token, .key, .issuer, .content, .session: false
        }
    }

    /// What a request has of this kind, and the refusal where one of these is revoked.
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
