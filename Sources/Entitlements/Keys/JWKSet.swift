package import ByteCoding
package import KeyCrypto

/// Why a text is not a usable JSON Web Key Set. `index` is the position of the key in `keys`, counted from 0.
package enum JWKSetError: Error, Equatable, Sendable {
    /// The text is not strict JSON.
    case notJSON(JSONError)
    /// The text is not an object with an array `keys`.
    case notAKeySet
    /// The set has more keys than `JWKSet.keyCountMaximum`.
    case tooManyKeys
    /// The set has no key that verifies signatures with a supported algorithm.
    case noUsableKey
    /// A key has no `kid`, or its `kid` is not a text of 1 to `VerificationKey.idSizeMaximum` bytes.
    case keyIDMissing(index: Int)
    /// A member is missing, or its value is invalid.
    case memberInvalid(String, index: Int)
    /// The set contains a private key. A server that only verifies must not have one.
    case privateKey(index: Int)
    /// A published set has two keys with the same `kid`; `index` is that of the second one.
    case keyIDTwice(index: Int)
    /// A published set contains a shared secret, or another key that must not be published.
    case secretPublished(index: Int)
    /// A key is too short for its algorithm, is not a point on its curve, or is invalid in another way.
    case keyUnusable(index: Int)
}

extension JWKSetError: CustomStringConvertible {
    /// Words for operators, without any text of the set.
    package var description: String {
        switch self {
        case .notJSON(let error): "the set is not strict JSON: \(error)"
        case .notAKeySet: "it is not a JSON Web Key Set, an object with a list \"keys\" (RFC 7517)"
        case .tooManyKeys: "the set has more than \(JWKSet.keyCountMaximum) keys"
        case .noUsableKey: "no key of the set verifies signatures with ES256, EdDSA, RS256 or HS256"
        case .keyIDMissing(let index): "keys[\(index)] needs a \"kid\" of 1 to \(VerificationKey.idSizeMaximum) bytes"
        case .memberInvalid(let name, let index): "\"\(name)\" of keys[\(index)] is missing or invalid"
        case .privateKey(let index): "keys[\(index)] is a private key; give the public part alone"
        case .keyIDTwice(let index): "keys[\(index)] has the \"kid\" of an earlier key"
        case .secretPublished(let index): "keys[\(index)] is a shared secret or a private key, and the set is public"
        case .keyUnusable(let index):
            "keys[\(index)] is too short for its algorithm, or no key at all; RSA has at least 2048 bits, HS256 at least"
                + " \(VerificationKey.secretSizeMinimum) bytes"
        }
    }
}

/// The keys of a JSON Web Key Set (RFC 7517) that verify signatures.
///
/// The supported algorithms are ES256 (EC, P-256), EdDSA (OKP, Ed25519), RS256 (RSA) and HS256 (oct). Keys for
/// encryption or for other algorithms are ignored (RFC 7517, section 5). A key for a supported algorithm that cannot be
/// used refuses a file. In a published set, it is skipped and counted, because the other keys are not to blame.
///
/// The state of a key follows from its members `state` ("next", "active", "retiring", "revoked"), `exp` (the first
/// second in which a retiring key is no longer valid) and `revoked`.
package struct JWKSet: Sendable {
    package static let keyCountMaximum = 256

    /// The usable keys, in the order of the file. A file has at least one. A published set may be empty, which
    /// withdraws all keys.
    package let keys: [VerificationKey]
    /// The number of ignored keys.
    package let ignoredCount: Int
    /// The number of skipped keys of a published set.
    package let unusableCount: Int
    /// Why the first of the skipped keys cannot be used; nil if no key was skipped.
    package let firstFault: JWKSetError?
    /// The IDs of the keys that the set calls revoked, also of those that are ignored or skipped.
    package let revokedIDs: [String]
    /// Whether the file contains shared secrets, so that the file itself must be kept secret.
    package let holdsSecrets: Bool

    /// Reads a file. Throws `JWKSetError`.
    package init(parsing file: borrowing SecretBytes) throws(JWKSetError) {
        try self.init(file, isPublished: false)
    }

    /// Reads a set that every client can read. Throws `JWKSetError`.
    ///
    /// The set may have public keys only. Any other key is skipped like a key that cannot be used, even if it has
    /// another purpose. Throws if the set has keys and none is left.
    package init(published text: borrowing SecretBytes) throws(JWKSetError) {
        try self.init(text, isPublished: true)
    }

    private init(_ file: borrowing SecretBytes, isPublished: Bool) throws(JWKSetError) {
        let text = SecretMembers(hiding: file)
        let elements = try Self.elements(of: text.bytes)
        var keys: [VerificationKey] = []
        var ignoredCount = 0
        var holdsSecrets = false
        var unusableCount = 0
        var firstFault: JWKSetError?
        for (index, element) in elements.enumerated() {
            do throws(JWKSetError) {
                guard let object = element.object else { throw .memberInvalid("keys", index: index) }
                if isPublished, Self.holdsSecret(object) { throw .secretPublished(index: index) }
                guard let key = try JWKReader(object, index: index, secrets: text).key() else {
                    ignoredCount += 1
                    continue
                }
                // Of a file, the set of all issuers checks it.
                if isPublished, let earlier = keys.firstIndex(where: { $0.id.hasSameUTF8(as: key.id) }) {
                    // A revocation counts, whichever of the two has it.
                    if key.state == .revoked { keys[earlier] = key }
                    throw .keyIDTwice(index: index)
                }
                if key.algorithm == .hs256 { holdsSecrets = true }
                keys.append(key)
            } catch {
                guard isPublished else { throw error }
                unusableCount += 1
                firstFault = firstFault ?? error
            }
        }
        guard !keys.isEmpty || (isPublished && elements.isEmpty) else { throw firstFault ?? .noUsableKey }
        self.keys = keys
        self.ignoredCount = ignoredCount
        self.unusableCount = unusableCount
        self.firstFault = firstFault
        revokedIDs = elements.compactMap { $0.object.flatMap(Self.revokedID) }
        self.holdsSecrets = holdsSecrets
    }

    /// The ID of a key that is called revoked; nil for all other keys. The key need not be usable.
    private static func revokedID(of key: JSONObject) -> String? {
        let isRevoked = JWKReader.isRevoked(key) == true || key["state"]?.string?.hasSameUTF8(as: "revoked") == true
        guard isRevoked else { return nil }
        return key["kid"]?.string.flatMap { (1...VerificationKey.idSizeMaximum).contains($0.utf8.count) ? $0 : nil }
    }

    /// Whether a key has the type of shared secrets, or a member that only secret keys have (RFC 7518, section 6).
    private static func holdsSecret(_ key: JSONObject) -> Bool {
        key["kty"]?.string?.hasSameUTF8(as: "oct") == true
            || (JWKReader.privateMembers + ["k"]).contains { key.given($0) != nil }
    }

    private static func elements(of text: [UInt8]) throws(JWKSetError) -> [JSONNode] {
        let node = try wrap(JWKSetError.notJSON, try JSONReader.parse(text))
        guard let elements = node.object?["keys"]?.array else { throw .notAKeySet }
        guard elements.count <= keyCountMaximum else { throw .tooManyKeys }
        return elements
    }
}
