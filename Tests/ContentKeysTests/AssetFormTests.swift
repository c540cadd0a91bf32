import ByteCoding
import ContentKeys
import Testing

/// Tests the forms of asset ids of older services.
@Suite struct AssetFormTests {
    static let uuid = "7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"
    static let other = "00112233445566778899aabbccddeeff"
    private let keyID: KeyID
    private let film: ContentID

    init() throws {
        keyID = try KeyID(parsing: Self.uuid)
        film = try ContentID("film-2")
    }

    private func reference(_ text: String, _ forms: String...) throws -> AssetReference {
        AssetReference(
            try AssetID(bytes: Array(text.utf8)),
            AssetForms(template: .standard, try forms.map { try AssetForm(parsing: $0) }))
    }

    /// What is looked up first after an alias.
    private func first(_ text: String, _ forms: String...) throws -> AssetCandidate? {
        let forms = AssetForms(template: .standard, try forms.map { try AssetForm(parsing: $0) })
        return AssetReference(try AssetID(bytes: Array(text.utf8)), forms).candidates
            .first { if case .alias = $0 { false } else { true } }
    }

    @Test(arguments: [
        "skd://h.example/getckc?ContentId=film-2&KeyId=\(uuid)", "SKD://h/GETCKC?contentid=film-2&KEYID=\(uuid)",
        "h/getckc?KeyId=\(uuid)&ContentId=film-2", "https://h:8443/getckc?x=1&ContentId=film-2&KeyId=\(uuid)&y=2",
        "skd://h/getckc?ContentId=film%2D2&KeyId=7b1d0c9e52a44e0b9c610a5f3b8d2e11",
        "skd://h/getckc?ContentId=film-2&KeyId=ex0MnlKkTgucYQpfO40uEQ==",
        "skd://h/getckc?ContentId=film-2&KeyId=ex0MnlKkTgucYQpfO40uEQ",
    ])
    func readsTheKeyID(text: String) throws {
        let reference = try reference(text, "skd://*/getckc?ContentId={content}&KeyId={kid}")
        #expect(reference.candidates.contains(.keyID(keyID)))
        #expect(reference.binding?.keyIDs == [keyID])
        #expect(reference.binding?.contentIDs.contains(film) == true)
        #expect(!reference.candidates.contains(.contentID(film)))
    }

