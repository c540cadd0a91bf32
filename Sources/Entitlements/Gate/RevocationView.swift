import ByteCoding

/// What has been revoked, as one node knows it (entitlement, section 4.6).
package struct RevocationView: Equatable, Sendable {
    /// What a revocation names. The raw values are stored, and never change.
    package enum Kind: String, Sendable, CaseIterable {
        case token = "jti"
        case key = "kid"
        case issuer = "iss"
        case subject = "sub"
        /// An SPC's HU, as 40 upper-case hexadecimal digits.
        case hardware = "hu"
        /// The operator's own name for a device.
        case device
        case content
        case session
    }

    private struct Entry: Hashable {
        let kind: Kind
        let value: [UInt8]
        /// Whose token, subject, device or session it is; nil for anybody's.
        let issuer: [UInt8]?
    }

    /// The first second in which an entry no longer holds; nil for ever.
    private var ends: [Entry: Int64?] = [:]

    package init() {}

    package var count: Int { ends.count }

    /// Adds a revocation; one that is there already holds until the later of both ends.
    package mutating func revoke(_ kind: Kind, _ value: String, of issuer: String? = nil, until end: Int64? = nil) {
        let entry = Entry(kind: kind, value: Array(value.utf8), issuer: issuer.map { Array($0.utf8) })
        if let known = ends[entry] {
            ends[entry] = .some(known.flatMap { known in end.map { max(known, $0) } })
        } else {
            ends[entry] = .some(end)
        }
    }

    /// Drops what no longer holds at `now`, in seconds since 1970.
    package mutating func purge(now: Int64) {
        ends = ends.filter { _, end in end.map { now < $0 } ?? true }
    }

    func contains(_ kind: Kind, _ value: String?, of issuer: String, now: Int64) -> Bool {
        guard !ends.isEmpty, let value else { return false }
        let bytes = Array(value.utf8)
        for owner in [nil, Array(issuer.utf8)] {
            guard let end = ends[Entry(kind: kind, value: bytes, issuer: owner)] else { continue }
            if end.map({ now < $0 }) ?? true { return true }
        }
        return false
    }

    /// Throws the refusal of the first kind that is revoked, in the order of `Kind`.
    package func check(
        _ claims: Claims, content: RequestedContent?, device: DeviceIdentifier?, now: Int64
    ) throws(EntitlementError) {
        for kind in Kind.allCases {
            let (values, refusal) = kind.subject(of: claims, content: content, device: device)
            for value in values where contains(kind, value, of: claims.issuer, now: now) { throw refusal }
        }
    }
}

extension RevocationView.Kind {
    /// What a request has of this kind, and the refusal where one of these is revoked.
    fileprivate func subject(
        of claims: Claims, content: RequestedContent?, device: DeviceIdentifier?
    ) -> ([String?], EntitlementError) {
        switch self {
        case .token: ([claims.tokenID], .tokenRevoked)
        case .key: ([claims.keyID], .keyRevoked)
        case .issuer: ([claims.issuer], .subjectDisabled)
        case .subject: ([claims.subject, claims.device.account], .subjectDisabled)
        case .hardware: ([device?.description], .deviceRevoked)
        case .device: ([claims.device.id], .deviceRevoked)
        case .content: ([content?.contentID, content?.keyID.description], .contentRevoked)
        case .session: ([claims.session.id] + claims.rights.map(\.session.id), .sessionKilled)
        }
    }
}
