import ByteCoding
package import ContentKeys
import TestSupport
import Testing

/// The rules of every `ContentKeyStore`, with any database. `makeStore` returns an empty store in each call.
///
/// Each store's own tests run every case:
///
///     @Test(arguments: ContentKeyStoreConformance.Case.allCases)
///     func conforms(to rule: ContentKeyStoreConformance.Case) async throws {
///         try await ContentKeyStoreConformance.run(rule) { try openEmptyStore() }
///     }
package enum ContentKeyStoreConformance {
    package enum Case: String, CaseIterable, Sendable {
        case givesBackWhatWasStored
        case givesBackEveryFloor
        case findsAKeyByEverySpelling
        case findsNothingInAnEmptyStore
        case takesTheSameKeyTwice
        case storesAnOnlyKeyBesideNoLiveKey
        case refusesAnotherKeyUnderTheSameID
        case refusesToGuessBetweenLiveKeys
        case findsTheKeyOfATrack
        case countsOnlyLiveKeysOfAContent
        case neverGivesAWithdrawnKey
        case prefersAliasesToKeyIDsToContents
        case fallsThroughAWithdrawnKeyIDToTheContent
        case keepsTheMeaningsOfAnIDApart
        case refusesAnAliasThatNamesAnotherContent
        case takesTheSameAliasTwiceAndNoOther
        case refusesAnAliasForAnUnknownKey
        case listsInOrderPageByPage
        case listsContentsOnce
        case agreesWithAModel
    }

    package static func run<Store: ContentKeyStore>(_ rule: Case, makeStore: () async throws -> Store) async throws {
        let store = try await makeStore()
        switch rule {
        case .givesBackWhatWasStored: try await givesBackWhatWasStored(store)
        case .givesBackEveryFloor: try await givesBackEveryFloor(store)
        case .findsAKeyByEverySpelling: try await findsAKeyByEverySpelling(store)
        case .findsNothingInAnEmptyStore: try await findsNothingInAnEmptyStore(store)
        case .takesTheSameKeyTwice: try await takesTheSameKeyTwice(store)
        case .storesAnOnlyKeyBesideNoLiveKey: try await storesAnOnlyKeyBesideNoLiveKey(store)
        case .refusesAnotherKeyUnderTheSameID: try await refusesAnotherKeyUnderTheSameID(store)
        case .refusesToGuessBetweenLiveKeys: try await refusesToGuessBetweenLiveKeys(store)
        case .findsTheKeyOfATrack: try await findsTheKeyOfATrack(store)
        case .countsOnlyLiveKeysOfAContent: try await countsOnlyLiveKeysOfAContent(store)
        case .neverGivesAWithdrawnKey: try await neverGivesAWithdrawnKey(store)
        case .prefersAliasesToKeyIDsToContents: try await prefersAliasesToKeyIDsToContents(store)
        case .fallsThroughAWithdrawnKeyIDToTheContent: try await fallsThroughAWithdrawnKeyIDToTheContent(store)
        case .keepsTheMeaningsOfAnIDApart: try await keepsTheMeaningsOfAnIDApart(store)
        case .refusesAnAliasThatNamesAnotherContent: try await refusesAnAliasThatNamesAnotherContent(store)
        case .takesTheSameAliasTwiceAndNoOther: try await takesTheSameAliasTwiceAndNoOther(store)
        case .refusesAnAliasForAnUnknownKey: try await refusesAnAliasForAnUnknownKey(store)
        case .listsInOrderPageByPage: try await listsInOrderPageByPage(store)
        case .listsContentsOnce: try await listsContentsOnce(store)
        case .agreesWithAModel: try await agreesWithAModel(store)
        }
    }

    /// A content is listed once, however many keys it has, and also if all of them are withdrawn.
    private static func listsContentsOnce(_ store: some ContentKeyStore) async throws {
        #expect(try await store.contentIDs(in: ContentIDRange(), limit: 5).isEmpty)
        let names = ["!", "Movie", "a", "movie", "movie-1", "movie-10", "movie-2", "movie~", "z", "~"]
        var number: UInt64 = 0
        for name in names {
            for period in [nil, 1, 2] as [UInt32?] {
                number += 1
                _ = try await store.insert(try SampleKeys.record(number, content: name, period: period))
            }
        }
        func page(after last: String? = nil, prefix: String = "", limit: Int = 100) async throws -> [String] {
            let range = ContentIDRange(after: try last.map { try ContentID($0) }, prefix: prefix)
            return try await store.contentIDs(in: range, limit: limit).map(\.text)
        }
        let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(try await page() == sorted)
        for size in 1...4 {
            var found: [String] = []
            while true {
                let next = try await page(after: found.last, limit: size)
                #expect(next.count <= size)
                found += next
                if next.isEmpty { break }
            }
            #expect(found == sorted)
        }
        #expect(try await page(prefix: "movie") == ["movie", "movie-1", "movie-10", "movie-2", "movie~"])
        #expect(try await page(prefix: "movie-1") == ["movie-1", "movie-10"])
        #expect(try await page(after: "movie-1", prefix: "movie-1") == ["movie-10"])
        #expect(try await page(after: "z", prefix: "movie").isEmpty)
        #expect(try await page(after: "a", prefix: "movie", limit: 1) == ["movie"])
        #expect(try await page(prefix: "x").isEmpty)
        #expect(try await page(after: "~").isEmpty)
    }

    private static func givesBackWhatWasStored(_ store: some ContentKeyStore) async throws {
        let longest = String(repeating: "~", count: 200)
        let records = [
            try SampleKeys.record(1, content: "plain"),
            try SampleKeys.record(
                2, content: longest, track: try ownTrack(String(repeating: "L", count: 64), .audio), period: .max,
                scheme: .sampleAES, createdAt: .max),
            try SampleKeys.record(
                3, content: "'); DROP TABLE content_key;--".filter { $0 != " " }, period: 0, createdAt: .min),
            try SampleKeys.record(.max, content: "!", track: Track(.uhd), createdAt: 0),
        ]
        for record in records { #expect(try await store.insert(record) == .stored) }
        for record in records {
            let byKeyID = AssetReference(try AssetID(bytes: record.keyID.bytes))
            #expect(try await store.record(for: byKeyID) == record)
            guard record.contentID.text.utf8.count >= AssetID.sizes.lowerBound else { continue }
            #expect(try await store.record(for: SampleKeys.reference(record.contentID.text)) == record)
        }
    }

    private static func ownTrack(_ label: String, _ contentType: ContentType) throws -> Track {
        try Track(label: TrackLabel(label), contentType: contentType)
    }

    /// Stores every track with every floor, and reads each key by its id, in a list and by inserting it again.
    private static func givesBackEveryFloor(_ store: some ContentKeyStore) async throws {
        var records: [ContentKeyRecord] = []
        for contentType in ContentType.allCases {
            let tracks = [
                Track(contentType), try Track(label: nil, contentType: contentType),
                try ownTrack("hd", contentType), try ownTrack("SD+HD1", contentType),
            ]
            for track in tracks {
                for hdcp in [nil] + ContentKeyAttributes.HDCP.allCases {
                    for level in [nil] + ContentKeyAttributes.SecurityLevel.allCases {
                        records.append(
                            try SampleKeys.record(
                                UInt64(records.count), track: track, leastHDCP: hdcp, leastSecurityLevel: level))
                    }
                }
            }
        }
        for record in records { #expect(try await store.insert(record) == .stored) }
        for record in records {
            let byKeyID = AssetReference(try AssetID(bytes: record.keyID.bytes))
            #expect(try await store.record(for: byKeyID) == record)
            #expect(try await store.insert(record) == .alreadyPresent)
        }
        #expect(try await allPages(of: nil, limit: 100, in: store) == records.map(\.attributes))
    }

    private static func findsAKeyByEverySpelling(_ store: some ContentKeyStore) async throws {
        let record = try SampleKeys.record(7, content: "movie/1")
        let binaryAlias = try AssetID(bytes: [0xFF, 0x00, 0xFE])
        _ = try await store.insert(record)
        _ = try await store.addAlias(binaryAlias, to: record.keyID)
        let uuid = record.keyID.description
        let spellings = [
            uuid, uuid.uppercased(), record.keyID.hexadecimal, "skd://\(uuid)", "skd:\(record.keyID.hexadecimal)",
            "movie/1", "skd://movie/1", "skd://movie%2F1",
        ]
        for spelling in spellings {
            #expect(try await store.record(for: SampleKeys.reference(spelling)) == record, "\(spelling)")
            let wide = try AssetID(bytes: spelling.utf8.flatMap { [$0, 0] })
            #expect(try await store.record(for: AssetReference(wide)) == record, "\(spelling) in UTF-16LE")
        }
        for bytes in [record.keyID.bytes, binaryAlias.bytes] {
            #expect(try await store.record(for: AssetReference(AssetID(bytes: bytes))) == record)
        }
        for stranger in ["movie/2", "Movie/1", "movie/1/", "movie%252F1", SampleKeys.keyID(8).description] {
            #expect(try await store.record(for: SampleKeys.reference(stranger)) == nil, "\(stranger)")
        }
        #expect(try await store.record(for: AssetReference(AssetID(bytes: [0xFF, 0x00]))) == nil)
        // The asset id is longer than any alias and is not a text, so there is no candidate.
        let nameless = try AssetID(bytes: [UInt8](repeating: 0xFF, count: 1024))
        #expect(try await store.record(for: AssetReference(nameless)) == nil)
        #expect(try await store.record(for: AssetReference(AssetID(bytes: [0xFF, 0x00, 0xFE, 0x00]))) == nil)
    }

    private static func findsNothingInAnEmptyStore(_ store: some ContentKeyStore) async throws {
        #expect(try await store.record(for: SampleKeys.reference("movie")) == nil)
        #expect(try await store.list(of: nil, after: nil, limit: 10) == [])
        #expect(try await store.list(of: ContentID("movie"), after: nil, limit: 10) == [])
    }

    private static func takesTheSameKeyTwice(_ store: some ContentKeyStore) async throws {
        let record = try SampleKeys.record(1, track: Track(.hd), period: 3)
        #expect(try await store.insert(record) == .stored)
        #expect(try await store.insert(record) == .alreadyPresent)
        let later = try SampleKeys.record(1, track: Track(.hd), period: 3, state: .withdrawn, createdAt: 1_800_000_000)
        #expect(try await store.insert(later) == .alreadyPresent)
        #expect(try await store.list(of: nil, after: nil, limit: 10) == [record.attributes])
        #expect(try await store.record(for: SampleKeys.reference("movie")) == record)
    }

    /// Keys of other tracks and periods count, and withdrawn keys and other contents do not.
    private static func storesAnOnlyKeyBesideNoLiveKey(_ store: some ContentKeyStore) async throws {
        _ = try await store.insert(SampleKeys.record(1, state: .withdrawn))
        _ = try await store.insert(SampleKeys.record(2, content: "other"))
        let only = try SampleKeys.record(3, track: Track(.hd), period: 4)
        #expect(try await store.insertOnly(only) == .stored)
        #expect(try await store.insertOnly(only) == .alreadyPresent)
        for more in try [SampleKeys.record(4), SampleKeys.record(5, track: Track(.sd)), SampleKeys.record(1)] {
            #expect(try await store.insertOnly(more) == nil)
        }
        let other = try SampleKeys.record(3, track: Track(.hd), period: 4, key: 9)
        await #expect(throws: StoreError.keyIDTaken(only.keyID)) { try await store.insertOnly(other) }
        let keyIDs = ([1, 3, 2] as [UInt64]).map(SampleKeys.keyID)
        #expect(try await store.list(of: nil, after: nil, limit: 10).map(\.keyID) == keyIDs)
        #expect(try await store.insert(SampleKeys.record(4)) == .stored)
        #expect(try await store.insertOnly(only) == nil)
    }

    private static func refusesAnotherKeyUnderTheSameID(_ store: some ContentKeyStore) async throws {
        let record = try SampleKeys.record(1)
        _ = try await store.insert(record)
        let others = [
            try SampleKeys.record(1, key: 2), try SampleKeys.record(1, content: "other"),
            try SampleKeys.record(1, track: Track(.sd)), try SampleKeys.record(1, period: 1),
            try SampleKeys.record(1, scheme: .sampleAES),
            try SampleKeys.record(1, track: Track(label: nil, contentType: .uhd)),
            try SampleKeys.record(1, leastHDCP: .type1), try SampleKeys.record(1, leastSecurityLevel: .audio),
            try ContentKeyRecord(attributes: record.attributes, key: record.key, iv: .zero),
        ]
        for other in others {
            await #expect(throws: StoreError.keyIDTaken(record.keyID)) { try await store.insert(other) }
        }
        #expect(try await store.list(of: nil, after: nil, limit: 10) == [record.attributes])
        #expect(try await store.record(for: SampleKeys.reference("movie")) == record)
    }

    private static func refusesToGuessBetweenLiveKeys(_ store: some ContentKeyStore) async throws {
        let (first, second) = (try SampleKeys.record(1, track: Track(.sd)), try SampleKeys.record(2, track: Track(.hd)))
        _ = try await store.insert(first)
        _ = try await store.insert(second)
        await #expect(throws: StoreError.contentAmbiguous(first.contentID)) {
            try await store.record(for: SampleKeys.reference("skd://movie"))
        }
        #expect(try await store.record(for: SampleKeys.reference(second.keyID.description)) == second)
        _ = try await store.addAlias(AssetID(bytes: Array("movie".utf8)), to: second.keyID)
        #expect(try await store.record(for: SampleKeys.reference("movie")) == second)
    }

    /// The key of a track and a period, by the ranks of `NamedTrack`.
    private static func findsTheKeyOfATrack(_ store: some ContentKeyStore) async throws {
        func track(_ text: String) throws -> Track { try Track(label: TrackLabel(text), contentType: .hd) }
        func found(_ query: String) async throws -> ContentKeyRecord? {
            try await store.record(for: SampleKeys.reference("skd://h/x?cid=movie&\(query)"))
        }
        let hd = try SampleKeys.record(1, track: Track(.hd))
        let later = try SampleKeys.record(2, track: Track(.hd), period: 7)
        let mixed = try SampleKeys.record(3, track: track("Main"))
        let lower = try SampleKeys.record(4, track: track("main"))
        let withdrawn = try SampleKeys.record(5, track: Track(.sd), state: .withdrawn)
        for record in [hd, later, mixed, lower, withdrawn] { _ = try await store.insert(record) }
        #expect(try await found("track=HD") == hd)
        #expect(try await found("variantId=hd") == hd)
        #expect(try await found("track=HD&period=7") == later)
        #expect(try await found("track=hd&period=7") == later)
        #expect(try await found("period=7") == later)
        #expect(try await found("track=HD&period=8") == nil)
        #expect(try await found("label=Main") == mixed)
        #expect(try await found("label=main") == lower)
        await #expect(throws: StoreError.contentAmbiguous(hd.contentID)) { try await found("label=MAIN") }
        #expect(try await found("track=SD") == nil)
        // A key without a label serves every track that has no key of its own.
        let every = try SampleKeys.record(6)
        _ = try await store.insert(every)
        #expect(try await found("track=AUDIO") == every)
        #expect(try await found("track=HD") == hd)
    }

    private static func countsOnlyLiveKeysOfAContent(_ store: some ContentKeyStore) async throws {
        let live = try SampleKeys.record(2)
        for number in [1, 3, 4] as [UInt64] {
            _ = try await store.insert(SampleKeys.record(number, state: .withdrawn))
        }
        #expect(try await store.record(for: SampleKeys.reference("movie")) == nil)
        _ = try await store.insert(live)
        #expect(try await store.record(for: SampleKeys.reference("movie")) == live)
    }

    private static func neverGivesAWithdrawnKey(_ store: some ContentKeyStore) async throws {
        let withdrawn = try SampleKeys.record(1, content: "old", state: .withdrawn)
        let live = try SampleKeys.record(2, content: "shared-name")
        _ = try await store.insert(withdrawn)
        _ = try await store.insert(live)
        #expect(try await store.record(for: SampleKeys.reference("old")) == nil)
        #expect(try await store.record(for: SampleKeys.reference(withdrawn.keyID.description)) == nil)
        // The alias names the withdrawn key, so the content within the link is not looked up.
        #expect(try await store.record(for: SampleKeys.reference("h/shared-name")) == live)
        _ = try await store.addAlias(AssetID(bytes: Array("h/shared-name".utf8)), to: withdrawn.keyID)
        #expect(try await store.record(for: SampleKeys.reference("h/shared-name")) == nil)
    }

    private static func prefersAliasesToKeyIDsToContents(_ store: some ContentKeyStore) async throws {
        // Keys of one content may have ids that spell its name.
        let name = SampleKeys.keyID(1).description
        let first = try SampleKeys.record(2, content: name)
        _ = try await store.insert(first)
        #expect(try await store.record(for: SampleKeys.reference(name)) == first)
        let byKeyID = try SampleKeys.record(1, content: name, track: Track(.hd))
        let byAlias = try SampleKeys.record(3, content: name, track: Track(.sd))
        _ = try await store.insert(byKeyID)
        #expect(try await store.record(for: SampleKeys.reference(name)) == byKeyID)
        _ = try await store.insert(byAlias)
        _ = try await store.addAlias(AssetID(bytes: Array(name.utf8)), to: byAlias.keyID)
        #expect(try await store.record(for: SampleKeys.reference(name)) == byAlias)
        #expect(try await store.record(for: SampleKeys.reference("skd://" + name)) == byKeyID)
    }

    private static func fallsThroughAWithdrawnKeyIDToTheContent(_ store: some ContentKeyStore) async throws {
        let name = SampleKeys.keyID(1).description
        let withdrawn = try SampleKeys.record(1, content: name, state: .withdrawn)
        let live = try SampleKeys.record(2, content: name)
        _ = try await store.insert(withdrawn)
        #expect(try await store.record(for: SampleKeys.reference(name)) == nil)
        _ = try await store.insert(live)
        for text in [name, "skd://" + name, "cid=" + name] {
            #expect(try await store.record(for: SampleKeys.reference(text)) == live)
        }
        // An explicit key id binds, so a content beside it is not looked up.
        _ = try await store.insert(try SampleKeys.record(3, content: "movie"))
        #expect(try await store.record(for: SampleKeys.reference("h/x?cid=movie&kid=\(SampleKeys.keyID(9))")) == nil)
    }

    /// A key id, and ids of contents that asset ids with this key id could mean as well.
    private static func spellings(_ number: UInt64) throws -> [(keyID: KeyID, content: String)] {
        let keyID = KeyID(words: Bytes16(high: 0x7b1d_0c9e_52a4_4e0b, low: 0x9c61_0a5f_0000_0000 + number))
        let digits = String(number + 10_000_000)
        func naming(_ text: String) throws -> KeyID { try #require(KeyID(bytes: Array(text.utf8))) }
        return [
            (keyID, keyID.description), (keyID, keyID.description.uppercased()), (keyID, keyID.hexadecimal),
            (keyID, Base64.encode(keyID.bytes)), (keyID, Base64.encode(keyID.bytes).replacing("=", with: "")),
            (keyID, "\(keyID):00112233445566778899aabbccddeeff"), (keyID, "vod/\(keyID)"),
            (try naming("b/movie-" + digits), "b/movie-" + digits),
            (try naming("skd://mo" + digits), "mo" + digits), (try naming("cid=movi" + digits), "movi" + digits),
            (try naming("cid=\(digits.suffix(4))&label=H"), String(digits.suffix(4))),
            (try naming("skd://\(digits.suffix(2))?track=H"), String(digits.suffix(2))),
            (try naming("?cid=\(digits.suffix(2))&period=0"), String(digits.suffix(2))),
            (try #require(KeyID(bytes: digits.utf8.flatMap { [$0, 0] })), digits),
        ]
    }

    /// Whichever side is stored first, the other one is refused, and the first one stays what it is.
    private static func keepsTheMeaningsOfAnIDApart(_ store: some ContentKeyStore) async throws {
        var number: UInt64 = 0
        for isKeyFirst in [true, false] {
            for form in try spellings(0).indices {
                number += 2
                let (keyID, content) = try spellings(number)[form]
                let spelled = StoreError.keyIDSpellsContent(keyID, try ContentID(content))
                var attributes = ContentKeyAttributes(
                    keyID: keyID, contentID: try ContentID("key-\(number)"), createdAt: 0)
                let source = try SampleKeys.record(number)
                let key = try ContentKeyRecord(attributes: attributes, key: source.key, iv: source.iv)
                let ofContent = try SampleKeys.record(number + 1_000, content: content)
                let (first, second) = isKeyFirst ? (key, ofContent) : (ofContent, key)
                #expect(try await store.insert(first) == .stored)
                await #expect(throws: spelled, "\(content)") { try await store.insert(second) }
                for text in [content, "skd://" + content, keyID.description] {
                    let found = try await store.record(for: SampleKeys.reference(text))
                    #expect(found == nil || found == first, "\(text)")
                }
                let byBytes = try await store.record(for: AssetReference(AssetID(bytes: keyID.bytes)))
                #expect(byBytes == first || (byBytes == nil && !isKeyFirst))
                // The content itself may have a key with this id.
                attributes.contentID = first.contentID
                attributes.track = Track(.hd)
                let own = try ContentKeyRecord(attributes: attributes, key: source.key, iv: source.iv)
                if !isKeyFirst { #expect(try await store.insert(own) == .stored) }
            }
        }
    }

    private static func refusesAnAliasThatNamesAnotherContent(_ store: some ContentKeyStore) async throws {
        let (first, second) = (try SampleKeys.record(1, content: "a1"), try SampleKeys.record(2, content: "a2"))
        for record in [first, second] { _ = try await store.insert(record) }
        for bytes in [Array("a2".utf8), Array("skd://a2".utf8), second.keyID.bytes, Array("\(second.keyID)".utf8)] {
            await #expect(throws: StoreError.aliasNamesContent(second.contentID)) {
                try await store.addAlias(AssetID(bytes: bytes), to: first.keyID)
            }
            #expect(try await store.record(for: AssetReference(AssetID(bytes: bytes))) == second)
            #expect(try await store.addAlias(AssetID(bytes: bytes), to: second.keyID) == .stored)
        }
        // An alias that only contains the name hides nothing but itself.
        let link = try AssetID(bytes: Array("old.example/a2".utf8))
        #expect(try await store.addAlias(link, to: first.keyID) == .stored)
    }

    private static func takesTheSameAliasTwiceAndNoOther(_ store: some ContentKeyStore) async throws {
        let (first, second) = (try SampleKeys.record(1, content: "a1"), try SampleKeys.record(2, content: "a2"))
        _ = try await store.insert(first)
        _ = try await store.insert(second)
        for size in [2, 3, 200] {
            let alias = try AssetID(bytes: [UInt8](repeating: 0, count: size))
            #expect(try await store.addAlias(alias, to: first.keyID) == .stored)
            #expect(try await store.addAlias(alias, to: first.keyID) == .alreadyPresent)
            await #expect(throws: StoreError.aliasTaken(by: first.keyID)) {
                try await store.addAlias(alias, to: second.keyID)
            }
            #expect(try await store.record(for: AssetReference(alias)) == first)
        }
    }

    private static func refusesAnAliasForAnUnknownKey(_ store: some ContentKeyStore) async throws {
        let alias = try AssetID(bytes: [1, 2, 3])
        let unknown = SampleKeys.keyID(9)
        await #expect(throws: StoreError.keyUnknown(unknown)) { try await store.addAlias(alias, to: unknown) }
        #expect(try await store.record(for: AssetReference(alias)) == nil)
        // The refused call has left nothing that a later call could conflict with.
        let record = try SampleKeys.record(9)
        _ = try await store.insert(record)
        #expect(try await store.addAlias(alias, to: record.keyID) == .stored)
    }

    private static func listsInOrderPageByPage(_ store: some ContentKeyStore) async throws {
        let contents = ["Z", "a", "a-1", "a-10", "a-2", "~"]
        // 37 and 60 have no common divisor, so this visits every number once, but not in order.
        let records = try (0..<60).map { (index: Int) throws -> ContentKeyRecord in
            let state: ContentKeyState = index % 4 == 0 ? .withdrawn : .live
            return try SampleKeys.record(UInt64(index * 37 % 60), content: contents[index % 6], state: state)
        }
        for record in records { _ = try await store.insert(record) }
        let expected = records.map(\.attributes).sorted { ($0.contentID, $0.keyID) < ($1.contentID, $1.keyID) }
        for limit in [1, 7, 59, 60, 61, 1000] {
            #expect(try await allPages(of: nil, limit: limit, in: store) == expected)
        }
        for content in contents {
            let contentID = try ContentID(content)
            let ofContent = expected.filter { $0.contentID == contentID }
            #expect(try await allPages(of: contentID, limit: 3, in: store) == ofContent)
            #expect(ofContent.count == 10)
        }
    }

    private static func allPages(
        of contentID: ContentID?, limit: Int, in store: some ContentKeyStore
    ) async throws -> [ContentKeyAttributes] {
        var entries: [ContentKeyAttributes] = []
        while true {
            let page = try await store.list(of: contentID, after: entries.last, limit: limit)
            #expect(page.count <= limit)
            guard !page.isEmpty else { return entries }
            entries += page
        }
    }

    /// Compares the results of random calls with those of a model over dictionaries.
    private static func agreesWithAModel(_ store: some ContentKeyStore) async throws {
        var random = SeededGenerator.announced("a content key store agrees with its model")
        var model = ContentKeyStoreModel()
        for _ in 0..<400 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let record = try SampleKeys.record(
                    .random(in: 0..<40, using: &random), content: "c\(Int.random(in: 0..<12, using: &random))",
                    state: Bool.random(using: &random) ? .live : .withdrawn, key: .random(in: 0..<2, using: &random),
                    leastHDCP: Int.random(in: 0..<4, using: &random) == 0 ? .type1 : nil)
                #expect(
                    await outcome { () async throws(StoreError) in try await store.insert(record) }
                        == model.insert(record))
            case 4..<6:
                let alias = try AssetID(bytes: [0x63, UInt8.random(in: 0x30..<0x3A, using: &random)])
                let keyID = SampleKeys.keyID(.random(in: 0..<40, using: &random))
                #expect(
                    await outcome { () async throws(StoreError) in try await store.addAlias(alias, to: keyID) }
                        == model.addAlias(alias, to: keyID))
            default:
                let text =
                    Bool.random(using: &random)
                    ? "c\(Int.random(in: 0..<12, using: &random))"
                    : SampleKeys.keyID(.random(in: 0..<40, using: &random)).description
                let reference = try SampleKeys.reference(text)
                #expect(
                    await outcome { () async throws(StoreError) in try await store.record(for: reference) }
                        == model.record(for: reference))
            }
        }
        #expect(try await allPages(of: nil, limit: 6, in: store) == model.list())
    }

    private static func outcome<Value: Sendable>(
        _ body: () async throws(StoreError) -> Value
    ) async -> Result<Value, StoreError> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}

