import ByteCoding
import ContentKeys
import Testing

/// Ids of keys and contents that one asset id may mean.
@Suite struct SpelledNameTests {
    private static let uuid = "7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"

    @Test(arguments: [
        uuid, uuid.uppercased(), "7B1d0c9e52a44e0b9c610a5f3b8d2E11", "ex0MnlKkTgucYQpfO40uEQ",
        "ex0MnlKkTgucYQpfO40uEQ==", "\(uuid):00112233445566778899aabbccddeeff", "vod/\(uuid)",
        "%37b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11", "x?kid=\(uuid)",
    ])
    func findsTheKeyIDInAContentID(text: String) throws {
        let contentID = try ContentID(text)
        #expect(SpelledName.names(of: contentID) == [SpelledName(try KeyID(parsing: Self.uuid), contentID)])
    }

    /// A link may have the slashes of Base64 encoded.
    @Test(arguments: ["h/I3xGr/HxRX67vp3xKKGH1A==", "h/I3xGr/HxRX67vp3xKKGH1A", "h/a/;I3xGr/HxRX67vp3xKKGH1A=="])
    func findsAKeyIDWithASlash(text: String) throws {
        let contentID = try ContentID(text)
        let keyID = try KeyID(parsing: "237c46af-f1f1-457e-bbbe-9df128a187d4")
        #expect(SpelledName.names(of: contentID).contains(SpelledName(keyID, contentID)))
    }

    /// The 16 bytes of a key id can be a text in each form that names a content.
    @Test(arguments: [
        ("b/movie-00000002", ["b/movie-00000002", "movie-00000002"]), ("skd://movie-0001", ["movie-0001"]),
        ("cid=movie-000001", ["movie-000001"]), ("cid=ab&track=HD1", ["ab"]), ("skd://ab?track=H", ["ab"]),
        ("zz?track=HD&a=bc", ["zz"]), ("?cid=zy&period=0", ["zy"]),
        ("m\u{0}o\u{0}v\u{0}i\u{0}e\u{0}-\u{0}0\u{0}1\u{0}", ["movie-01"]),
    ])
    func findsTheContentsInAKeyID(text: String, contents: [String]) throws {
        let keyID = try #require(KeyID(bytes: Array(text.utf8)))
        let found = SpelledName.names(of: keyID)
        for content in contents { #expect(found.contains(SpelledName(keyID, try ContentID(content)))) }
    }

    @Test func findsNothingInOrdinaryIDs() throws {
        #expect(SpelledName.names(of: try ContentID("movie-1")).isEmpty)
        #expect(SpelledName.names(of: try ContentID("m")).isEmpty)
        #expect(SpelledName.names(of: try KeyID(parsing: Self.uuid)).isEmpty)
    }
}
