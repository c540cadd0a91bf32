package import ByteCoding
package import ContentKeys
import KeyCrypto
import TestSupport
import Testing

/// The rules of every `KeyProvider`, with any database.
package enum KeyProviderConformance {
    package typealias Store = ContentKeyStore & KeyProvider

    package enum Case: String, CaseIterable, Sendable {
        case storesWhatIsNotThere
        case givesWhatIsThere
        case findsWithoutStoring
        case knowsEveryConflict
        case takesNoKeyIDForAnothers
        case doesNotChooseBetweenKeysOfATrack
        case tellsTracksAndPeriodsApart
        case storesAllOrNone
        case makesOneKeyOfEqualWishes
        case takesAsManyWishesAsADocumentMayHave
        case givesRacingNodesTheSameKeys
        case givesRacingNodesTheSameKeysOfSeveralContents
        case storesOneOnlyKeyInARace
        case storesOneMeaningOfAnIDInARace
        case agreesWithAModel
        case opensNoBrokenSeal
    }

    /// One empty database, which a rule can open several times.
    package struct Database {
        let open: () throws -> any Store
        /// Withdraws a key.
        let withdraw: (KeyID) async throws -> Void
        /// Changes a byte of both seals of a key, without any of the checks that keep a store consistent.
        let breakSeal: (KeyID) throws -> Void

        package init(
            open: @escaping () throws -> any Store, withdraw: @escaping (KeyID) async throws -> Void,
            breakSeal: @escaping (KeyID) throws -> Void
        ) {
            self.open = open
            self.withdraw = withdraw
            self.breakSeal = breakSeal
        }
    }

    package static func run(_ rule: Case, on database: Database) async throws {
        switch rule {
        case .storesWhatIsNotThere: try await storesWhatIsNotThere(database)
        case .givesWhatIsThere: try await givesWhatIsThere(database)
        case .findsWithoutStoring: try await findsWithoutStoring(database)
        case .knowsEveryConflict: try await knowsEveryConflict(database)
        case .takesNoKeyIDForAnothers: try await takesNoKeyIDForAnothers(database)
        case .doesNotChooseBetweenKeysOfATrack: try await doesNotChooseBetweenKeysOfATrack(database)
        case .tellsTracksAndPeriodsApart: try await tellsTracksAndPeriodsApart(database)
        case .storesAllOrNone: try await storesAllOrNone(database)
        case .makesOneKeyOfEqualWishes: try await makesOneKeyOfEqualWishes(database)
        case .takesAsManyWishesAsADocumentMayHave: try await takesAsManyWishesAsADocumentMayHave(database)
        case .givesRacingNodesTheSameKeys: try await givesRacingNodesTheSameKeys(database)
        case .givesRacingNodesTheSameKeysOfSeveralContents:
            try await givesRacingNodesTheSameKeysOfSeveralContents(database)
        case .storesOneOnlyKeyInARace: try await storesOneOnlyKeyInARace(database)
        case .storesOneMeaningOfAnIDInARace: try await storesOneMeaningOfAnIDInARace(database)
        case .agreesWithAModel: try await agreesWithAModel(database)
        case .opensNoBrokenSeal: try await opensNoBrokenSeal(database)
        }
    }

    package static func wish(
        _ record: ContentKeyRecord, by identity: KeyWish.Identity = .keyID, given: KeyWish.Given = []
    ) -> KeyWish {
        KeyWish(record: record, identity: identity, given: given)
    }

    private static func reference(_ record: ContentKeyRecord) throws -> AssetReference {
        AssetReference(try AssetID(bytes: record.keyID.bytes))
    }

    private static func count(_ store: any Store) async throws -> Int {
        try await store.list(of: nil, after: nil, limit: 1000).count
    }

    /// Returns the error of a call. Records an issue if the call succeeds.
    private static func error(
        _ store: any Store, _ wishes: [KeyWish], sourceLocation: SourceLocation = #_sourceLocation
    ) async -> KeyProvisionError? {
        await #expect(throws: KeyProvisionError.self, sourceLocation: sourceLocation) {
            _ = try await store.provide(wishes)
        }
    }

    // MARK: The rules

    private static func storesWhatIsNotThere(_ database: Database) async throws {
        let store = try database.open()
        let records = try [
            SampleKeys.record(1, track: Track(.hd), period: 0, leastHDCP: .type1),
            SampleKeys.record(2, track: Track(.audio), scheme: .sampleAES),
            SampleKeys.record(3, content: "other", period: .max, scheme: .cenc),
        ]
        let wishes = records.enumerated().map { index, record in wish(record, by: index == 1 ? .track : .keyID) }
        let provided = try await store.provide(wishes)
        #expect(provided.map(\.record) == records)
        #expect(provided.map(\.isNew) == [true, true, true])
        // Another node finds them, both as a license and as a packager looks them up.
        let other = try database.open()
        for record in records { #expect(try await other.record(for: reference(record)) == record) }
        let again = try await other.provide(wishes)
        #expect(again.map(\.record) == records)
        #expect(again.map(\.isNew) == [false, false, false])
        #expect(try await count(store) == 3)
        #expect(try await store.provide([]).isEmpty)
        #expect(try await store.find([]).isEmpty)
    }

    private static func givesWhatIsThere(_ database: Database) async throws {
        let store = try database.open()
        let stored = try SampleKeys.record(1, track: Track(.hd), period: 4, leastHDCP: .type1)
        _ = try await store.insert(stored)
        // The wished keys have other bytes, another time and another floor. None of these was given, so the stored key
        // is the wanted one.
        let wanted = try SampleKeys.record(1, track: Track(.hd), period: 4, createdAt: 1_900_000_000, key: 7)
        let ofTrack = try SampleKeys.record(9, track: Track(.hd), period: 4, key: 8)
        for wish in [wish(wanted), wish(ofTrack, by: .track), wish(stored, given: [.key, .iv])] {
            let provided = try await store.provide([wish])
            #expect(provided.map(\.record) == [stored])
            #expect(provided.map(\.isNew) == [false])
            #expect(try await store.find([wish]) == [stored])
        }
        #expect(try await count(store) == 1)
    }

    private static func findsWithoutStoring(_ database: Database) async throws {
        let store = try database.open()
        let (first, second) = (try SampleKeys.record(1), try SampleKeys.record(2, track: Track(.hd)))
        let wishes = [wish(first), wish(second, by: .track)]
        #expect(try await store.find(wishes) == [nil, nil])
        #expect(try await count(store) == 0)
        _ = try await store.insert(second)
        #expect(try await store.find(wishes) == [nil, second])
        await #expect(throws: KeyProvisionError.conflict(second.keyID, .otherContent)) {
            _ = try await store.find([wish(SampleKeys.record(2, content: "other"))])
        }
        #expect(try await count(store) == 1)
    }

    /// Causes each conflict by the key id and, if possible, by the track.
    private static func knowsEveryConflict(_ database: Database) async throws {
        let store = try database.open()
        let stored = try SampleKeys.record(1, track: Track(.hd), period: 4)
        let withdrawn = try SampleKeys.record(2, track: Track(.sd), period: 4)
        for record in [stored, withdrawn] { _ = try await store.insert(record) }
        try await database.withdraw(withdrawn.keyID)
        for content in 0..<2 as Range<UInt64> {
            _ = try await store.insert(SampleKeys.record(10 + content, content: "twice"))
        }
        let otherIV = try ContentKeyRecord(
            attributes: stored.attributes, key: stored.key, iv: Bytes16(high: 1, low: 2))
        let demandingHDCP = try SampleKeys.record(1, track: Track(.hd), period: 4, leastHDCP: .type0)
        let demandingLevel = try SampleKeys.record(3, track: Track(.hd), period: 4, leastSecurityLevel: .baseline)
        let cases: [(KeyConflict, KeyWish)] = try [
            (.otherContent, wish(SampleKeys.record(1, content: "other", track: Track(.hd), period: 4))),
            (.otherTrack, wish(SampleKeys.record(1, track: Track(.sd), period: 4))),
            (.otherTrack, wish(SampleKeys.record(1, period: 4))),
            (.otherPeriod, wish(SampleKeys.record(1, track: Track(.hd), period: 5))),
            (.otherPeriod, wish(SampleKeys.record(1, track: Track(.hd)))),
            (.otherScheme, wish(SampleKeys.record(1, track: Track(.hd), period: 4, scheme: .cenc))),
            (.otherScheme, wish(SampleKeys.record(3, track: Track(.hd), period: 4, scheme: .cens), by: .track)),
            (.otherIV, wish(otherIV, given: .iv)), (.otherIV, wish(otherIV, by: .track, given: [.key, .iv])),
            (.otherKey, wish(SampleKeys.record(1, track: Track(.hd), period: 4, key: 9), given: .key)),
            (.weakerFloor, wish(demandingHDCP, given: .floor)),
            (.weakerFloor, wish(demandingLevel, by: .track, given: .floor)),
            (.withdrawn, wish(SampleKeys.record(2, track: Track(.sd), period: 4))),
            (.withdrawn, wish(SampleKeys.record(2, track: Track(.sd), period: 4), by: .track)),
            (.severalKeys, wish(SampleKeys.record(3, content: "twice"), by: .track)),
        ]
        #expect(Set(cases.map(\.0)) == Set(KeyConflict.allCases))
        for (conflict, wish) in cases {
            // A stored key is named, and not the one that the wish would have made.
            let numbers: [UInt64] = conflict == .severalKeys ? [10, 11] : conflict == .withdrawn ? [2] : [1]
            let expected = numbers.map { KeyProvisionError.conflict(SampleKeys.keyID($0), conflict) }
            #expect(await error(store, [wish]).map(expected.contains) == true, "\(conflict)")
            do throws(KeyProvisionError) {
                _ = try await store.find([wish])
                Issue.record("\(conflict)")
            } catch {
                #expect(expected.contains(error), "\(conflict)")
            }
        }
        #expect(try await count(store) == 4)
    }

    /// A random key id never belongs to another key, but a key id that is derived from names can.
    private static func takesNoKeyIDForAnothers(_ database: Database) async throws {
        let store = try database.open()
        let stored = try SampleKeys.record(1, track: Track(.hd))
        _ = try await store.insert(stored)
        let wanted = wish(try SampleKeys.record(1, track: Track(.sd)), by: .track)
        #expect(await error(store, [wanted]) == .conflict(stored.keyID, .otherTrack))
        // A new key with another id may replace a withdrawn one.
        try await database.withdraw(stored.keyID)
        let next = try SampleKeys.record(2, track: Track(.hd))
        #expect(try await store.provide([wish(next, by: .track)]).map(\.isNew) == [true])
        #expect(try await store.provide([wish(next, by: .track)]).map(\.record) == [next])
    }

    private static func doesNotChooseBetweenKeysOfATrack(_ database: Database) async throws {
        let store = try database.open()
        let (first, second) = (try SampleKeys.record(1, period: 2), try SampleKeys.record(2, period: 2))
        let byTrack = wish(try SampleKeys.record(3, period: 2), by: .track)
        // The same call contains the second key of the track.
        #expect(
            await error(store, [wish(first), wish(second), byTrack]) == .conflict(second.keyID, .severalKeys))
        #expect(try await count(store) == 0)
        #expect(try await store.provide([wish(first), byTrack]).map(\.record) == [first, first])
        #expect(await error(store, [wish(second), byTrack]) == .conflict(first.keyID, .severalKeys))
        #expect(try await count(store) == 1)
        _ = try await store.insert(second)
        let named = [first, second].map { KeyProvisionError.conflict($0.keyID, .severalKeys) }
        #expect(await error(store, [byTrack]).map(named.contains) == true)
        try await database.withdraw(first.keyID)
        #expect(try await store.provide([byTrack]).map(\.record) == [second])
    }

    private static func tellsTracksAndPeriodsApart(_ database: Database) async throws {
        let store = try database.open()
        let own = try Track(label: TrackLabel("hd"), contentType: .hd)
        let tracks = try [
            .unlabelled, Track(.audio), Track(.hd), own, Track(label: TrackLabel("-"), contentType: .sd),
        ]
        var wishes: [KeyWish] = []
        for content in ["a", "b"] {
            for track in tracks {
                for period in [nil, 0, 1, .max] as [UInt32?] {
                    let number = UInt64(wishes.count + 1)
                    wishes.append(
                        wish(
                            try SampleKeys.record(number, content: content, track: track, period: period), by: .track))
                }
            }
        }
        let provided = try await store.provide(wishes)
        #expect(provided.map(\.record) == wishes.map(\.record))
        #expect(provided.count { $0.isNew } == wishes.count)
        let again = try wishes.map { old in
            let key = old.record.attributes
            return wish(
                try SampleKeys.record(
                    1000, content: key.contentID.text, track: key.track, period: key.periodIndex), by: .track)
        }
        for (wish, old) in zip(again, wishes) { #expect(try await store.find([wish]) == [old.record]) }
    }

    private static func storesAllOrNone(_ database: Database) async throws {
        let store = try database.open()
        let stored = try SampleKeys.record(50)
        _ = try await store.insert(stored)
        let good = try (1...20).map { wish(try SampleKeys.record($0, content: "c-\($0)")) }
        let bad = wish(try SampleKeys.record(50, content: "other"))
        for place in [0, 10, 20] {
            var wishes = good
            wishes.insert(bad, at: place)
            #expect(await error(store, wishes) == .conflict(stored.keyID, .otherContent))
            #expect(try await count(store) == 1)
        }
        #expect(try await store.provide(good).count == 20)
        #expect(try await count(store) == 21)
    }

    private static func makesOneKeyOfEqualWishes(_ database: Database) async throws {
        let store = try database.open()
        let (first, second) = (try SampleKeys.record(1), try SampleKeys.record(2))
        let byKeyID = try await store.provide([wish(first), wish(first), wish(SampleKeys.record(1, key: 5))])
        #expect(byKeyID.map(\.record) == [first, first, first])
        #expect(byKeyID.map(\.isNew) == [true, false, false])
        let other = try SampleKeys.record(3, track: Track(.hd))
        let byTrack = try await store.provide([
            wish(second), wish(other, by: .track), wish(SampleKeys.record(4, track: Track(.hd)), by: .track),
        ])
        #expect(byTrack.map(\.record) == [second, other, other])
        #expect(byTrack.map(\.isNew) == [true, true, false])
        // If a wish contradicts an earlier one, neither of them is stored.
        let (fresh, twisted) = (try SampleKeys.record(7), try SampleKeys.record(7, period: 1))
        #expect(await error(store, [wish(fresh), wish(twisted)]) == .conflict(fresh.keyID, .otherPeriod))
        #expect(try await count(store) == 3)
    }

    private static func takesAsManyWishesAsADocumentMayHave(_ database: Database) async throws {
        let store = try database.open()
        let types: [ContentType] = [.audio, .sd, .hd, .uhd]
        var wishes: [KeyWish] = []
        for number in 0..<64 {
            let record = try SampleKeys.record(
                UInt64(number), track: Track(types[number % 4]), period: UInt32(number / 4))
            wishes.append(wish(record, by: number % 2 == 0 ? .keyID : .track))
        }
        let provided = try await store.provide(wishes)
        #expect(provided.map(\.record) == wishes.map(\.record))
        #expect(provided.count { $0.isNew } == 64)
        #expect(try await store.find(wishes) == wishes.map(\.record))
        #expect(try await count(store) == 64)
    }

    /// Many tasks on two nodes want keys of the same tracks at the same time, each with its own key ids and bytes.
    private static func givesRacingNodesTheSameKeys(_ database: Database) async throws {
        let nodes = [try database.open(), try database.open()]
        let taskCount: UInt64 = 24
        var answers: [[ProvidedKey]] = []
        try await withThrowingTaskGroup(of: [ProvidedKey].self) { group in
            for task in 0..<taskCount {
                let wishes = try (0..<3 as Range<UInt64>).map { track in
                    wish(
                        try SampleKeys.record(100 + task * 10 + track, track: Track([.audio, .sd, .hd][Int(track)])),
                        by: .track)
                }
                let node = nodes[Int(task % 2)]
                group.addTask { try await node.provide(wishes) }
            }
            for try await answer in group { answers.append(answer) }
        }
        let first = try #require(answers.first).map(\.record)
        #expect(answers.count == Int(taskCount))
        #expect(answers.allSatisfy { $0.map(\.record) == first })
        // Exactly one call has stored keys, and it has stored all three.
        let newCounts = answers.map { answer in answer.count { $0.isNew } }
        #expect(newCounts.filter { $0 > 0 } == [3])
        #expect(try await count(nodes[0]) == 3)
    }

    /// Operators on two nodes make the first key of a content at the same time, each for a track of its own, while a
    /// packager orders one.
    private static func storesOneOnlyKeyInARace(_ database: Database) async throws {
        let nodes = [try database.open(), try database.open()]
        for content in 0..<8 as Range<UInt64> {
            let name = "c-\(content)"
            let types: [ContentType] = [.audio, .sd, .hd, .uhd]
            let ordered = wish(try SampleKeys.record(content * 10 + 9, content: name), by: .track)
            var outcomes: [StoreOutcome?] = []
            try await withThrowingTaskGroup(of: StoreOutcome?.self) { group in
                for number in 0..<8 as Range<UInt64> {
                    let record = try SampleKeys.record(
                        content * 10 + number, content: name, track: Track(types[Int(number % 4)]))
                    let node = nodes[Int(number / 4)]
                    group.addTask { try await node.insertOnly(record) }
                }
                if content % 2 == 0 {
                    let node = nodes[1]
                    group.addTask {
                        let provided = try await node.provide([ordered])
                        return provided.contains { $0.isNew } ? .stored : .alreadyPresent
                    }
                }
                for try await outcome in group { outcomes.append(outcome) }
            }
            // The order may come after the operators' key, and is served then: it names a track.
            let live = try await nodes[0].list(of: ContentID(name), after: nil, limit: 10)
            let operators = live.filter { $0.keyID != ordered.record.keyID }
            #expect(operators.count <= 1, "\(name)")
            #expect(live.count == outcomes.count { $0 == .stored }, "\(name)")
            if content % 2 == 1 { #expect(live.count == 1, "\(name)") }
        }
    }

    /// One node stores a key whose id spells a content, and another node stores this content at the same time.
    private static func storesOneMeaningOfAnIDInARace(_ database: Database) async throws {
        let nodes = [try database.open(), try database.open()]
        for number in 0..<12 as Range<UInt64> {
            let text = "movie-" + String(number + 10)
            let keyID =
                number % 2 == 0
                ? SampleKeys.keyID(number) : try #require(KeyID(bytes: text.utf8.flatMap { [$0, 0] }))
            let content = number % 2 == 0 ? keyID.description : text
            let source = try SampleKeys.record(100 + number)
            let attributes = ContentKeyAttributes(
                keyID: keyID, contentID: try ContentID("other-\(number)"), createdAt: 0)
            let key = try ContentKeyRecord(attributes: attributes, key: source.key, iv: source.iv)
            let wishes = [wish(key), wish(try SampleKeys.record(200 + number, content: content))]
            let outcomes = await withTaskGroup(of: KeyProvisionError?.self) { group in
                for (node, wish) in zip(nodes, wishes) {
                    group.addTask {
                        do throws(KeyProvisionError) {
                            _ = try await node.provide([wish])
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                return await group.reduce(into: [KeyProvisionError?]()) { $0.append($1) }
            }
            let errors = outcomes.compactMap { $0 }
            #expect(errors == [.store(.keyIDSpellsContent(keyID, try ContentID(content)))])
        }
        #expect(try await count(nodes[0]) == 12)
    }

    /// Many tasks want the same keys by key id. Every second task names the contents in reverse order, so that tasks
    /// could wait for one another in a circle.
    private static func givesRacingNodesTheSameKeysOfSeveralContents(_ database: Database) async throws {
        let nodes = [try database.open(), try database.open()]
        let keys = try (1...6 as ClosedRange<UInt64>).map { try SampleKeys.record($0, content: "c-\($0 % 3)") }
        var newCount = 0
        try await withThrowingTaskGroup(of: [ProvidedKey].self) { group in
            for task in 0..<24 {
                let wishes = (task % 2 == 0 ? keys : keys.reversed()).map { wish($0) }
                let node = nodes[task / 2 % 2]
                group.addTask { try await node.provide(wishes) }
            }
            for try await answer in group {
                newCount += answer.count { $0.isNew }
                #expect(Set(answer.map(\.record.keyID)) == Set(keys.map(\.keyID)))
            }
        }
        #expect(newCount == keys.count)
        #expect(try await count(nodes[0]) == keys.count)
    }

    /// Compares random wishes with a model, which is a list in memory.
    private static func agreesWithAModel(_ database: Database) async throws {
        var random = SeededGenerator.announced("a provider of keys agrees with a model")
        let store = try database.open()
        var model: [ContentKeyRecord] = []
        for _ in 0..<150 {
            var wishes: [KeyWish] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let tracks = [Track.unlabelled, Track(.hd), Track(.sd)]
                let track = tracks[Int.random(in: 0..<3, using: &random)]
                let periods: [UInt32?] = [nil, 1, 2]
                let period = periods[Int.random(in: 0..<3, using: &random)]
                let record = try SampleKeys.record(
                    UInt64.random(in: 1...40, using: &random), content: Bool.random(using: &random) ? "a" : "b",
                    track: track, period: period)
                wishes.append(wish(record, by: Bool.random(using: &random) ? .keyID : .track))
            }
            let expected = outcome(of: wishes, on: model)
            let given: Result<[ProvidedKey], KeyProvisionError>
            do throws(KeyProvisionError) {
                given = .success(try await store.provide(wishes))
            } catch {
                given = .failure(error)
            }
            switch (expected, given) {
            case (.success(let wanted), .success(let keys)):
                #expect(keys.map(\.record) == wanted.map(\.record))
                #expect(keys.map(\.isNew) == wanted.map(\.isNew))
                model += wanted.filter(\.isNew).map(\.record)
            // A store may name any of the keys.
            case (.failure(.conflict(_, .severalKeys)), .failure(.conflict(_, .severalKeys))): break
            case (.failure(let wanted), .failure(let error)): #expect(error == wanted)
            default: Issue.record("expected \(expected), given \(given)")
            }
            #expect(try await count(store) == model.count)
        }
    }

    /// Provides the wishes one after the other, each on the result of the previous ones.
    private static func outcome(
        of wishes: [KeyWish], on stored: [ContentKeyRecord]
    ) -> Result<[ProvidedKey], KeyProvisionError> {
        var stored = stored
        var provided: [ProvidedKey] = []
        for wish in wishes {
            let wanted = wish.record.attributes
            let name = KeyProvisioning.TrackName(wanted)
            let ofTrack = stored.filter {
                wish.identity == .track && KeyProvisioning.TrackName($0.attributes) == name
            }
            if ofTrack.count > 1 { return .failure(.conflict(ofTrack[0].keyID, .severalKeys)) }
            if let present = ofTrack.first ?? stored.first(where: { $0.keyID == wanted.keyID }) {
                if let conflict = wish.conflict(with: present) { return .failure(.conflict(present.keyID, conflict)) }
                provided.append(ProvidedKey(record: present, isNew: false))
            } else {
                stored.append(wish.record)
                provided.append(ProvidedKey(record: wish.record, isNew: true))
            }
        }
        return .success(provided)
    }

    private static func opensNoBrokenSeal(_ database: Database) async throws {
        let store = try database.open()
        let (broken, sound) = (try SampleKeys.record(1), try SampleKeys.record(2, track: Track(.hd)))
        _ = try await store.provide([wish(broken), wish(sound)])
        try database.breakSeal(broken.keyID)
        let new = try SampleKeys.record(3, content: "new")
        for wish in [wish(broken), wish(try SampleKeys.record(9), by: .track)] {
            #expect(await error(store, [Self.wish(new), wish]) == .store(.sealBroken(broken.keyID)))
            await #expect(throws: KeyProvisionError.store(.sealBroken(broken.keyID))) {
                _ = try await store.find([wish])
            }
        }
        #expect(try await store.find([wish(sound), wish(new)]) == [sound, nil])
    }
}
