import ByteCoding
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
