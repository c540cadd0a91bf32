import ByteCoding
import ContentKeys
import Testing

@Suite struct AssetReferenceTests {
    static let uuid = "7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"

    /// A text, with the identifiers that it names after the alias, in order.
    struct TextForm: Sendable, CustomTestStringConvertible {
        let text: String
        var keyID: String?
        var contentIDs: [String] = []

        var testDescription: String { text }

        func candidates() throws -> [AssetCandidate] {
            try (keyID.map { [.keyID(try KeyID(parsing: $0))] } ?? [])
                + contentIDs.map { .contentID(try ContentID($0)) }
        }
    }

    static let textForms: [TextForm] = [
        // Key ids.
        TextForm(text: uuid, keyID: uuid, contentIDs: [uuid]),
        TextForm(text: uuid.uppercased(), keyID: uuid, contentIDs: [uuid.uppercased()]),
        TextForm(
            text: "7B1d0c9e52a44e0b9c610a5f3b8d2E11", keyID: uuid, contentIDs: ["7B1d0c9e52a44e0b9c610a5f3b8d2E11"]),
        TextForm(text: "skd://" + uuid, keyID: uuid, contentIDs: [uuid, "skd://" + uuid]),
        TextForm(text: "skd:" + uuid, keyID: uuid, contentIDs: [uuid, "skd:" + uuid]),
        TextForm(text: "SKD://" + uuid, keyID: uuid, contentIDs: [uuid, "SKD://" + uuid]),
        TextForm(
            text: "7b1d0c9e%2D52a4-4e0b-9c61-0a5f3b8d2e11", keyID: uuid,
            contentIDs: [uuid, "7b1d0c9e%2D52a4-4e0b-9c61-0a5f3b8d2e11"]),
        // Nearly key ids.
        TextForm(text: "7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e1", contentIDs: ["7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e1"]),
        TextForm(text: "{\(uuid)}", contentIDs: ["{\(uuid)}"]),
        TextForm(text: "7b1d0c9e52a44e0b9c610a5f3b8d2e1g", contentIDs: ["7b1d0c9e52a44e0b9c610a5f3b8d2e1g"]),
        // Content ids.
        TextForm(text: "movie-1", contentIDs: ["movie-1"]),
        TextForm(text: "skd://movie-1", contentIDs: ["movie-1", "skd://movie-1"]),
        TextForm(text: "skd:movie-1", contentIDs: ["movie-1", "skd:movie-1"]),
        TextForm(text: "skd:///movie-1", contentIDs: ["movie-1", "skd:///movie-1"]),
        TextForm(text: "//movie-1", contentIDs: ["//movie-1"]),
        TextForm(text: "skx://movie-1", contentIDs: ["skx://movie-1", "movie-1"]),
        TextForm(text: "Movie-1", contentIDs: ["Movie-1"]),
        TextForm(text: "skd://skd://x1", contentIDs: ["skd://x1", "skd://skd://x1", "x1"]),
        // Percent-encoding, decoded once.
        TextForm(text: "a%2Fb", contentIDs: ["a/b", "a%2Fb"]),
        TextForm(text: "a%2fb", contentIDs: ["a/b", "a%2fb"]),
        TextForm(text: "a%252Fb", contentIDs: ["a%2Fb", "a%252Fb"]),
        TextForm(text: "skd://a%2Fb", contentIDs: ["a/b", "a%2Fb", "skd://a%2Fb"]),
        TextForm(text: "100%", contentIDs: ["100%"]),
        TextForm(text: "100%2", contentIDs: ["100%2"]),
        TextForm(text: "100%zz", contentIDs: ["100%zz"]),
        TextForm(text: "%25%", contentIDs: ["%25%"]),
        TextForm(text: "a%00b", contentIDs: ["a%00b"]),
        TextForm(text: "a%2500b", contentIDs: ["a%00b", "a%2500b"]),
        TextForm(text: "a%20b", contentIDs: ["a%20b"]),
        TextForm(text: "%c3%a9", contentIDs: ["%c3%a9"]),
        // Texts that name nothing but an alias.
        TextForm(text: "a b"),
        TextForm(text: "caf\u{E9}"),
        TextForm(text: "a\u{0}b"),
        TextForm(text: "line\n"),
        // Whole links.
        TextForm(
            text: "skd://ent.example?cid=movie-1",
            contentIDs: ["ent.example?cid=movie-1", "skd://ent.example?cid=movie-1", "movie-1"]),
        TextForm(text: "cid=movie-1&x=y", contentIDs: ["cid=movie-1&x=y", "movie-1"]),
        TextForm(
            text: "skd://ent.example/license/movie-1/",
            contentIDs: ["ent.example/license/movie-1/", "skd://ent.example/license/movie-1/", "movie-1"]),
        TextForm(
            text: "skd://\(uuid):00112233445566778899aabbccddeeff", keyID: uuid,
            contentIDs: [
                "\(uuid):00112233445566778899aabbccddeeff", "skd://\(uuid):00112233445566778899aabbccddeeff",
            ]),
        TextForm(
            text: "skd://ex0MnlKkTgucYQpfO40uEQ==", keyID: uuid,
            contentIDs: ["ex0MnlKkTgucYQpfO40uEQ==", "skd://ex0MnlKkTgucYQpfO40uEQ=="]),
        TextForm(text: "ex0MnlKkTgucYQpfO40uEQ", keyID: uuid, contentIDs: ["ex0MnlKkTgucYQpfO40uEQ"]),
        // 22 characters whose last one has non-zero padding bits.
        TextForm(text: "ex0MnlKkTgucYQpfO40uER", contentIDs: ["ex0MnlKkTgucYQpfO40uER"]),
        TextForm(
            text: "skd:ent.example/?a=b&assetId=a%2Fb&cid=c",
            contentIDs: [
                "ent.example/?a=b&assetId=a/b&cid=c", "ent.example/?a=b&assetId=a%2Fb&cid=c",
                "skd:ent.example/?a=b&assetId=a%2Fb&cid=c", "a/b",
            ]),
        TextForm(text: "x?cid=%", contentIDs: ["x?cid=%"]), TextForm(text: "x?cid", contentIDs: ["x?cid"]),
        TextForm(text: "x?CID=m", contentIDs: ["x?CID=m", "m"]), TextForm(text: "x?cid=", contentIDs: ["x?cid="]),
        // An empty identifier behind the scheme.
        TextForm(text: "skd:", contentIDs: ["skd:"]),
        TextForm(text: "skd://", contentIDs: ["skd://"]),
    ]

