import ByteCoding
package import Entitlements
package import KeyCrypto

/// Makes the documents that an issuer publishes at its URL.
package enum PublishedKeys {
    /// A public key as an element of a JSON Web Key Set.
    package static func json(_ id: String, _ key: ES256PrivateKey, _ members: String = "") throws -> String {
        // A public key in DER ends with the two coordinates, 32 bytes each (RFC 5480).
        let der = KeySamples.der(of: String(decoding: try key.publicKey.publicPEM(), as: UTF8.self)).suffix(64)
        let (x, y) = (Base64URL.encode(der.prefix(32)), Base64URL.encode(der.suffix(32)))
        return #"{"kid":"\#(id)","kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"\#(members)}"#
    }

    package static func document(_ keys: [String]) -> [UInt8] {
        Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8)
    }

    package static func set(_ keys: [String]) throws -> JWKSet {
        try JWKSet(published: SecretBytes(copying: document(keys)))
    }
}
