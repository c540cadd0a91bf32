import ByteCoding
package import KeyCrypto

/// The keys and rules of session tokens. The server issues one with each lease, and accepts it to renew the lease.
///
/// A session token is a JWT with HS256, whose key only the servers have. It contains the rights of the entitlement
/// token, so that a renewal does not need that token or its issuer.
package struct SessionTokens: Sendable {
    /// The size of a key's secret in bytes.
    package static let secretSize = 32
    /// The grace in seconds if none is configured.
    package static let graceDefault: Int64 = 120
    /// The longest life of a session in seconds if none is configured.
    package static let lifeDefault: Int64 = 43_200

    /// A key and the key ID that tokens use. The ID is computed from the key, so that all nodes use the same one.
    struct Key: Sendable {
        let id: String
        let code: HMACSHA256Key
        /// The first part of each token that the key signs, with the point after it.
        let header: [UInt8]

        fileprivate init(_ code: HMACSHA256Key) throws(CryptoError) {
            let digest = try code.code(for: Array("latchkey session key id".utf8)[...])
            let id = "session-" + Hexadecimal.encode(digest.prefix(8))
            let header = JSONWriter.object { writer in
                writer.member("alg", SigningAlgorithm.hs256.rawValue)
                writer.member("kid", id)
                writer.member("typ", "JWT")
            }
            self.id = id
            self.code = code
            self.header = Array(Base64URL.encode(header).utf8) + [UInt8(ascii: ".")]
        }

        func isValidSignature(of token: Token) -> Bool {
            code.isValid(token.signature[...], for: token.signedBytes)
        }
    }

    let current: Key
    private let retired: [Key]
    /// For how many seconds after the end of a lease its token may still renew it.
    package let grace: Int64
    /// The longest life of a session in seconds, counted from its first license.
    package let maximumLife: Int64

    /// Keys in `retired` still verify tokens, but no longer sign them.
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

    /// Returns the key with an ID; nil if there is no such key.
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

    /// Returns the code by which a token identifies its device: the first 16 bytes of an HMAC of session and HU.
    ///
    /// The HMAC key also signs tokens. No signed text contains a zero byte, so the zero byte in the message keeps codes
    /// and signatures apart.
    static func code(
        of device: DeviceIdentifier, in session: Bytes16, by key: Key
    ) throws(CryptoError) -> [UInt8] {
        var message = ByteWriter(capacity: 64)
        message.write(utf8Of: "latchkey session device")
        message.write(UInt8(0))
        message.write(session)
        message.write(device.bytes)
        var code = try key.code.code(for: message.bytes[...])
        code.removeLast(code.count - 16)
        return code
    }
}

extension TokenVerifier {
    /// The session key that a token names; nil if it is an entitlement token.
    func sessionKey(of token: Token) -> SessionTokens.Key? {
        guard let sessions, let keyID = token.keyID else { return nil }
        return sessions.key(id: keyID)
    }

    /// Verifies a session token and returns its claims. Throws the errors of `verify`, and `sessionEnded`.
    func verify(_ token: Token, signedBy key: SessionTokens.Key, now: Int64) throws(EntitlementError) -> Claims {
        guard token.algorithm == .hs256 else { throw .algorithmNotPinned }
        guard key.isValidSignature(of: token) else { throw .signatureInvalid }
        let payload = try TokenPayload.read(token)
        let times = try TokenTimes(of: payload)
        try checkSession(times, now: now)
        return try Claims(session: payload, signedBy: key.id, times: times, issuers: issuers)
    }

    /// Checks the times of a session token. Throws `sessionEnded` in place of `tokenExpired`.
    ///
    /// The difference tells an app with two tokens which one it must replace.
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
    /// Returns the issuers with this name and dialect. There are several if an issuer's tokens have several audiences.
    func issuers(named name: String, dialect: TokenDialect) -> [Issuer] {
        issuers.filter { $0.dialect == dialect && $0.name.hasSameUTF8(as: name) }
    }
}

extension Issuer {
    /// Returns the state of one of the issuer's keys; nil if the key is no longer configured or published, and is not
    /// known to be revoked.
    func state(ofKeyID id: String) -> KeyState? {
        keys.first { $0.id.hasSameUTF8(as: id) }?.state ?? sealingKeys.first { "\($0.id)" == id }?.state
            ?? (revokedKeyIDs.contains { $0.hasSameUTF8(as: id) } ? .revoked : nil)
    }
}
