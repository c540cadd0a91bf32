package import ByteCoding

/// The permission to issue one license. Only the gate can make it.
package struct Authorization: Equatable, Sendable {
    /// The subject, if the token names one.
    package let subject: String?
    /// The token's `jti`, if it has one.
    package let tokenID: String?
    package let issuer: String
    package let content: RequestedContent
    /// The right that grants the license, as it is in the token.
    package let right: Right
    /// The right after the policy has tightened it.
    let tightened: Right
    /// From where the token may be used.
    let useLimits: UseLimits
    /// The session that the license renews; nil for an entitlement token.
    let renewedSession: Bytes16?
    /// The limits of the license, for the requested use.
    package let limits: LicenseLimits
    /// The protection that the device must have.
    package let protection: Protection
    /// The changes that must be committed before the answer is sent.
    package let obligations: Obligations
    /// How many seconds before the end of its lease a player should renew; nil if the right does not say.
    package let renewAhead: Int64?
    /// The operator's mark for the ledger.
    package let cookie: String?
    /// The key that the license must carry instead of a stored one.
    package let embeddedKey: EmbeddedContentKey?
    /// The end of the rental whose state this server stores, in seconds since 1970; nil if the rental has no known end.
    package let rentalEnd: Int64?

    fileprivate init(
        _ request: GateRequest, granted: Right, tightened right: Right, rental: RentalRemainder?, limits: LicenseLimits
    ) {
        self.right = granted
        tightened = right
        renewedSession = request.claims.renewal?.id
        useLimits = request.claims.limits
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

/// The permission to read a device's report about an offline key, and to answer it.
///
/// It does not permit a license. Only the gate can make it.
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

/// Decides whether claims allow a license. It is a pure function: the same arguments always give the same decision.
package enum Gate {
    /// Authorises one use of a content.
    ///
    /// The order of the checks is fixed (entitlement, section 4.3): revocation, the issuer's scope, the rights and
    /// their times, the device, the address, the country, and last the outputs and the security level of the device.
    ///
    /// If several rights cover the content, the first one that passes all checks counts. If none of them does, the
    /// refusal of the first right that grants the use at another time is thrown, and without such a right the refusal
    /// of the first right. Each check throws its own error.
    package static func authorize(_ request: GateRequest) throws(EntitlementError) -> Authorization {
        try RequestCheck.revocation.check(request)
        try RequestCheck.scope.check(request)
        let granting = try grantingRights(of: request)
        for check in [RequestCheck.device, .address, .country] { try check.check(request) }
        // The device may be unsuitable for one right, and suitable for a later one.
        var refusal: EntitlementError?
        for grant in granting {
            do throws(EntitlementError) {
                for check in [RightCheck.outputs, .securityLevel] { try check.check(grant.right, request) }
                return Authorization(
                    request, granted: grant.right, tightened: grant.tightened, rental: grant.rental,
                    limits: grant.limits)
            } catch {
                refusal = refusal ?? error
            }
        }
        throw refusal ?? .contentNotCovered
    }

    /// A right that grants the use now.
    private struct Grant {
        /// The right as it is in the token.
        let right: Right
        /// The right after the policy has tightened it.
        let tightened: Right
        let rental: RentalRemainder?
        let limits: LicenseLimits
    }

    /// Returns the rights that grant the use now, at least one.
    ///
    /// If no right grants it, throws the most telling refusal of the rights that cover the content.
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
                refusal = refusal?.orMoreTelling(error) ?? error
            }
        }
        if granting.isEmpty { throw refusal ?? .contentNotCovered }
        return granting
    }

    /// Authorises one use of a content for a client about which nothing is known, without a policy of this server.
    package static func authorize(
        claims: Claims, content: RequestedContent, for use: LicenseUse, now: Int64
    ) throws(EntitlementError) -> Authorization {
        try authorize(GateRequest(claims: claims, content: content, use: use, now: now))
    }

    /// Permits a sync request about `content`, if a right covers it.
    ///
    /// The times and the use of the right are not checked, because a device mostly reports licenses that have ended or
    /// were granted before. Throws `contentNotCovered`.
    package static func permitSync(
        claims: Claims, content: RequestedContent
    ) throws(EntitlementError) -> SyncPermission {
        guard claims.covers(contentID: content.contentID, keyID: content.keyID) else { throw .contentNotCovered }
        return SyncPermission(claims: claims, content: content)
    }

    /// Whether the rights cover an asset for which no key is stored.
    ///
    /// Only then may the client be told that the key is missing. Any other client is told that the content is not
    /// covered. `contentID` and `keyID` are the two ways to read the name of the asset; either may be nil.
    package static func namesAsset(_ claims: Claims, contentID: String?, keyID: KeyID?) -> Bool {
        claims.covers(contentID: contentID, keyID: keyID)
    }
}

extension EntitlementError {
    /// The refusal of a right, or that of a later right if it says more.
    ///
    /// A right that grants the use at another time says more than a right that never grants it: a rental that has ended
    /// says more than a right for streaming, if the request is for offline use.
    fileprivate func orMoreTelling(_ later: EntitlementError) -> EntitlementError {
        isAboutUse && later.isAboutTime ? later : self
    }

    private var isAboutUse: Bool {
        [.streamingNotGranted, .offlineNotGranted, .offlineOutlivesLease].contains(self)
    }

    private var isAboutTime: Bool {
        if case .rightNotStarted = self { return true }
        return self == .rightEnded
    }
}

/// The changes that the caller must commit in one transaction before it sends the answer: uses to count, a device to
/// bind, playbacks to count and a rental to store.
///
/// The gate cannot check them, because other nodes and requests change the same counts.
package struct Obligations: Equatable, Sendable {
    /// The most distinct requests for this key with this token.
    package let usesPerKey: UInt32?
    /// Whether the token is valid only for the first device that redeems it.
    package let bindsFirstDevice: Bool
    /// The most devices that the subject may have; 0 if the device must be registered already.
    package let deviceMaximum: UInt32?
    /// The limits on concurrent playbacks that come from the token and from the right.
    package let sessions: [SessionClaims]
    /// The change to the stored state of the rental.
    package let rental: RentalStep?
    /// Whether a device beyond the maximum replaces the oldest one.
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

    /// Collects the obligations of a right. An AirPlay receiver or an AV adapter is not the viewer's own device, so it
    /// is not bound to the token and not counted.
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