    /// A key id at the end of a path, after a semicolon, or in a query.
    @Test(arguments: [
        "skd://host.example/fps/v1/license/\(uuid)", "skd://fps.example/;\(uuid)", "host/\(uuid)?a=b",
        "skd://host?kid=\(uuid)", "skd://host/\(uuid)/",
    ])
    func findsTheKeyIDInALink(text: String) throws {
        let assetID = try AssetID(bytes: Array(text.utf8))
        let keyIDs = AssetReference(assetID).candidates.compactMap { candidate in
            if case .keyID(let keyID) = candidate { keyID } else { nil }
        }
        #expect(keyIDs == [try KeyID(parsing: Self.uuid)])
    }

    /// AWS MediaPackage writes the Base64 of an object after `skd://`.
    @Test func readsTheObjectOfMediaPackage() throws {
        let object = #"{"ContentId":"movie-1","KeyId":"\#(Self.uuid)","IV":"AAAAAAAAAAAAAAAAAAAAAA=="}"#
        let assetID = try AssetID(bytes: Array("skd://\(Base64.encode(object.utf8))".utf8))
        let candidates = AssetReference(assetID).candidates
        #expect(candidates.last == .keyID(try KeyID(parsing: Self.uuid)))
        #expect(!candidates.contains(.contentID(try ContentID("movie-1"))))
    }

