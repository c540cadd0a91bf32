import ByteCoding
import KeyCrypto

/// Reads one element of `keys` (RFC 7517, section 4; RFC 7518, section 6; RFC 8037, section 2).
struct JWKReader {
    /// The members of private keys (RFC 7518, sections 6.2.2 and 6.3.2).
    static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth"]

    private let object: JSONObject
    private let index: Int
    private let secrets: SecretMembers

    init(_ object: JSONObject, index: Int, secrets: SecretMembers) {
        self.object = object
        self.index = index
        self.secrets = secrets
    }

    /// Returns the key; nil if the key has another purpose or an unknown algorithm.
    func key() throws(JWKSetError) -> VerificationKey? {
        guard let algorithm = try algorithm(), try isForVerifying() else { return nil }
        for name in Self.privateMembers where object.given(name) != nil {
            throw .privateKey(index: index)
        }
        let id = try keyID()
        let state = try state()
        switch algorithm {
        case .es256: return VerificationKey(id: id, es256: try es256(), state: state)
        case .edDSA: return VerificationKey(id: id, edDSA: try edDSA(), state: state)
        case .rs256: return VerificationKey(id: id, rs256: try rs256(), state: state)
        case .hs256: return try hs256(id: id, state: state)
        }
    }

    /// Returns the algorithm to which the key is pinned, which follows from the type of the key.
    ///
    /// Returns nil for an unknown type, and if `alg` names another algorithm.
    private func algorithm() throws(JWKSetError) -> SigningAlgorithm? {
        let ofType: SigningAlgorithm
        switch (try required("kty"), try text("crv")) {
        case ("EC", "P-256"): ofType = .es256
        case ("OKP", "Ed25519"): ofType = .edDSA
        case ("RSA", nil): ofType = .rs256
        case ("oct", nil): ofType = .hs256
        default: return nil  // A type or a curve that is not supported.
        }
        guard let name = try text("alg") else { return ofType }
        return name.hasSameUTF8(as: ofType.rawValue) ? ofType : nil
    }

    private func isForVerifying() throws(JWKSetError) -> Bool {
        if let use = try text("use"), !use.hasSameUTF8(as: "sig") { return false }
        guard let member = object.given("key_ops") else { return true }
        guard let operations = member.array else { throw .memberInvalid("key_ops", index: index) }
        return operations.contains { $0.string.map { $0.hasSameUTF8(as: "verify") } ?? false }
    }

    private func keyID() throws(JWKSetError) -> String {
        guard let id = object["kid"]?.string, (1...VerificationKey.idSizeMaximum).contains(id.utf8.count) else {
            throw .keyIDMissing(index: index)
        }
        return id
    }

    // MARK: State

    private func state() throws(JWKSetError) -> KeyState {
        let end = try end()
        guard let isRevoked = Self.isRevoked(object) else { throw .memberInvalid("revoked", index: index) }
        if isRevoked { return .revoked }
        switch try text("state") {
        case "revoked": return .revoked
        case "next": return try without(end, .next)
        case "retiring":
            guard let end else { throw .memberInvalid("exp", index: index) }
            return .retiring(until: end)
        case nil, "active": return end.map { .retiring(until: $0) } ?? .active
        default: throw .memberInvalid("state", index: index)  // Otherwise a misspelt "revoked" would mean "active".
        }
    }

    /// Whether a key has the member `revoked`, which is an object, a time or a text in published sets; `false` and
    /// `null` say that it is not revoked. Returns nil for 0 and an empty text, which could mean either.
    static func isRevoked(_ key: JSONObject) -> Bool? {
        guard let member = key.given("revoked") else { return false }
        if member.string?.isEmpty == true || member.number?.signed == 0 { return nil }
        return member.bool ?? true
    }

    private func end() throws(JWKSetError) -> Int64? {
        guard let member = object.given("exp") else { return nil }
        guard let date = member.number.flatMap({ NumericDate($0) }) else { throw .memberInvalid("exp", index: index) }
        return date.down
    }

    private func without(_ end: Int64?, _ state: KeyState) throws(JWKSetError) -> KeyState {
        guard end == nil else { throw .memberInvalid("exp", index: index) }
        return state
    }

    // MARK: Material

    private func es256() throws(JWKSetError) -> ES256PublicKey {
        let (x, y) = (try bytes("x"), try bytes("y"))
        do throws(CryptoError) {
            return try ES256PublicKey(x: x, y: y)
        } catch {
            throw .keyUnusable(index: index)
        }
    }

    private func edDSA() throws(JWKSetError) -> Ed25519PublicKey {
        let point = try bytes("x")
        do throws(CryptoError) {
            return try Ed25519PublicKey(point: point)
        } catch {
            throw .keyUnusable(index: index)
        }
    }

    private func rs256() throws(JWKSetError) -> RS256PublicKey {
        let (modulus, exponent) = (try bytes("n"), try bytes("e"))
        do throws(CryptoError) {
            return try RS256PublicKey(modulus: modulus, exponent: exponent)
        } catch {
            throw .keyUnusable(index: index)
        }
    }

    private func hs256(id: String, state: KeyState) throws(JWKSetError) -> VerificationKey {
        guard let member = object["k"], let secret = secrets.secret(at: member.position) else {
            throw .memberInvalid("k", index: index)
        }
        do throws(IssuerSetError) {
            return try VerificationKey(id: id, hs256: secret.bytes, state: state)
        } catch {
            throw .keyUnusable(index: index)
        }
    }

    // MARK: Members

    private func bytes(_ name: String) throws(JWKSetError) -> [UInt8] {
        let text = try required(name)
        do throws(TextCodingError) {
            return try Base64URL.decode(text)
        } catch {
            throw .memberInvalid(name, index: index)
        }
    }

    private func required(_ name: String) throws(JWKSetError) -> String {
        guard let text = try text(name) else { throw .memberInvalid(name, index: index) }
        return text
    }

    private func text(_ name: String) throws(JWKSetError) -> String? {
        guard let member = object.given(name) else { return nil }
        guard let text = member.string else { throw .memberInvalid(name, index: index) }
        return text
    }
}

extension JSONObject {
    /// The member with this name; nil if it is missing or null. Some libraries write each member that a key does not
    /// have as null.
    func given(_ name: String) -> JSONNode? {
        self[name].flatMap { $0.isNull ? nil : $0 }
    }
}

/// A JSON text from which the secrets in members `k` (RFC 7518, section 6.4.1) were removed before it is parsed.
///
/// In `bytes`, each secret is overwritten with the digit 0, so that the positions of all other bytes stay the same.
struct SecretMembers {
    private(set) var bytes: [UInt8]
    private var secrets: [Int: SharedSecret] = [:]

    init(hiding text: borrowing SecretBytes) {
        bytes = text.revealed()
        for member in JSONMemberScanner.members(in: bytes, named: ["k"]) { take(member.value) }
    }

    /// Returns the secret of the string whose opening quote is at this position; nil if the string was not canonical
    /// base64url.
    func secret(at position: TextPosition) -> SharedSecret? {
        secrets[position.byteOffset]
    }

    private mutating func take(_ value: Range<Int>) {
        var decoded = (try? Base64URL.decode(bytes[value])) ?? []
        if !decoded.isEmpty { secrets[value.lowerBound - 1] = SharedSecret(SecretBytes(copying: decoded)) }
        decoded.wipe()
        for offset in value { bytes[offset] = UInt8(ascii: "0") }
    }
}
