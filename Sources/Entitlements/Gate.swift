package import ByteCoding

/// The content that a licence is asked for, as the key store knows it.
package struct RequestedContent: Equatable, Sendable {
    package let contentID: String
    package let keyID: KeyID
    /// The labels under which the `tracks` of a right may speak of the key: the packager's own, and the one of its content type.
    package let trackLabels: [String]

    package init(contentID: String, keyID: KeyID, trackLabels: [String]) {
        self.contentID = contentID
        self.keyID = keyID
        self.trackLabels = trackLabels
    }
}

/// The permission to issue one licence. Only the gate makes one.
package struct Authorization: Equatable, Sendable {
    /// Whom it is for, where the token says.
    package let subject: String?
    /// The token's `jti`, where it has one.
    package let tokenID: String?
    package let issuer: String
    package let content: RequestedContent
    /// What the licence must not exceed, for the use that was asked for.
    package let limits: LicenseLimits
    /// What the device must be able to do.
    package let protection: Protection

    fileprivate init(claims: Claims, content: RequestedContent, limits: LicenseLimits, protection: Protection) {
        subject = claims.subject
        tokenID = claims.tokenID
        issuer = claims.issuer
        self.content = content
        self.limits = limits
        self.protection = protection
    }
}

/// The permission to read what a device reports of an offline key, and to hear of it. It allows no licence. Only the gate makes one.
package struct SyncPermission: Equatable, Sendable {
    /// Whose token it was, where the token says.
    package let subject: String?
    /// The token's `jti`, where it has one.
    package let tokenID: String?
    package let issuer: String
    package let content: RequestedContent

    fileprivate init(claims: Claims, content: RequestedContent) {
        subject = claims.subject
        tokenID = claims.tokenID
        issuer = claims.issuer
        self.content = content
    }
}

/// Decides whether claims allow a licence. It is pure: the same arguments always give the same answer.
package enum Gate {
    /// Authorises one use of `content` at `now`, in seconds since 1970.
    ///
    /// Of several rights that cover the content the first one that grants this use now counts; if none does, the refusal is the first
    /// one's. Throws `contentNotCovered`, `streamingNotGranted`, `offlineNotGranted`, `offlineOutlivesLease`, `rightNotStarted`,
    /// `rightEnded`.
    package static func authorize(
        claims: Claims, content: RequestedContent, for use: LicenseUse, now: Int64
    ) throws(EntitlementError) -> Authorization {
        var refusal: EntitlementError?
        for right in claims.rights where right.covers(contentID: content.contentID, keyID: content.keyID) {
            do throws(EntitlementError) {
                let limits = try LicenseLimits(of: right, for: use, now: now)
                let protection = right.protection(ofTracks: content.trackLabels)
                return Authorization(claims: claims, content: content, limits: limits, protection: protection)
            } catch {
                refusal = refusal ?? error
            }
        }
        throw refusal ?? .contentNotCovered
    }

    /// Permits a sync request about `content`, where a right covers it.
    ///
    /// Neither when the right holds nor for what use matters: a device reports most of all what has ended, or was granted before. Throws
    /// `contentNotCovered`.
    package static func permitSync(
        claims: Claims, content: RequestedContent
    ) throws(EntitlementError) -> SyncPermission {
        let isCovered = claims.rights.contains { $0.covers(contentID: content.contentID, keyID: content.keyID) }
        guard isCovered else { throw .contentNotCovered }
        return SyncPermission(claims: claims, content: content)
    }

    /// Whether the rights name an asset for which no key is stored: its holder may hear that the key is missing, anyone else only that the
    /// content is not covered. The asset is read as content, as key, or as either.
    package static func namesAsset(_ claims: Claims, contentID: String?, keyID: KeyID?) -> Bool {
        claims.rights.contains { $0.covers(contentID: contentID, keyID: keyID) }
    }
}
