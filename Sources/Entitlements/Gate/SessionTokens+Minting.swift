package import ByteCoding
package import KeyCrypto

/// A license together with which a session token is issued.
package struct SessionLicense: Sendable {
    package let id: Bytes16
    /// When the license was decided, in seconds since 1970. A repetition is issued later.
    package let decidedAt: Int64
    /// The time of issue in seconds since 1970.
    package let issuedAt: Int64
    /// The lease in seconds, at least 1.
    package let lease: Int64
    package let device: DeviceIdentifier
    /// The number of the playback session in the SPC.
    package let playback: UInt64
    /// The 32 bytes that identify the entitlement token if it has no subject.
    package let owner: [UInt8]?

    package init(
        id: Bytes16, decidedAt: Int64, issuedAt: Int64, lease: Int64, device: DeviceIdentifier, playback: UInt64,
        owner: [UInt8]?
    ) {
        self.id = id
        self.decidedAt = decidedAt
        self.issuedAt = issuedAt
        self.lease = lease
        self.device = device
        self.playback = playback
        self.owner = owner
    }
}

extension SessionTokens {
    /// Returns the token that renews a license.
    ///
    /// Returns nil if the license cannot be renewed: its lease lasts until the end of the session, its key came inside
    /// the token, it is an offline license, or the claims do not fit into a token. `claims` come from the token for
    /// which the license was issued. If that is a session token, the new token is its successor.
    package func token(
        for license: SessionLicense, _ authorization: Authorization, of claims: Claims
    ) throws(CryptoError) -> String? {
        // The content key came inside the entitlement token, which a renewal does not have.
        guard claims.embeddedKey == nil, let end = absoluteEnd(of: license, authorization, claims) else { return nil }
        let leaseEnd = license.issuedAt + license.lease
        guard end > leaseEnd else { return nil }
        let grace = max(grace, claims.session.grace ?? grace, authorization.right.session.grace ?? grace)
        let id = claims.renewal?.id ?? license.id
        let grant = SessionGrant(
            id: id, generation: (claims.renewal?.generation ?? 0) &+ 1, playback: license.playback, absoluteEnd: end,
            license: license.id, owner: claims.subject == nil ? claims.renewal?.owner ?? license.owner : nil,
            rental: authorization.obligations.rental?.memory,
            keyID: current.id, deviceCode: try Self.code(of: license.device, in: id, by: current))
        let payload = claims.sessionPayload(
            grant,
            right: authorization.right.sessionRight(
                of: authorization.content, countsKeys: claims.limits.usesPerKey != nil, until: end),
            issuedAt: license.issuedAt, expiresAt: min(LimitSeconds.sum(leaseEnd, grace), end))
        let token = try sign(payload)
        return token.utf8.count <= Token.sizeMaximum ? token : nil
    }

    /// Returns the end of the session: the end of the right, the end of the rental, or the end of the longest life of a
    /// session, whichever comes first.
    ///
    /// Later tokens of the session never end later. Returns nil for an offline license.
    private func absoluteEnd(
        of license: SessionLicense, _ authorization: Authorization, _ claims: Claims
    ) -> Int64? {
        guard case .streaming(let limits) = authorization.limits else { return nil }
        // A rental whose state is stored has its own end. Each renewal computes it from the stored state.
        let rentalEnd =
            authorization.right.rental == nil
            ? limits.rental.map { license.issuedAt + Int64($0) } : authorization.rentalEnd
        let sessionEnd = claims.renewal?.absoluteEnd ?? LimitSeconds.sum(license.decidedAt, maximumLife)
        // The session of a repeated license ends with the right of its first license.
        return LimitSeconds.least(sessionEnd, rentalEnd, authorization.rightEnd)
    }

    private func sign(_ payload: [UInt8]) throws(CryptoError) -> String {
        var token = current.header
        token.reserveCapacity(token.count + Base64.encodedSize(of: payload.count) + Self.signatureRoom)
        Base64URL.append(payload, to: &token)
        let code = try current.code.code(for: token[...])
        token.append(UInt8(ascii: "."))
        Base64URL.append(code, to: &token)
        return String(decoding: token, as: UTF8.self)
    }

    /// Room for the point and the Base64 text of a signature.
    private static let signatureRoom = 1 + Base64.encodedSize(of: 32)
}

extension Right {
    /// Returns the right that a session keeps: to stream the one requested content until the end of the session.
    ///
    /// The right is the one in the token, before the policy tightens it, because each renewal applies the policy of its
    /// own time. If the entitlement token limits the uses of each key, a session token renews one key only: a client
    /// must spend a use of the entitlement token for any other key of the content.
    fileprivate func sessionRight(of content: RequestedContent, countsKeys: Bool, until end: Int64) -> Right {
        var kept = self
        kept.selector =
            switch selector {
            // The request was for this key only, so the session token renews this key only.
            case .keyIDs: .keyIDs([content.keyID])
            case .content, .contentPrefix, .anything:
                countsKeys ? .keyIDs([content.keyID]) : .content(content.contentID)
            }
        kept.end = end
        kept.mode = .stream
        kept.lease = LimitSeconds.least(lease, life)
        kept.life = nil
        kept.storage = nil
        kept.playback = nil
        return kept
    }
}
