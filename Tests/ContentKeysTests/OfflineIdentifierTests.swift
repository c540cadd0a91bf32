import ByteCoding
import ContentKeys
import KeyCrypto
import Testing

@Suite struct OfflineIdentifierTests {
    private func attributes(kid: String, content: String) throws -> ContentKeyAttributes {
        ContentKeyAttributes(keyID: try KeyID(parsing: kid), contentID: try ContentID(content), createdAt: 0)
    }

    private static let kid = "00112233445566778899aabbccddeeff"

    @Test func theStreamIDIsTheKeyID() throws {
        let streamID = try attributes(kid: Self.kid, content: "movie").streamID
        #expect(Hexadecimal.encode(streamID.bytes) == Self.kid)
    }

    /// The digest was computed with another implementation.
    @Test func theTitleIDIsALabelledDigestOfTheContentID() throws {
        let titleID = try attributes(kid: Self.kid, content: "movie").titleID(using: CryptoContext())
        #expect(Hexadecimal.encode(titleID.bytes) == "52422f7a0f65e6d72e2ed4f0a2ec6b26")
    }

    @Test func allKeysOfOneContentShareItsTitleID() throws {
        let crypto = try CryptoContext()
        let one = try attributes(kid: Self.kid, content: "movie")
        var other = try attributes(kid: "ffeeddccbbaa99887766554433221100", content: "movie")
        other.track = Track(.uhd)
        other.periodIndex = 7
        #expect(try one.titleID(using: crypto) == other.titleID(using: crypto))
        #expect(one.streamID != other.streamID)
        #expect(try one.titleID(using: crypto) != attributes(kid: Self.kid, content: "Movie").titleID(using: crypto))
    }
}
