import ByteCoding
import ContentKeys
import KeyCrypto
import TestSupport
import Testing

/// An example of how content keys are derived and named.
@Suite struct ContentKeysExampleTests {
    /// The values were computed with Python's `hmac` according to RFC 5869.
    @Test func derivesTheKeyOfAContent() throws {
        // Each deployment has one master secret. Its version is part of every key that is derived from it.
        let master = SharedSecret(SecretBytes(copying: Array(0..<32)))
        let derivation = try KeyDerivation(masterSecret: master, version: 1)

        // The same names always give the same key and the same initialization vector.
        let keyID = try KeyID(parsing: "2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11")
        let (key, iv) = try derivation.derive(contentID: ContentID("movie-42"), keyID: keyID, periodIndex: nil)
        #expect(hex(key.bytes.revealed()) == "db62b072e1b2f41624bfc15d41f26a84")
        #expect(hex(iv.bytes) == "45380d9ba2ed6920171f65845e247605")

        // The playlist names the key by a URL, which comes back as the asset id of an SPC.
        let assetID = try AssetID(bytes: Array("skd://2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11".utf8))
        #expect(AssetReference(assetID).candidates.contains(.keyID(keyID)))
    }
}
