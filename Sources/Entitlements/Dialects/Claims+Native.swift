extension Claims {
    /// The facts that the verifier has checked before it reads the rights.
    struct Verified {
        let issuer: Issuer
        let keyID: String
        let keyEnd: Int64?
        let times: TokenTimes
    }

    init(_ verified: Verified, subject: String?, tokenID: String?, rights: [Right]) {
        issuer = verified.issuer.name
        dialect = verified.issuer.dialect
        offlineByRight = verified.issuer.offlineByRight
        keyID = verified.keyID
        keyEnd = verified.keyEnd
        scope = verified.issuer.contents
        times = verified.times
        self.subject = subject
        self.tokenID = tokenID
        self.rights = rights
    }

    /// Reads the payload of a compact token in its issuer's dialect. Throws `claimInvalid` and `claimUnsupported`.
    init(_ claims: ClaimObject, _ verified: Verified) throws(EntitlementError) {
        switch verified.issuer.dialect {
        case .jwt, .expressPlay: try self.init(native: claims, verified)
        case .nagra: try self.init(nagra: claims, verified)
        case .axinom: try self.init(axinom: claims, verified)
        }
    }

    /// Reads the native vocabulary. Throws `claimInvalid` and `claimUnsupported`.
    init(native claims: ClaimObject, _ verified: Verified) throws(EntitlementError) {
        let device = try DeviceClaims(native: claims)
        self.init(
            verified, subject: try claims.string("sub"), tokenID: try claims.string("jti"),
            rights: try Self.rights(of: claims))
        // The state of a rental is stored under its subject.
        if subject == nil, remembersRental { throw claims.invalid("sub") }
        self.device = device
        session = try Self.session(of: claims)
        limits = try Self.limits(of: claims)
        cookie = try claims.string("cookie", sizeMaximum: Self.cookieSizeMaximum)
        try refuseUncounted(naming: "sub")
    }

    /// Refuses limits on playbacks if the token names no subject.
    ///
    /// Without a subject, only the playbacks of one token could be counted, and a viewer with several tokens would
    /// exceed the limit. `path` is the member in which the dialect names the subject. Throws `claimInvalid`.
    func refuseUncounted(naming path: String) throws(EntitlementError) {
        let hasGroups = !session.groups.isEmpty || rights.contains { !$0.session.groups.isEmpty }
        guard subject != nil || !hasGroups else { throw .claimInvalid(path) }
    }

    private static func session(of claims: ClaimObject) throws(EntitlementError) -> SessionClaims {
        guard let session = try claims.object("session") else { return SessionClaims() }
        return try SessionClaims(native: session)
    }

    private static func limits(of claims: ClaimObject) throws(EntitlementError) -> UseLimits {
        guard let limits = try claims.object("limits") else { return UseLimits() }
        return try UseLimits(native: limits)
    }

    private static func rights(of claims: ClaimObject) throws(EntitlementError) -> [Right] {
        let elements = try claims.required(
            "rights", try claims.objects("rights", countMaximum: rightCountMaximum))
        var rights: [Right] = []
        rights.reserveCapacity(elements.count)
        for element in elements { rights.append(try Right(native: element)) }
        return rights
    }
}
