import ByteCoding

/// A claim that a dialect cannot express.
package struct UnsayableClaim: Error, Equatable, Sendable {
    /// The member of the native vocabulary.
    package let name: String
    package let dialect: TokenDialect
}

/// Writes the contents of a token in the other dialects.
///
/// Each writer refuses contents that its dialect cannot express: if a limit were left out, the token would grant more.
extension TokenContents {
    /// Returns the payload of a token in a dialect. Throws for a claim that the dialect cannot express.
    func payload(in dialect: TokenDialect, keyID: String) throws(UnsayableClaim) -> [UInt8] {
        switch dialect {
        case .jwt, .expressPlay: return json
        case .nagra: return try nagra()
        case .axinom: return try axinom(keyID: keyID)
        }
    }

    /// Throws for the first member that is present.
    private static func refuse(
        _ members: [(name: String, isThere: Bool)], in dialect: TokenDialect
    ) throws(UnsayableClaim) {
        for member in members where member.isThere { throw UnsayableClaim(name: member.name, dialect: dialect) }
    }

    // MARK: NAGRA

    /// Writes ContentAuthZ. The token ID is left out, because a token with one allows only one use of each key.
    private func nagra() throws(UnsayableClaim) -> [UInt8] {
        for right in rights { try Self.checkNAGRA(right) }
        return JSONWriter.object { writer in
            writer.member("typ", "ContentAuthZ")
            writer.member("ver", "1.0")
            writer.member("exp", expiresAt)
            if let subject {
                writer.object("device") { $0.member("accountId", subject) }
            }
            writer.objects("contentRights", rights) { Self.writeNAGRA($1, to: &$0) }
        }
    }

    private static func checkNAGRA(_ right: Right) throws(UnsayableClaim) {
        var namesContent = false
        if case .content = right.selector { namesContent = true }
        try refuse(
            [
                ("kids", !namesContent), ("lease", right.lease != nil), ("storage", right.storage != nil),
                ("playback", right.playback != nil), ("mode", right.mode == .offline),
                ("hdcp", right.protection.hdcp == .type1), ("min_level", right.protection.securityLevel != nil),
                ("tracks", !right.tracks.isEmpty), ("airplay", right.outputs != OutputPermissions()),
            ], in: .nagra)
    }

    private static func writeNAGRA(_ right: Right, to writer: inout JSONWriter) {
        if case .content(let name) = right.selector { writer.member("contentId", name) }
        for case (let name, let time?) in [("start", right.start), ("end", right.end)] {
            writer.member(name, ExplainedText.time(time))
        }
        if let duration = right.duration { writer.member("duration", duration) }
        if right.mode == .both { writer.member("storable", true) }
        if let profile = right.profile { writer.member("usageRulesProfileId", profile) }
        guard let hdcp = right.protection.hdcp else { return }
        writer.object("defaultUsageRules") { $0.member("hdcp", hdcp == .type0) }
    }

    // MARK: Axinom

    /// Writes a license service message with an entitlement message of version 2. It can have one right only.
    private func axinom(keyID: String) throws(UnsayableClaim) -> [UInt8] {
        guard rights.count == 1, let right = rights.first, case .keyIDs(let keyIDs) = right.selector else {
            throw UnsayableClaim(name: "content", dialect: .axinom)
        }
        try Self.refuse(
            [
                ("storage", right.storage != nil), ("mode", right.mode == .offline), ("tracks", !right.tracks.isEmpty),
                ("playback", right.playback != nil && right.mode != .both), ("profile", right.profile != nil),
                ("min_level", right.protection.securityLevel != nil),
            ], in: .axinom)
        return JSONWriter.object { writer in
            writer.member("version", 1)
            writer.member("com_key_id", keyID)
            if let tokenID { writer.member("id", tokenID) }
            writer.member("begin_date", ExplainedText.time(notBefore ?? issuedAt))
            writer.member("expiration_date", ExplainedText.time(expiresAt))
            writer.object("message") { writer in
                writer.member("type", "entitlement_message")
                writer.member("version", 2)
                writer.object("license") { Self.writeAxinomLicense(right, to: &$0) }
                writer.object("content_keys_source") { Self.writeAxinomKeys(keyIDs, to: &$0) }
                writer.array("content_key_usage_policies") { $0.object { Self.writeAxinomPolicy(right, to: &$0) } }
                if let subject {
                    writer.object("session") { $0.member("user_id", subject) }
                }
            }
        }
    }

    private static let policyName = "policy"

    private static func writeAxinomLicense(_ right: Right, to writer: inout JSONWriter) {
        for case (let name, let time?) in [("start_datetime", right.start), ("expiration_datetime", right.end)] {
            writer.member(name, ExplainedText.time(time))
        }
        if let duration = right.duration { writer.member("duration", duration) }
        writer.member("allow_persistence", right.mode == .both)
        if let lease = right.lease { writer.member("concurrency_interval", lease) }
        guard let playback = right.playback else { return }
        writer.object("fairplay") { $0.member("playback_duration", playback) }
    }

    private static func writeAxinomKeys(_ keyIDs: [KeyID], to writer: inout JSONWriter) {
        writer.objects("stored", keyIDs) { writer, keyID in
            writer.member("id", keyID.description)
            writer.member("usage_policy", policyName)
        }
    }

    private static func writeAxinomPolicy(_ right: Right, to writer: inout JSONWriter) {
        writer.member("name", policyName)
        writer.object("fairplay") { writer in
            if let hdcp = right.protection.hdcp { writer.member("hdcp", hdcp.rawValue.uppercased()) }
            if let airPlay = right.outputs.airPlay { writer.member("allow_airplay", airPlay) }
            if let avAdapter = right.outputs.avAdapter { writer.member("allow_av_adapter", avAdapter) }
        }
    }
}
