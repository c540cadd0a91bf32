package import ByteCoding

/// The content that a licence is asked for, as the key store knows it.
package struct RequestedContent: Equatable, Sendable {
    package let contentID: String
    package let keyID: KeyID

    package init(contentID: String, keyID: KeyID) {
        self.contentID = contentID
        self.keyID = keyID
    }
}

/// The permission to issue one streaming licence. Only the gate makes one.
package struct Authorization: Equatable, Sendable {
    /// Whom it is for, where the token says.
    package let subject: String?
    /// The token's `jti`, where it has one.
    package let tokenID: String?
    package let issuer: String
    package let content: RequestedContent
    /// What the licence must not exceed.
    package let limits: StreamingLimits

    fileprivate init(claims: Claims, content: RequestedContent, limits: StreamingLimits) {
        subject = claims.subject
        tokenID = claims.tokenID
        issuer = claims.issuer
        self.content = content
        self.limits = limits
    }
}

/// Decides whether claims allow a licence. It is pure: the same arguments always give the same answer.
package enum Gate {
    /// Authorises streaming of `content` at `now`, in seconds since 1970.
    ///
    /// Of several rights that cover the content the first one that grants now counts; if none does, the refusal is the first one's. Throws
    /// `contentNotCovered`, `streamingNotGranted`, `rightNotStarted`, `rightEnded`.
    package static func authorize(
        claims: Claims, content: RequestedContent, now: Int64
    ) throws(EntitlementError) -> Authorization {
        var refusal: EntitlementError?
        for right in claims.rights where right.covers(contentID: content.contentID, keyID: content.keyID) {
            do throws(EntitlementError) {
                let limits = try StreamingLimits(of: right, now: now)
                return Authorization(claims: claims, content: content, limits: limits)
            } catch {
                refusal = refusal ?? error
            }
        }
        throw refusal ?? .contentNotCovered
    }

    /// Whether the rights name an asset for which no key is stored: its holder may hear that the key is missing, anyone else only that the
    /// content is not covered. The asset is read as content, as key, or as either.
    package static func namesAsset(_ claims: Claims, contentID: String?, keyID: KeyID?) -> Bool {
        claims.rights.contains { $0.covers(contentID: contentID, keyID: keyID) }
    }
}