    /// An explicit key id binds: what stands beside it is not looked up, and the asset id says so.
    @Test(arguments: [
        "skd://h/x?contentId=movie-1&kid=\(uuid)", "skd://h/movie-1?KID=\(uuid)", "h/x?keyid=\(uuid)&cid=movie-1",
        "skd://drmtoday?assetId=movie-1&variantId=&keyId=\(uuid)", "cid=movie-1&Key_ID=ex0MnlKkTgucYQpfO40uEQ",
        "skd://\(uuid)?contentId=movie-1", "skd://h/\(uuid)?contentId=movie-1",
        "skd://h/;ex0MnlKkTgucYQpfO40uEQ==?contentId=movie-1", "skd://h/x?cid=movie-1&assetId=\(uuid)",
    ])
    func bindsToAnExplicitKeyID(text: String) throws {
        let (keyID, contentID) = (try KeyID(parsing: Self.uuid), try ContentID("movie-1"))
        let reference = AssetReference(try AssetID(bytes: Array(text.utf8)))
        #expect(reference.binding?.keyIDs == [keyID])
        #expect(reference.binding?.contentIDs.first == contentID)
        #expect(reference.candidates.contains(.keyID(keyID)))
        #expect(!reference.candidates.contains(.contentID(contentID)))
    }

    /// Text after a key id does not defeat it, and neither does text before it.
    @Test(arguments: [
        "skd://\(uuid)/0", "skd://\(uuid)/HD/7", "skd://\(uuid)?iv=00112233445566778899aabbccddeeff", "\(uuid)/x?y=z",
        "skd://\(uuid):HD", "skd://\(uuid),0", "skd://\(uuid)#t", "skd://h/\(uuid)/0", "skd://h/\(uuid):HD/0",
        "skd://h/;\(uuid);x", "https://h/license/\(uuid)/x.m3u8", "skd://ex0MnlKkTgucYQpfO40uEQ==/0",
        "skd://h/x?kid=\(uuid)#t", "skd://h/x?KEY-ID=\(uuid)/0", "skd://h/x?kid=\(uuid):HD", "x?Key_Id=\(uuid)&a",
        // A customer's id before the key id, or before a content whose key a pair names.
        "skd://h/00112233445566778899aabbccddeeff/\(uuid)", "skd://00112233445566778899aabbccddeeff/\(uuid)/0",
        "skd://h/00112233445566778899aabbccddeeff/movie-1?kid=\(uuid)",
        // A content whose id looks like a key id.
        "skd://h/x?contentId=00112233445566778899aabbccddeeff&keyId=\(uuid)",
    ])
    func textBesideAKeyIDDoesNotDefeatIt(text: String) throws {
        let keyID = try KeyID(parsing: Self.uuid)
        for bytes in [Array(text.utf8), text.utf8.flatMap { [$0, 0] as [UInt8] }] {
            let reference = AssetReference(try AssetID(bytes: bytes))
            #expect(reference.binding?.keyIDs == [keyID])
            let keyIDs = reference.candidates.compactMap { if case .keyID(let keyID) = $0 { keyID } else { nil } }
            #expect(keyIDs == [keyID])
        }
    }

    /// What begins like a key id, but is another text.
    @Test(arguments: [
        "skd://\(uuid)0/0", "skd://\(uuid)-HD", "skd://h/x\(uuid)/0", "skd://ex0MnlKkTgucYQpfO40uEQ/0",
        "skd://h/\(uuid).mp4",
    ])
    func aLongerNameIsNoKeyID(text: String) throws {
        #expect(AssetReference(try AssetID(bytes: Array(text.utf8))).binding == nil)
    }

    /// A content with a track is more specific than a content.
    @Test(arguments: [
        "skd://h/x?assetId=movie-1&variantId=HD", "skd://h/x?TRACK=HD&ContentId=movie-1", "cid=movie-1&label=HD",
        "skd://h/movie-1?Track=HD", "skd://movie-1?track_type=HD", "skd://h/x?content_id=movie-1&Variant-Id=HD",
        "skd://h/x?cid=movie-1&track=HD&track=SD",
    ])
    func readsTheTrackBesideAContent(text: String) throws {
        let contentID = try ContentID("movie-1")
        let candidates = AssetReference(try AssetID(bytes: Array(text.utf8))).candidates
        #expect(candidates.contains(.track(NamedTrack(contentID, label: .hd))))
        #expect(!candidates.contains(.contentID(contentID)))
    }

