import ByteCoding
import ContentKeys
package import Entitlements
import KeyCrypto
package import Records

/// A token that this server makes for a customer, before it is sealed.
package struct MintedToken: Sendable {
    /// The customer that asked for the token.
    package let customer: String
    /// The issuer in whose name the token is sealed.
    package let issuer: String
    package let contents: SealedTokenContents
    /// Parameters of the customer's request that have no effect.
    package let unused: [UnusedParameter]
    /// How many tokens the customer may have in a day; nil for no limit.
    package let perDayMaximum: UInt32?

    package init(
        customer: String, issuer: String, contents: SealedTokenContents, unused: [UnusedParameter] = [],
        perDayMaximum: UInt32? = nil
    ) {
        self.customer = customer
        self.issuer = issuer
        self.contents = contents
        self.unused = unused
        self.perDayMaximum = perDayMaximum
    }
}

extension DecisionRecorder {
    /// Records that a token is given out, and counts it if the customer has a quota. `now` is in seconds since 1970.
    ///
    /// The row has the token's id and cookie. If the token has a content key inside, the row has only the key id under
    /// which licenses will be recorded, and never the key.
    package func record(
        _ minted: MintedToken, as id: LicenseID, at now: Int64
    ) async throws(LicenseError) -> DecisionOutcome {
        let decision = try decision(on: minted, id, now)
        return try await wrapAsync(LicenseError.store, try await record(decision))
    }

    private func decision(
        on minted: MintedToken, _ id: LicenseID, _ now: Int64
    ) throws(LicenseError) -> LicenseDecision {
        try wrap(LicenseError.internalFailure) { () throws(CryptoError) in
            var decision = LicenseDecision(now: now, entry: try entry(for: minted, id, now))
            decision.tokenUse = try quotaUse(of: minted, now)
            return decision
        }
    }

    private func entry(for minted: MintedToken, _ id: LicenseID, _ now: Int64) throws(CryptoError) -> LedgerEntry {
        let contents = minted.contents
        let ownKeyID = contents.contentKey == nil ? nil : KeyID(words: contents.tokenID)
        let unused = minted.unused.map(\.shortName).joined(separator: ",")
        var entry = LedgerEntry(
            kind: .tokenMinted, at: now, license: id, keyID: contents.keyID ?? ownKeyID, content: contents.contentID,
            detail: unused.isEmpty ? minted.customer : "unused \(unused); \(minted.customer)")
        entry.subject = try pseudonyms.pseudonym(
            of: .subject, Array(minted.issuer.utf8), Array((contents.subject ?? minted.customer).utf8))
        entry.tokenID = Hexadecimal.encode(contents.tokenID.bytes)
        entry.cookie = contents.cookie
        entry.lease = contents.lease.map { UInt32(clamping: $0) }
        entry.rental = contents.rental.map { UInt32(clamping: $0) }
        entry.until = contents.expiresAt
        return entry
    }

    /// Counts the customer's quota as uses of a token; nil if the customer has no quota. Each day (UTC) has a token of
    /// its own for this.
    private func quotaUse(of minted: MintedToken, _ now: Int64) throws(CryptoError) -> TokenUse? {
        guard let limit = minted.perDayMaximum else { return nil }
        let day = now / 86_400
        let name = try pseudonyms.pseudonym(
            of: .token, Array(minted.issuer.utf8), Array("quota".utf8), Array(minted.customer.utf8),
            Array("\(day)".utf8))
        return TokenUse(token: name, keyID: KeyID(words: .zero), limit: limit, keptUntil: (day + 1) * 86_400)
    }
}
