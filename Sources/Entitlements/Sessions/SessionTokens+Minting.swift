package import ByteCoding
package import KeyCrypto

/// A licence that a session token is to be given with.
package struct SessionLicense: Sendable {
    package let id: Bytes16
    /// Seconds since 1970.
    package let issuedAt: Int64
    /// In seconds, at least 1.
    package let lease: Int64
    package let device: DeviceIdentifier
    /// The playback session that the SPC tells.
    package let playback: UInt64
    /// What the token stands for if it has no subject; 32 bytes.
    package let owner: [UInt8]?

    package init(
        id: Bytes16, issuedAt: Int64, lease: Int64, device: DeviceIdentifier, playback: UInt64, owner: [UInt8]?
    ) {
        self.id = id
        self.issuedAt = issuedAt
        self.lease = lease
        self.device = device
        self.playback = playback
        self.owner = owner
    }
}

extension SessionTokens {
    /// The token that renews a licence, or nil if there is nothing to renew: the lease reaches to the end of what
    /// was granted, or what was granted does not fit into a token.
    ///
    /// `claims` are those of the token that the licence was given for; if that is a session token, this is its
    /// successor.
    package func token(
        for license: SessionLicense, _ authorization: Authorization, of claims: Claims
    ) throws(CryptoError) -> String? {
        // The key of such a licence came inside the token, which no renewal brings along.
        guard claims.embeddedKey == nil, let end = absoluteEnd(of: license, authorization, claims) else { return nil }
        let leaseEnd = license.issuedAt + license.lease
        guard end > leaseEnd else { return nil }
        let sessions = [claims.session, authorization.right.session]
        let grace = sessions.compactMap(\.grace).reduce(self.grace, max)
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

    /// A session ends where the right ends, where playback may no longer begin, and after the longest life: at the one
    /// that comes first. Its successors can only end sooner.
    private func absoluteEnd(
        of license: SessionLicense, _ authorization: Authorization, _ claims: Claims
    ) -> Int64? {
        guard case .streaming(let limits) = authorization.limits else { return nil }
        // A rental that is remembered has an end of its own, and is asked for at each renewal.
        let rentalEnd =
            authorization.right.rental == nil
            ? limits.rental.map { license.issuedAt + Int64($0) } : authorization.rentalEnd
        let sessionEnd = claims.renewal?.absoluteEnd ?? LimitSeconds.sum(license.issuedAt, maximumLife)
        return LimitSeconds.least(sessionEnd, rentalEnd, authorization.right.end)
    }

    private func sign(_ payload: [UInt8]) throws(CryptoError) -> String {
        let header = JSONWriter.object { writer in
            writer.member("alg", SigningAlgorithm.hs256.rawValue)
            writer.member("kid", current.id)
            writer.member("typ", "JWT")
        }
        let signed = Base64URL.encode(header) + "." + Base64URL.encode(payload)
        return signed + "." + Base64URL.encode(try current.code.code(for: Array(signed.utf8)[...]))
    }
}

extension Right {
    /// What a session keeps of a right: streaming of the one content that it was asked for, and no longer than the
    /// session.
    ///
    /// It is what the token said and not what the policy left of it, because each renewal meets the policy of its own
    /// time. If the token counts its uses of each key, a session token renews one key alone: another key of the content
    /// costs a use of the entitlement token.
    fileprivate func sessionRight(of content: RequestedContent, countsKeys: Bool, until end: Int64) -> Right {
        var kept = self
        kept.selector =
            switch selector {
            // One token for each key: it was given for a request that counted for this one alone.
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
