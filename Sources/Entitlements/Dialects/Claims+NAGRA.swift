import ByteCoding

/// Reads NAGRA's ContentAuthZ (entitlement, section 1.2.2).
///
/// | ContentAuthZ | claims |
/// |---|---|
/// | `device.deviceUniqueId` | the pinned device: it must be equal to the HU in the SPC |
/// | `device.deviceId`, `device.accountId` | device id, and account and subject |
/// | `jti` | token id; a token that has one allows one use of each key |
/// | `contentRights[]` | rights; one object counts as a list of one |
/// | `duration` | life of a license: a lease in streaming, an end in offline use |
/// | `storable` | streaming and offline use if true, streaming alone if false |
/// | `usageRulesProfileId` | profile |
/// | `defaultUsageRules` | HDCP Type 0 if outputs must be protected |
/// | `sessionControl` | session and groups of the right |
extension Claims {
    private static let tokenVocabulary = [
        "typ", "ver", "exp", "nbf", "iat", "iss", "aud", "jti", "device", "contentRights",
    ]

    /// Throws `claimInvalid` and `claimUnsupported`.
    init(nagra claims: ClaimObject, _ verified: Verified) throws(EntitlementError) {
        guard let type = try claims.string("typ") else { throw claims.invalid("typ") }
        // These tokens belong to the server that made them. The client needs a content token here.
        if type.hasSameUTF8(as: "Session") { throw .sessionOfAnotherServer }
        if type.hasSameUTF8(as: "Kc") { throw .tokenOfAnotherServer }
        // NAGRA has tokens for other services too, but none of them grants a content.
        guard type.hasSameUTF8(as: "ContentAuthZ") else { throw claims.unsupported("typ") }
        guard let version = try claims.string("ver") else { throw claims.invalid("ver") }
        guard version.hasSameUTF8(as: "1.0") else { throw claims.unsupported("ver") }
        try claims.refuseStrangers(to: Self.tokenVocabulary)
        let device = try Self.nagraDevice(of: claims)
        let tokenID = try claims.string("jti")
        var rights: [Right] = []
        let objects =
            claims["contentRights"]?.object == nil
            ? try claims.objects("contentRights", countMaximum: Self.rightCountMaximum)
            : try claims.object("contentRights").map { [$0] }
        for object in try claims.required("contentRights", objects) { rights.append(try Right(nagra: object)) }
        self.init(verified, subject: device.account, tokenID: tokenID, rights: rights)
        self.device = device
        limits = UseLimits(usesPerKey: tokenID == nil ? nil : 1)
        try refuseUncounted(naming: "device.accountId")
    }

    private static func nagraDevice(of claims: ClaimObject) throws(EntitlementError) -> DeviceClaims {
        guard let device = try claims.object("device") else { return DeviceClaims() }
        try device.refuseStrangers(to: ["deviceUniqueId", "deviceId", "accountId"])
        var pinned: DeviceIdentifier?
        if let text = try device.string("deviceUniqueId") {
            pinned = try device.required("deviceUniqueId", DeviceIdentifier(text: text))
        }
        return DeviceClaims(pinned: pinned, id: try device.string("deviceId"), account: try device.string("accountId"))
    }
}

extension Right {
    private static let nagraVocabulary = [
        "contentId", "defaultKcIds", "start", "end", "duration", "storable", "usageRulesProfileId", "defaultUsageRules",
        "sessionControl",
    ]

    /// Reads one element of `contentRights`.
    fileprivate init(nagra claims: ClaimObject) throws(EntitlementError) {
        try claims.refuseStrangers(to: Self.nagraVocabulary)
        self.init(try Self.nagraSelector(of: claims))
        start = try claims.time("start")?.up
        end = try claims.time("end")?.down
        life = try claims.seconds("duration")
        mode = try claims.bool("storable") ?? false ? .both : .stream
        protection = Protection(hdcp: try Self.nagraHDCP(of: claims))
        profile = try claims.string("usageRulesProfileId")
        session = try Self.nagraSession(of: claims)
    }

    /// Selects the keys if the token names any, because they are more exact than the content.
    private static func nagraSelector(of claims: ClaimObject) throws(EntitlementError) -> Selector {
        let contentID = try claims.contentText("contentId")
        if let keyIDs = try claims.list(
            "defaultKcIds", countMaximum: keyIDCountMaximum, { text in try? KeyID(parsing: text) })
        {
            return .keyIDs(keyIDs)
        }
        return .content(try claims.required("contentId", contentID))
    }

    /// FairPlay has no rule for analogue outputs, so a token that forbids them is refused.
    private static func nagraHDCP(of claims: ClaimObject) throws(EntitlementError) -> HDCP? {
        guard let rules = try claims.object("defaultUsageRules") else { return nil }
        try rules.refuseStrangers(to: ["digitalOnly", "hdcp", "unprotectedDigitalOutput"])
        if try rules.bool("digitalOnly") == true { throw rules.unsupported("digitalOnly") }
        let allowsUnprotected = try rules.bool("unprotectedDigitalOutput") ?? true
        let demandsHDCP = try rules.bool("hdcp") ?? false
        return demandsHDCP || !allowsUnprotected ? .type0 : nil
    }

    private static func nagraSession(of claims: ClaimObject) throws(EntitlementError) -> SessionClaims {
        guard let session = try claims.object("sessionControl") else { return SessionClaims() }
        try session.refuseStrangers(to: ["sessionId", "groups"])
        return SessionClaims(
            id: try session.string("sessionId"),
            groups: try SessionClaims.groups(of: session, id: "groupId", maximum: "maxSessions"))
    }
}