    /// A query that names nothing does not hide the content before it. One that names something makes it a host.
    @Test(arguments: [
        ("skd://movie-1?x=1", true), ("skd://movie-1/?x=1", true), ("movie-1?iv=00", true), ("skd://movie-1?", true),
        ("skd://movie-1?cid=movie-2", false), ("skd://movie-1?kid=none", false), ("skd://movie-1?kid=\(uuid)", false),
        ("skd://movie-1?cid=movie-2&track=HD", false),
    ])
    func aQueryThatNamesNothingHidesNoContent(text: String, isNamed: Bool) throws {
        let candidates = AssetReference(try AssetID(bytes: Array(text.utf8))).candidates
        #expect(candidates.contains(.contentID(try ContentID("movie-1"))) == isNamed)
    }

    @Test func readsThePeriodBesideAContent() throws {
        let assetID = try AssetID(bytes: Array("skd://h/x?cid=movie-1&variantId=HD&period=7".utf8))
        let track = NamedTrack(try ContentID("movie-1"), label: .hd, periodIndex: 7)
        #expect(AssetReference(assetID).candidates.contains(.track(track)))
    }

    /// The id of a content may look like a key id. Its track is read like that of any other content.
    @Test(arguments: [
        "skd://\(uuid)?track=HD", "skd://h/\(uuid)?track=HD", "skd://h/x?cid=\(uuid)&track=HD&period=",
        "skd://drmtoday?assetId=\(uuid)&variantId=HD", "track=HD&content_id=\(uuid)",
    ])
    func readsTheTrackOfAContentThatLooksLikeAKeyID(text: String) throws {
        let (keyID, contentID) = (try KeyID(parsing: Self.uuid), try ContentID(Self.uuid))
        let reference = AssetReference(try AssetID(bytes: Array(text.utf8)))
        #expect(reference.binding?.keyIDs == [keyID])
        #expect(reference.candidates.contains(.keyID(keyID)))
        #expect(reference.candidates.contains(.track(NamedTrack(contentID, label: .hd))))
        #expect(!reference.candidates.contains(.contentID(contentID)))
    }

    /// What is named as a key id is no content with a track.
    @Test(arguments: ["skd://h/x?kid=\(uuid)&track=HD", "skd://h/\(uuid)/0?track=HD"])
    func aKeyIDHasNoTrack(text: String) throws {
        for candidate in AssetReference(try AssetID(bytes: Array(text.utf8))).candidates {
            if case .track = candidate { Issue.record("\(text) names \(candidate)") }
        }
    }

    /// An alias must not stand before the key that it names explicitly.
    @Test(arguments: ["skd://h/x?kid=\(uuid)", "skd://\(uuid)/0", "\(uuid)"])
    func anExplicitKeyIDIsAnOwnName(text: String) throws {
        let names = AssetReference(try AssetID(bytes: Array(text.utf8))).ownNames
        #expect(names.contains(.keyID(try KeyID(parsing: Self.uuid))))
    }

    /// The Base64 of a key id may have a slash. Decoded, the text is the path of a content that another packager could
    /// order.
    @Test(arguments: ["", "==", "%3D%3D"])
    func aKeyIDWithASlashIsNoPathOfAContent(padding: String) throws {
        let keyID = try KeyID(parsing: "237c46af-f1f1-457e-bbbe-9df128a187d4")
        for host in ["skd://h/", "h/", "skd://h/a/;"] {
            let assetID = try AssetID(bytes: Array("\(host)I3xGr%2FHxRX67vp3xKKGH1A\(padding)".utf8))
            let candidates = AssetReference(assetID).candidates
            #expect(candidates.contains(.keyID(keyID)), "\(assetID)")
            let contents = candidates.compactMap { candidate in
                if case .contentID(let contentID) = candidate { contentID.text } else { nil }
            }
            #expect(!contents.contains { $0.hasSuffix("/I3xGr/HxRX67vp3xKKGH1A==") }, "\(contents)")
        }
    }

