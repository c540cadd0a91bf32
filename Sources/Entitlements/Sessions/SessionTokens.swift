package import ByteCoding
package import KeyCrypto

/// The keys and rules of session tokens, which this server gives with a lease and takes for its renewal.
///
/// A session token is a JWT of HS256 under a key that servers alone have. It carries what the entitlement token
/// granted, so that a renewal does not need that token or its issuer.
package struct SessionTokens: Sendable {
    /// The size of a key's secret in bytes.
    package static let secretSize = 32
    /// How many seconds past its lease a token may renew it, unless configured.
    package static let graceDefault: Int64 = 120
    /// How many seconds a session may last, unless configured.
    package static let lifeDefault: Int64 = 43_200

    /// A key with the name that tokens have for it, which follows from the key, so that nodes need not agree on one.
    struct Key: Sendable {
        let id: String
        let code: HMACSHA256Key

        fileprivate init(_ code: HMACSHA256Key) throws(CryptoError) {
            let digest = try code.code(for: Array("latchkey session key id".utf8)[...])
            id = "session-" + Hexadecimal.encode(digest.prefix(8))
            self.code = code
        }

        func isValidSignature(of token: Token) -> Bool {
            code.isValid(token.signature[...], for: token.signedBytes)
        }
    }

    let current: Key
    private let retired: [Key]
    /// How many seconds past its lease a token may renew it.
    package let grace: Int64
    /// How many seconds a session lasts at most, from its first licence on.
    package let maximumLife: Int64

    /// `retired` keys still verify, and no longer sign.
    package init(
        key: HMACSHA256Key, retired: [HMACSHA256Key] = [], grace: Int64 = graceDefault,
        maximumLife: Int64 = lifeDefault
    ) throws(CryptoError) {
        current = try Key(key)
        var others: [Key] = []
        for key in retired { others.append(try Key(key)) }
        self.retired = others
        self.grace = grace
        self.maximumLife = maximumLife
    }

    /// The key of a token; nil if no key has this id.
    func key(id: String) -> Key? {
        if current.id.hasSameUTF8(as: id) { return current }
        return retired.first { $0.id.hasSameUTF8(as: id) }
    }

    /// Whether the grant was made for this device.
    package func isBound(_ grant: SessionGrant, to device: DeviceIdentifier) -> Bool {
        guard let key = key(id: grant.keyID), let code = try? Self.code(of: device, in: grant.id, by: key) else {
            return false
        }
        return ConstantTime.areEqual(code[...], grant.deviceCode[...])
    }

    /// What a token carries of HU: half an HMAC that differs from session to session. The zero byte keeps it apart from
    /// everything that is signed.
    static func code(
        of device: DeviceIdentifier, in session: Bytes16, by key: Key
    ) throws(CryptoError) -> [UInt8] {
        let message = Array("latchkey session device".utf8) + [0] + session.bytes + device.bytes
        return Array(try key.code.code(for: message[...]).prefix(16))
    }
}

/// What ties a session token to one playback, beside the claims that its renewals keep.
package struct SessionGrant: Equatable, Sendable {
    /// Names the session: the id of the licence that it began with.
    package let id: Bytes16
    /// Counts the tokens of the session: each renewal gives the next one.
    package let generation: UInt32
    /// The playback session that the device's SPCs tell.
    package let playback: UInt64
    /// The first second, since 1970, in which nothing of the session holds any more.
    package let absoluteEnd: Int64
    /// The licence that was given together with the token.
    package let license: Bytes16
    /// What the first token stood for if it had no subject; 32 bytes.
    package let owner: [UInt8]?
    /// What was remembered of the rental with that licence; nil if its right has no rental.
    package let rental: RentalStanding.Memory?
    /// The session key that signed the token.
    let keyID: String
    /// Confirms HU to a holder of that key, and does not reveal it.
    let deviceCode: [UInt8]
}

/// Why a session token renews nothing any more; the app needs a new entitlement token.
package enum SessionEnd: Equatable, Sendable {
    /// The lease and its grace, or the whole session, are over.
    case expired
    /// The request is of another playback.
    case otherPlayback
}

extension SessionEnd: CustomStringConvertible {
    /// Words for the log.
    package var description: String {
        switch self {
        case .expired: "its lease with the grace, or the whole session, is over"
        case .otherPlayback: "the request is of another playback"
        }
    }
}

extension TokenVerifier {
    /// The session key that a token names; nil if it is an entitlement token.
    func sessionKey(of token: Token) -> SessionTokens.Key? {
        guard let sessions, let keyID = token.keyID else { return nil }
        return sessions.key(id: keyID)
    }

    /// The claims of a session token. Throws as `verify` does, and `sessionEnded`.
    func verify(_ token: Token, signedBy key: SessionTokens.Key, now: Int64) throws(EntitlementError) -> Claims {
        guard token.algorithm == .hs256 else { throw .algorithmNotPinned }
        guard key.isValidSignature(of: token) else { throw .signatureInvalid }
        let payload = try TokenPayload.read(token)
        let times = try TokenTimes(of: payload)
        try checkSession(times, now: now)
        return try Claims(session: payload, signedBy: key, times: times, issuers: issuers)
    }

    /// An app that hears that its token has expired fetches another one; one whose session has ended must know which
    /// token that is.
    func checkSession(_ times: TokenTimes, now: Int64) throws(EntitlementError) {
        do throws(EntitlementError) {
            try times.check(now: now, leeway: leeway)
        } catch {
            if case .tokenExpired = error { throw .sessionEnded(.expired) }
            throw error
        }
    }
}

extension IssuerSet {
    /// The issuer that has this name and writes so.
    func issuer(named name: String, dialect: TokenDialect) -> Issuer? {
        issuers.first { $0.dialect == dialect && $0.name.hasSameUTF8(as: name) }
    }
}

extension Issuer {
    /// Where one of the issuer's keys stands; nil for a key that it no longer has.
    func state(ofKeyID id: String) -> KeyState? {
        keys.first { $0.id.hasSameUTF8(as: id) }?.state ?? sealingKeys.first { "\($0.id)" == id }?.state
    }
}
