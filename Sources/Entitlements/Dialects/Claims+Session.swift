import ByteCoding
import POSIXSockets

/// The payload of a session token. It keeps the claims of the entitlement token with which the session began.
///
/// | member | meaning |
/// |---|---|
/// | `typ`, `ver` | "Session", "1" |
/// | `sid`, `gen` | ID of the session, and number of this token in the session |
/// | `iat`, `exp`, `abs_end` | time of issue, end of the lease with its grace, end of the session |
/// | `lic` | ID of the license that was issued together with the token |
/// | `cnf` | code of HU under the session key |
/// | `fps` | playback session |
/// | `orig` | issuer, dialect, key id and token id of the entitlement token |
/// | `sub`, `cookie`, `device`, `limits`, `sessions`, `right` | claims of the entitlement token |
/// | `own` | identifies the entitlement token if it has no subject |
/// | `rental` | when the rental was opened and first played, if the right has a rental |
extension Claims {
    private static let sessionVocabulary = [
        "typ", "ver", "sid", "gen", "iat", "exp", "abs_end", "lic", "cnf", "fps", "orig", "sub", "cookie", "device",
        "limits", "sessions", "right", "own", "rental",
    ]
    static let sessionVersion = "1"

    /// Writes the payload of a token for a session that begins or continues with these claims.
    func sessionPayload(_ grant: SessionGrant, right: Right, issuedAt: Int64, expiresAt: Int64) -> [UInt8] {
        // Room for most payloads. The C library hands out pieces of up to 1032 bytes faster than larger ones.
        JSONWriter.object(expectedSize: 960) { writer in
            writer.member("typ", "Session")
            writer.member("ver", Self.sessionVersion)
            writer.member("sid", hexadecimal: grant.id)
            writer.member("gen", UInt64(grant.generation))
            writer.member("iat", issuedAt)
            writer.member("exp", expiresAt)
            writer.member("abs_end", grant.absoluteEnd)
            writer.member("lic", hexadecimal: grant.license)
            writer.member("cnf", base64URL: grant.deviceCode)
            writer.member("fps", hexadecimal: grant.playback)
            writer.object("orig") { writer in
                writer.member("iss", issuer)
                writer.member("dialect", dialect.rawValue)
                writer.member("kid", keyID)
                if let tokenID { writer.member("jti", tokenID) }
            }
            if let subject { writer.member("sub", subject) }
            if let cookie { writer.member("cookie", cookie) }
            if let owner = grant.owner { writer.member("own", base64URL: owner) }
            writeDevice(to: &writer)
            writeLimits(to: &writer)
            writer.array("sessions") { writer in
                session.write(to: &writer)
                right.session.write(to: &writer)
            }
            writer.name("right")
            right.write(to: &writer)
            if let rental = grant.rental {
                writer.object("rental") { writer in
                    writer.member("opened", rental.openedAt)
                    if let firstPlay = rental.firstPlay { writer.member("first", firstPlay) }
                }
            }
        }
    }

    private func writeDevice(to writer: inout JSONWriter) {
        guard device.id != nil || device.account != nil else { return }
        writer.object("device") { writer in
            if let id = device.id { writer.member("id", id) }
            if let account = device.account { writer.member("account", account) }
        }
    }

    private func writeLimits(to writer: inout JSONWriter) {
        guard !limits.networks.isEmpty || !limits.countries.isEmpty else { return }
        writer.object("limits") { writer in
            if !limits.networks.isEmpty {
                writer.array("ips") { writer in for network in limits.networks { writer.string(network.description) } }
            }
            if !limits.countries.isEmpty {
                writer.array("countries") { writer in for country in limits.countries { writer.string(country.text) } }
            }
        }
    }
}

extension Claims {
    /// Reads a payload that `sessionPayload` wrote. The caller has verified the signature with `key`.
    ///
    /// The claims do not pin the device: the caller compares HU with the grant (`SessionTokens.isBound`). Throws
    /// `claimInvalid`, `claimUnsupported`, `keyUnknown` and `keyRevoked`.
    init(
        session claims: ClaimObject, signedBy keyID: String, times: TokenTimes, issuers: IssuerSet
    ) throws(EntitlementError) {
        guard try claims.string("typ") == "Session" else { throw claims.invalid("typ") }
        guard try claims.string("ver") == Self.sessionVersion else { throw claims.unsupported("ver") }
        try claims.refuseStrangers(to: Self.sessionVocabulary)
        let origin = try claims.required("orig", try claims.object("orig"))
        let verified = try Self.verified(origin, times: times, issuers: issuers)
        let right = try claims.required("right", try claims.object("right"))
        let sessions = try claims.required("sessions", try claims.objects("sessions", countMaximum: 2))
        guard sessions.count == 2 else { throw claims.invalid("sessions") }
        let device = try claims.object("device")
        self.init(
            verified, subject: try claims.string("sub"), tokenID: try origin.string("jti"),
            rights: [try Right(native: right).with(SessionClaims(kept: sessions[1]))])
        self.device = DeviceClaims(id: try device?.string("id"), account: try device?.string("account"))
        session = try SessionClaims(kept: sessions[0])
        if let limits = try claims.object("limits") { self.limits = try UseLimits(native: limits) }
        cookie = try claims.string("cookie", sizeMaximum: Self.cookieSizeMaximum)
        renewal = try SessionGrant(reading: claims, keyID: keyID)
    }