/// A model of `ContentKeyStore` over dictionaries.
struct ContentKeyStoreModel {
    private var records: [KeyID: ContentKeyRecord] = [:]
    private var aliases: [AssetID: KeyID] = [:]

    mutating func insert(_ record: ContentKeyRecord) -> Result<StoreOutcome, StoreError> {
        guard let present = records[record.keyID] else {
            records[record.keyID] = record
            return .success(.stored)
        }
        return present.isSameKey(as: record) ? .success(.alreadyPresent) : .failure(.keyIDTaken(record.keyID))
    }

    mutating func addAlias(_ alias: AssetID, to keyID: KeyID) -> Result<StoreOutcome, StoreError> {
        guard let record = records[keyID] else { return .failure(.keyUnknown(keyID)) }
        guard let present = aliases[alias] else {
            let name = String(decoding: alias.bytes, as: UTF8.self)
            if record.contentID.text != name,
                let other = records.values.first(where: { $0.contentID.text == name })
            {
                return .failure(.aliasNamesContent(other.contentID))
            }
            aliases[alias] = keyID
            return .success(.stored)
        }
        return present == keyID ? .success(.alreadyPresent) : .failure(.aliasTaken(by: present))
    }

    func record(for reference: AssetReference) -> Result<ContentKeyRecord?, StoreError> {
        for candidate in reference.candidates {
            let found: [ContentKeyRecord] =
                switch candidate {
                case .alias(let alias): aliases[alias].flatMap { records[$0] }.map { [$0] } ?? []
                case .keyID(let keyID): records[keyID].map { $0.attributes.state == .live ? [$0] : [] } ?? []
                case .contentID(let contentID):
                    records.values.filter { $0.contentID == contentID && $0.attributes.state == .live }
                case .track(let track):
                    Dictionary(grouping: records.values.filter { $0.attributes.state == .live }) {
                        track.rank(of: $0.attributes) ?? .max
                    }.filter { $0.key != .max }.min { $0.key < $1.key }?.value ?? []
                }
            if found.count > 1 { return .failure(.contentAmbiguous(found[0].contentID)) }
            if let only = found.first { return .success(only.attributes.state == .live ? only : nil) }
        }
        return .success(nil)
    }

    func list() -> [ContentKeyAttributes] {
        records.values.map(\.attributes).sorted { ($0.contentID, $0.keyID) < ($1.contentID, $1.keyID) }
    }
}