    /// Two key ids that differ name no key, and neither does a text that should be a key id.
    @Test(arguments: [
        ("skd://h/x?kid=\(uuid)&keyId=00112233445566778899aabbccddeeff&contentId=movie-1", 2),
        ("skd://h/00112233445566778899aabbccddeeff?kid=\(uuid)&cid=movie-1", 2),
        ("skd://h/x?cid=movie-1&kid=unknown", 0), ("skd://h/x?cid=movie-1&kid=%zz", 0),
    ])
    func namesNothingByKeyIDsThatCannotBeTrue(text: String, count: Int) throws {
        let reference = AssetReference(try AssetID(bytes: Array(text.utf8)))
        #expect(reference.binding?.keyIDs.count == count)
        for candidate in reference.candidates {
            if case .keyID = candidate { Issue.record("\(text) names a key") }
        }
        #expect(!reference.candidates.contains(.contentID(try ContentID("movie-1"))))
    }

    @Test(arguments: [
        "movie-1", "skd://h/movie-1", "skd://h/x?contentId=movie-1&kid=", "ex0MnlKkTgucYQpfO40uEQ",
        "h/ex0MnlKkTgucYQpfO40uEQ", "sixteen-letters!",
    ])
    func bindsToNothingElse(text: String) throws {
        #expect(AssetReference(try AssetID(bytes: Array(text.utf8))).binding == nil)
    }

    /// A token URL is longer than an alias and a content id. Its path and query name the key.
    @Test func readsALongLink() throws {
        let link = "skd://keys.example/\(String(repeating: "x", count: 700))/\(Self.uuid)"
        let reference = AssetReference(try AssetID(bytes: Array(link.utf8)))
        #expect(reference.candidates.first == .keyID(try KeyID(parsing: Self.uuid)))
        let nameless = try AssetID(bytes: [UInt8](repeating: 0xFF, count: 1024))
        #expect(AssetReference(nameless).candidates.isEmpty)
    }

    @Test(arguments: textForms)
    func readsUTF8Text(form: TextForm) throws {
        let assetID = try AssetID(bytes: Array(form.text.utf8))
        #expect(AssetReference(assetID).candidates == [.alias(assetID)] + (try form.candidates()))
    }

    @Test(arguments: textForms)
    func readsUTF16LittleEndianTextAlike(form: TextForm) throws {
        let assetID = try AssetID(bytes: form.text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
        #expect(AssetReference(assetID).candidates == [.alias(assetID)] + (try form.candidates()))
    }

    @Test func takesSixteenBytesAsAKeyIDFirstAndAsTextAfterwards() throws {
        let binary = try AssetID(bytes: (0xF0...0xFF).map { $0 })
        let binaryKeyID = try #require(KeyID(bytes: binary.bytes))
        #expect(AssetReference(binary).candidates == [.alias(binary), .keyID(binaryKeyID)])

        let text = try AssetID(bytes: Array("sixteen-letters!".utf8))
        let textKeyID = try #require(KeyID(bytes: text.bytes))
        let contentID = try ContentID("sixteen-letters!")
        #expect(AssetReference(text).candidates == [.alias(text), .keyID(textKeyID), .contentID(contentID)])
    }

    /// Published SPCs have 18 bytes that are not a text.
    @Test(arguments: [15, 17, 18, 32, 36, 200])
    func namesNothingButAnAliasByBytesThatAreNoText(size: Int) throws {
        let assetID = try AssetID(bytes: (0..<size).map { UInt8(0x80 + $0 % 0x80) })
        #expect(AssetReference(assetID).candidates == [.alias(assetID)])
    }

    @Test(arguments: [[0, 0], [0, 0, 0], [0x61, 0, 0x62], [0, 0x61], [0x61, 1]] as [[UInt8]])
    func takesZeroBytesForNoTextUnlessTheyMakeUTF16(bytes: [UInt8]) throws {
        let assetID = try AssetID(bytes: bytes)
        #expect(AssetReference(assetID).candidates == [.alias(assetID)])
    }

    @Test func readsAOneCharacterTextInUTF16() throws {
        let assetID = try AssetID(bytes: [0x61, 0])
        #expect(AssetReference(assetID).candidates == [.alias(assetID), .contentID(try ContentID("a"))])
    }

    @Test func readsTextsOfEveryLegalSize() throws {
        for size in AssetID.aliasSizes {
            let assetID = try AssetID(bytes: [UInt8](repeating: UInt8(ascii: "x"), count: size))
            let contentID = try ContentID(String(repeating: "x", count: size))
            #expect(AssetReference(assetID).candidates.last == .contentID(contentID))
        }
    }
}
