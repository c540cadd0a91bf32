package import ByteCoding

/// The permission to issue one licence. Only the gate makes one.
package struct Authorization: Equatable, Sendable {
    /// The subject, if the token names one.
    package let subject: String?
    /// The token's `jti`, if it has one.
    package let tokenID: String?
    package let issuer: String
    package let content: RequestedContent
    /// The right that grants it, as the token has it.
    package let right: Right
    /// What the licence must not exceed, for the use that was asked for.
    package let limits: LicenseLimits
    /// What the device must be able to do.
    package let protection: Protection
    /// What has to be committed before the answer leaves.
    package let obligations: Obligations
    /// How many seconds before the end of its lease a player should renew, if the right says so.
    package let renewAhead: Int64?
    /// The operator's mark for the ledger.
    package let cookie: String?
    /// The key that the licence must carry in place of a stored one.
    package let embeddedKey: EmbeddedContentKey?
    /// When the rental that this server remembers ends, in seconds since 1970; nil for no such end.
    package let rentalEnd: Int64?

    fileprivate init(
        _ request: GateRequest, _ granted: Right, _ right: Right, _ rental: RentalRemainder?, limits: LicenseLimits
    ) {
        self.right = granted
        rentalEnd = rental?.end
        subject = request.claims.subject
        tokenID = request.claims.tokenID
        issuer = request.claims.issuer
        content = request.content
        self.limits = limits
        protection = right.protection(ofTracks: request.content.trackLabels)
        obligations = Obligations(right, request, rental: rental?.step)
        renewAhead = right.renewAhead
        cookie = request.claims.cookie
        embeddedKey = request.claims.embeddedKey
    }
}

/// The permission to read what a device reports of an offline key, and to hear of it. It allows no licence. Only the
/// gate makes one.
package struct SyncPermission: Equatable, Sendable {
    /// The subject of the token, if it names one.
    package let subject: String?
    /// The token's `jti`, if it has one.
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
    /// Authorises one use of a content.
    ///
    /// The order is that of the decision table (entitlement, section 4.3): revocation, then the rights and their times,
    /// the device, the address and the country, and last what the device can do. Of several rights that cover the
    /// content the first one that grants this use now counts; if none does, the refusal is the first one's. Each check
    /// throws its own refusal.
    package static func authorize(_ request: GateRequest) throws(EntitlementError) -> Authorization {
        try RequestCheck.revocation.check(request)
        try RequestCheck.scope.check(request)
        let granting = try grantingRights(of: request)
        for check in [RequestCheck.device, .address, .country] { try check.check(request) }
        // A right that grants the use may still not suit the device, and a later one may.
        var refusal: EntitlementError?
        for grant in granting {
            do throws(EntitlementError) {
                for check in [RightCheck.outputs, .securityLevel] { try check.check(grant.right, request) }
                return Authorization(request, grant.right, grant.tightened, grant.rental, limits: grant.limits)
            } catch {
                refusal = refusal ?? error
            }
        }
        throw refusal ?? .contentNotCovered
    }

    /// A right that grants the use now, what the policy leaves of it, and what a licence must not exceed.
    private struct Grant {
        let right: Right
        let tightened: Right
        let rental: RentalRemainder?
        let limits: LicenseLimits
    }

    /// At least one; else throws the refusal of the first right that covers the content.
    private static func grantingRights(of request: GateRequest) throws(EntitlementError) -> [Grant] {
        var refusal: EntitlementError?
        var granting: [Grant] = []
        let content = request.content
        for right in request.claims.rights where right.covers(contentID: content.contentID, keyID: content.keyID) {
            do throws(EntitlementError) {
                for check in [RightCheck.profile, .use, .start, .end, .rental] { try check.check(right, request) }
                let tightened = try request.tightened(right)
                let rental = try request.remainder(of: right)
                let limits = try LicenseLimits(of: tightened, rental: rental, for: request.use, now: request.now)
                granting.append(Grant(right: right, tightened: tightened, rental: rental, limits: limits))
            } catch {
                refusal = refusal ?? error
            }
        }
        if granting.isEmpty { throw refusal ?? .contentNotCovered }
        return granting
    }

    /// The same for a client of whom nothing is known, under no policy of this server's own.
    package static func authorize(
        claims: Claims, content: RequestedContent, for use: LicenseUse, now: Int64
    ) throws(EntitlementError) -> Authorization {
        try authorize(GateRequest(claims: claims, content: content, use: use, now: now))
    }

    /// Permits a sync request about `content`, if a right covers it.
    ///
    /// The times and the use of the right do not matter: a device reports above all what has ended, or was
    /// granted before. Throws `contentNotCovered`.
    package static func permitSync(
        claims: Claims, content: RequestedContent
    ) throws(EntitlementError) -> SyncPermission {
        guard claims.covers(contentID: content.contentID, keyID: content.keyID) else { throw .contentNotCovered }
        return SyncPermission(claims: claims, content: content)
    }

    /// Whether the rights name an asset for which no key is stored: its holder may hear that the key is missing. Any
    /// other client hears only that the content is not covered. The asset is read as content, as key, or as either.
    package static func namesAsset(_ claims: Claims, contentID: String?, keyID: KeyID?) -> Bool {
        claims.covers(contentID: contentID, keyID: keyID)
    }
}

/// What a decision must spend, bind or count in the one commit that releases its answer: the gate cannot know these,
/// because other nodes and requests change them.
package struct Obligations: Equatable, Sendable {
    /// With how many distinct requests the token may ask for this key.
    package let usesPerKey: UInt32?
    /// Whether the token is good for the device alone that redeems it first.
    package let bindsFirstDevice: Bool
    /// How many devices the subject may have; 0 if the device must be among them already.
    package let deviceMaximum: UInt32?
    /// The limits of playbacks at once: those of the token and those of the right.
    package let sessions: [SessionClaims]
    /// What must be remembered of the rental.
    package let rental: RentalStep?
    /// Whether a device beyond the maximum takes the place of the oldest one.
    package let replacesOldestDevice: Bool

    package static let none = Obligations(
        usesPerKey: nil, bindsFirstDevice: false, deviceMaximum: nil, sessions: [], rental: nil)

    package var isEmpty: Bool { self == .none }

    private init(
        usesPerKey: UInt32?, bindsFirstDevice: Bool, deviceMaximum: UInt32?, sessions: [SessionClaims],
        rental: RentalStep?, replacesOldestDevice: Bool = false
    ) {
        self.usesPerKey = usesPerKey
        self.bindsFirstDevice = bindsFirstDevice
        self.deviceMaximum = deviceMaximum
        self.sessions = sessions
        self.rental = rental
        self.replacesOldestDevice = replacesOldestDevice
    }

    /// A receiver or an adapter is not the viewer's device: it is not bound and not counted.
    init(_ right: Right, _ request: GateRequest, rental: RentalStep?) {
        let claims = request.claims
        let isOwn = request.device.isViewersOwn
        self.init(
            usesPerKey: claims.limits.usesPerKey,
            bindsFirstDevice: claims.device.binding == .firstUse && isOwn,
            deviceMaximum: claims.device.isRegisteredOnly ? 0 : isOwn ? claims.device.maximum : nil,
            sessions: [claims.session, right.session].filter { !$0.groups.isEmpty }, rental: rental,
            replacesOldestDevice: claims.device.replacesOldest)
    }
}