    @Test func readsAContentAndItsTrack() throws {
        let track = AssetCandidate.track(NamedTrack(film, label: .hd))
        #expect(try first("skd://h/film-2/HD/key", "skd://*/{content}/{track}/key") == track)
        #expect(try first("skd://h/film-2", "skd://*/{content}") == .contentID(film))
        #expect(
            try first("skd://h/film-2/HD/7", "skd://*/{contentId}/{track}/{period}")
                == .track(NamedTrack(film, label: .hd, periodIndex: 7)))
        #expect(try first("skd://h/v2;film-2.m3u8", "skd://*/*;{content}.m3u8") == .contentID(film))
    }

    /// A key id in the path may be a customer's. A form says that the content is meant.
    @Test func aFormSaysWhatThePathMeans() throws {
        let text = "skd://h/\(Self.other)/license/film-2"
        #expect(try reference(text).binding?.keyIDs == [KeyID(parsing: Self.other)])
        let read = try reference(text, "skd://*/*/license/{content}")
        #expect(read.binding == nil)
        #expect(try first(text, "skd://*/*/license/{content}") == .contentID(film))
    }

    @Test(arguments: [
        "skd://h/getckc?ContentId=film-2", "skd://h/x/getckc?ContentId=film-2&KeyId=\(uuid)",
        "skd://h/getckc?ContentId=a&ContentId=b&KeyId=\(uuid)", "skd:///getckc?ContentId=film-2&KeyId=\(uuid)",
        "skd://h/getckc?ContentId=film-2&KeyId=", "skd://h/getckc", "skd://h/getckcs?ContentId=film-2&KeyId=\(uuid)",
        "skd://h/getckc?ContentId=%&KeyId=\(uuid)",
    ])
    func doesNotReadOtherTexts(text: String) throws {
        let form = "skd://*/getckc?ContentId={content}&KeyId={kid}"
        #expect(try reference(text, form) == reference(text), "\(text)")
    }

    /// Where a form has a content, a content is named, also by an id that looks like a key id.
    @Test(arguments: [uuid, other])
    func aFormReadsAContentThatLooksLikeAKeyID(id: String) throws {
        let forms = ["skd://h/x?cid={content}&trk={track}", "skd://h/{content}?trk={track}"]
        let track = AssetCandidate.track(NamedTrack(try ContentID(id), label: .hd))
        for (form, text) in zip(forms, ["skd://h/x?cid=\(id)&trk=HD", "skd://h/\(id)?trk=HD"]) {
            #expect(try reference(text, form).binding == nil, "\(text)")
            #expect(try first(text, form) == track, "\(text)")
        }
    }

    // MARK: - Attacks

    /// A key id beside the content that the form has read binds as before.
    @Test(arguments: ["kid=\(other)", "assetId=\(other)", "x=1&KeyId=\(other)", "kid=none", "kid=\(uuid)"])
    func aKeyIDBesideAContentThatLooksLikeOneBinds(pair: String) throws {
        let form = "skd://h/x?cid={content}&trk={track}"
        let reference = try reference("skd://h/x?cid=\(Self.uuid)&trk=HD&\(pair)", form)
        #expect(reference.binding != nil)
        for candidate in reference.candidates {
            if case .track = candidate { Issue.record("\(pair): \(candidate)") }
        }
    }

    /// A pair with a name of key ids binds, whatever the form has read. Two that differ name no key.
    @Test(arguments: [
        "skd://h/film-2?kid=\(other)", "skd://h/film-2?a=b&KeyId=\(other)",
    ])
    func anExplicitKeyIDBindsBesideAForm(text: String) throws {
        let read = try reference(text, "skd://*/{content}?*", "skd://*/{content}?a={iv}")
        #expect(read.binding?.keyIDs == [try KeyID(parsing: Self.other)])
        #expect(!read.candidates.contains(.contentID(film)))
    }

    @Test func twoKeyIDsNameNoKey() throws {
        let read = try reference("skd://h/\(Self.uuid)?kid=\(Self.other)&v=1", "skd://*/{kid}?v=1")
        #expect(read.binding?.keyIDs.count == 2)
        for case .keyID(let keyID) in read.candidates { Issue.record("\(keyID) is named") }
        let unread = try reference("skd://h/\(Self.uuid)?kid=none&v=1", "skd://*/{kid}?v=1")
        for case .keyID(let keyID) in unread.candidates { Issue.record("\(keyID) is named") }
    }

    /// Forms that overlap: the own template comes first, then the forms in their order.
    @Test func theFirstFormDecides() throws {
        let text = "skd://\(Self.uuid)/\(Self.other)"
        #expect(try reference(text, "skd://{kid}/*", "skd://*/{kid}").binding?.keyIDs == [keyID])
        #expect(try reference(text, "skd://*/{kid}", "skd://{kid}/*").binding?.keyIDs == [KeyID(parsing: Self.other)])
        let own = AssetForms(template: .standard, [try AssetForm(parsing: "skd://{content}")])
        let bare = AssetReference(try AssetID(bytes: Array("skd://\(Self.uuid)".utf8)), own)
        #expect(bare.binding?.keyIDs == [keyID])
        #expect(bare.candidates.dropFirst().first == .keyID(keyID))
        // A form with a key id binds, also if one without a key id comes before it.
        let both = try reference("skd://film-2/\(Self.uuid)", "skd://{content}/*", "skd://*/{kid}")
        #expect(both.binding?.keyIDs == [keyID] && both.binding?.contentIDs.contains(film) == true)
        #expect(!both.candidates.contains(.contentID(film)))
    }

    /// The longest texts name few things, also with the most forms.
    @Test(arguments: ["a", "/", "&", "=", "?", "%", "&kid=", "kid=\(other)&", "\(other)/", "{", "\u{0}"])
    func hostileTextsNameLittle(piece: String) throws {
        let forms = AssetForms(
            template: .standard,
            try (0..<AssetForms.countMaximum).map {
                try AssetForm(parsing: "skd://*/*/\($0)/{content}?a={track}&kid={kid}")
            })
        let text = String(String(repeating: piece, count: 1_024 / piece.utf8.count).prefix(1_018))
        let assetID = try AssetID(bytes: Array("skd://\(text)".utf8))
        let reference = AssetReference(assetID, forms)
        #expect(reference.candidates.count < 8)
        #expect((reference.binding?.contentIDs.count ?? 0) < 4)
    }

    // MARK: - Forms

    @Test(arguments: [
        ("skd://*/{content}{track}", "contentId"), ("skd://{content}*", "contentId"), ("skd://**/{content}", "*"),
        ("skd://a{kid}b{kid}", "kid"),
    ])
    func refusesWhatRunsTogether(form: String, part: String) {
        #expect(throws: SKDTemplateError.notReadable(part, instead: nil)) { _ = try AssetForm(parsing: form) }
    }

    @Test(arguments: ["", "skd://*", "skd://*/{track}", "skd://h/x?t={track}&p={period}"])
    func refusesWhatNamesNothing(form: String) {
        #expect(throws: SKDTemplateError.namesNothing) { _ = try AssetForm(parsing: form) }
    }

    @Test func boundsItsSize() throws {
        let text = "skd://{content}/" + String(repeating: "a", count: AssetForm.sizeMaximum - 16)
        #expect(try AssetForm(parsing: text).source == text)
        #expect(throws: SKDTemplateError.tooLong(201)) { _ = try AssetForm(parsing: text + "a") }
        #expect(throws: SKDTemplateError.unknownField) { _ = try AssetForm(parsing: "skd://{name}") }
        #expect(throws: SKDTemplateError.invalidCharacter) { _ = try AssetForm(parsing: "skd://{kid} ") }
    }

    // MARK: - Tracks

    private func key(_ label: String?, _ period: UInt32? = nil) throws -> ContentKeyAttributes {
        let track = try Track(label: try label.map { try TrackLabel($0) }, contentType: .hd)
        return ContentKeyAttributes(keyID: keyID, contentID: film, track: track, periodIndex: period, createdAt: 0)
    }

    @Test func ranksKeysByTrackAndPeriod() throws {
        let hd = NamedTrack(film, label: .hd)
        #expect(try [key("HD"), key("HD", 3), key(nil), key(nil, 3)].map(hd.rank) == [0, 1, 4, 5])
        #expect(try hd.rank(of: key("HD2")) == nil)
        let own = NamedTrack(film, label: try TrackLabel("Main"))
        #expect(try [key("Main"), key("main"), key("MAIN", 3)].map(own.rank) == [0, 2, 3])
        let second = NamedTrack(film, label: .hd, periodIndex: 3)
        #expect(try [key("HD"), key("HD", 2), key("HD", 3), key(nil, 3)].map(second.rank) == [nil, nil, 0, 4])
        #expect(try [key(nil), key(nil, 3), key("HD")].map(NamedTrack(film).rank) == [0, 1, 2])
        #expect(try NamedTrack(ContentID("film-3"), label: .hd).rank(of: key("HD")) == nil)
    }
}