    /// Checks the origin of the session: its issuer and key must still be configured, and the key must not be revoked.
    ///
    /// A key that was retired in the meantime is accepted, so that a running playback does not stop. If the issuer's
    /// keys come from a URL, a key that is not there any more was retired, and keys may also be missing because the URL
    /// does not answer.
    private static func verified(
        _ origin: ClaimObject, times: TokenTimes, issuers: IssuerSet
    ) throws(EntitlementError) -> Verified {
        let name = try origin.required("iss", try origin.string("iss"))
        let keyID = try origin.required("kid", try origin.string("kid"))
        let dialect: TokenDialect = try origin.required("dialect", try origin.word("dialect"))
        let origins = issuers.issuers(named: name, dialect: dialect).map { ($0, state: $0.state(ofKeyID: keyID)) }
        guard !origins.contains(where: { $0.state == .revoked }) else { throw .keyRevoked }
        guard
            let (issuer, _) = origins.first(where: { $0.state != nil })
                ?? origins.first(where: { $0.0.keySupply != .configured })
        else { throw .keyUnknown }
        return Verified(issuer: issuer, keyID: keyID, keyEnd: nil, times: times)
    }
}

extension SessionGrant {
    fileprivate init(reading claims: ClaimObject, keyID: String) throws(EntitlementError) {
        self.keyID = keyID
        id = try Self.bytes16("sid", of: claims)
        license = try Self.bytes16("lic", of: claims)
        generation = try claims.required("gen", try claims.count("gen"))
        absoluteEnd = try claims.required("abs_end", try claims.numericDate("abs_end")).up
        playback = try claims.required(
            "fps", try claims.string("fps").flatMap { $0.utf8.count == 16 ? UInt64($0, radix: 16) : nil })
        deviceCode = try claims.required("cnf", try Self.bytes("cnf", of: claims, count: 16))
        owner = try Self.bytes("own", of: claims, count: 32)
        rental = try claims.object("rental").map { rental throws(EntitlementError) in
            try rental.refuseStrangers(to: ["opened", "first"])
            return RentalStanding.Memory(
                openedAt: try rental.required("opened", try rental.numericDate("opened")).up,
                firstPlay: try rental.numericDate("first")?.up)
        }
    }

    private static func bytes16(_ name: String, of claims: ClaimObject) throws(EntitlementError) -> Bytes16 {
        let text = try claims.required(name, try claims.string(name))
        return try claims.required(name, (try? Hexadecimal.decode(text)).flatMap { Bytes16($0) })
    }

    /// Returns the bytes of a member; nil if the member is absent.
    private static func bytes(
        _ name: String, of claims: ClaimObject, count: Int
    ) throws(EntitlementError) -> [UInt8]? {
        guard let text = try claims.string(name) else { return nil }
        guard let bytes = try? Base64URL.decode(text), bytes.count == count else { throw claims.invalid(name) }
        return bytes
    }
}

extension SessionClaims {
    /// Reads the form that `write` writes: the native form and, in addition, the grace.
    fileprivate init(kept session: ClaimObject) throws(EntitlementError) {
        self.init(
            id: try session.string("id"), groups: try Self.groups(of: session, id: "id", maximum: "max"),
            mode: try session.word("mode") ?? .denyNew, grace: try session.seconds("grace"))
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            if let id { writer.member("id", id) }
            if mode != .denyNew { writer.member("mode", mode.rawValue) }
            if let grace, grace > 0 { writer.member("grace", grace) }
            guard !groups.isEmpty else { return }
            writer.array("groups") { writer in
                for group in groups {
                    writer.object { writer in
                        writer.member("id", group.id)
                        writer.member("max", UInt64(group.maximum))
                    }
                }
            }
        }
    }
}

extension Right {
    fileprivate func with(_ session: SessionClaims) -> Right {
        var copy = self
        copy.session = session
        return copy
    }
}
