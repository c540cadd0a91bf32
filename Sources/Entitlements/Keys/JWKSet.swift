package import ByteCoding
package import KeyCrypto

/// Why a file is not a JSON Web Key Set that can be used. The number is the key's place in `keys`, from 0 on.
package enum JWKSetError: Error, Equatable, Sendable {
    /// The file is not strict JSON.
    case notJSON(JSONError)
    /// The file is not an object with an array `keys`.
    case notAKeySet
    /// The set has more keys than `JWKSet.keyCountMaximum`.
    case tooManyKeys
    /// The set has no key that verifies signatures with an algorithm that is known here.
    case noUsableKey
    /// A key has no `kid`, or one that is no text of 1 to `Token.keyIDSizeMaximum` bytes.
    case keyIDMissing(index: Int)
    /// A member is missing or has no value that it may have.
    case memberInvalid(String, index: Int)
    /// The set holds a private key, which no server that only verifies should have.
    case privateKey(index: Int)
    /// A key is too short for its algorithm, off its curve, or no key at all.
    case keyUnusable(index: Int)
}

/// The keys of a JSON Web Key Set (RFC 7517) that verify signatures.
///
/// Taken are keys for ES256 (EC, P-256), EdDSA (OKP, Ed25519), RS256 (RSA) and HS256 (oct). What is for encryption, or
/// for another algorithm, is passed over, as RFC 7517 section 5 has it; what is for one of these and cannot be used is
/// refused. The state of a key follows from members of it: `state` ("next", "active", "retiring", "revoked"), `exp` (a
/// retiring key's last second, excluded) and `revoked`.
package struct JWKSet: Sendable {
    package static let keyCountMaximum = 256

    /// In the order of the file; at least one.
    package let keys: [VerificationKey]
    /// How many keys were passed over.
    package let ignoredCount: Int
    /// Whether the file holds shared secrets, so that it must be kept like one.
    package let holdsSecrets: Bool

    /// Reads a file. Throws `JWKSetError`.
    package init(parsing file: borrowing SecretBytes) throws(JWKSetError) {
        let text = SecretMembers(hiding: file)
        let elements = try Self.elements(of: text.bytes)
        var keys: [VerificationKey] = []
        var ignoredCount = 0
        var holdsSecrets = false
        for (index, element) in elements.enumerated() {
            guard let object = element.object else { throw .memberInvalid("keys", index: index) }
            let reader = JWKReader(object, index: index, secrets: text)
            guard let key = try reader.key() else {
                ignoredCount += 1
                continue
            }
            if key.algorithm == .hs256 { holdsSecrets = true }
            keys.append(key)
        }
        guard !keys.isEmpty else { throw .noUsableKey }
        self.keys = keys
        self.ignoredCount = ignoredCount
        self.holdsSecrets = holdsSecrets
    }

    private static func elements(of text: [UInt8]) throws(JWKSetError) -> [JSONNode] {
        let node = try wrap(JWKSetError.notJSON, try JSONReader.parse(text))
        guard let elements = node.object?["keys"]?.array else { throw .notAKeySet }
        guard elements.count <= keyCountMaximum else { throw .tooManyKeys }
        return elements
    }
}
