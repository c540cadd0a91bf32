import ByteCoding
import ContentKeys
import KeyCrypto
import Licensing
import PackagerAPI
import Records
import Telemetry
import TestSupport
import Testing

@testable import Administration

/// Keys for packagers and operators, and their ledger rows.
@Suite struct KeyDeskTests {
    private let store = MemoryKeyStore()
    private let ledger = MemoryLedger()
    private let clock = ManualClock()
    private let client = KeyDesk.Client(actor: "packager:p1", request: "0123456789abcdef", manner: "speke-2.0")
    private static let now: Int64 = 1_767_225_600
    private static let keyID = KeyID(words: Bytes16(high: 0x7B1D_0C9E_52A4_4E0B, low: 0x9C61_0A5F_3B8D_2E11))
    private static let other = KeyID(words: Bytes16(high: 0xC4E8_A2F0_9D3B_4B77, low: 0x8F15_6E2D_90B1_A7C3))

    private func desk(
        mode: DecisionRecorder.Mode = .required, derivation: KeyDerivation? = nil, lifeInOutage: Duration = .zero
    ) -> KeyDesk {
        KeyDesk(
            store: store, ledger: ledger, mode: mode, derivation: derivation, lifeInOutage: lifeInOutage, clock: clock)
    }

    private static func order(_ keys: [KeyOrder.Key], content: String = "movie-1") throws -> KeyOrder {
        KeyOrder(contentID: try ContentID(content), keys: keys)
    }

    private static func derivation(_ byte: UInt8 = 9) throws -> KeyDerivation {
        try KeyDerivation(
            masterSecret: SharedSecret(SecretBytes(copying: [UInt8](repeating: byte, count: 32))), version: 1)
    }

    private func give(_ desk: KeyDesk, _ keys: [KeyOrder.Key], _ client: KeyDesk.Client? = nil) async throws
        -> [DeliveredKey]
    {
        try await desk.provide(try Self.order(keys), to: client ?? self.client, now: Self.now)
    }

    @Test func makesKeysOnceAndFindsThemAgain() async throws {
        let desk = desk()
        let keys = [
            KeyOrder.Key(keyID: Self.keyID, periodIndex: 7), KeyOrder.Key(keyID: Self.other, track: Track(.audio)),
        ]
        let made = try await give(desk, keys)
        #expect(made.map(\.outcome) == [.created, .created])
        #expect(made.map(\.record.keyID) == [Self.keyID, Self.other])
        clock.advance(by: .seconds(60))
        let found = try await give(desk, keys)
        #expect(found.map(\.outcome) == [.found, .found])
        #expect(found.map(\.record) == made.map(\.record))
        #expect(store.records.count == 2 && store.provisionCount == 1)
        // All keys differ, and no IV equals a key.
        let secrets = made.map { $0.record.key.bytes.revealed() } + made.map(\.record.iv.bytes)
        #expect(Set(secrets).count == 4)
    }

    /// The beginnings are recorded once while the keys are cached. A packager that may only read cannot report periods.
    @Test func writesDownWhenPeriodsBegin() async throws {
        let periods = [KnownPeriod(index: 7, start: 100, end: 200), KnownPeriod(index: 8, start: 200)]
        let keys = [
            KeyOrder.Key(keyID: Self.keyID, periodIndex: 7), KeyOrder.Key(keyID: Self.other, periodIndex: 8),
        ]
        let order = KeyOrder(contentID: try ContentID("movie-1"), keys: keys, periods: Set(periods))
        let desk = desk()
        for _ in 1...2 { _ = try await desk.provide(order, to: client, now: Self.now) }
        #expect(store.notes == [periods])
        var reader = client
        reader.mayCreate = false
        _ = try await self.desk().provide(order, to: reader, now: Self.now)
        #expect(store.notes == [periods])
    }

    /// Each key gets a row, all in one commit. A row has everything except the key and its IV.
    @Test func writesARowForEachKey() async throws {
        let desk = desk()
        let keys = [KeyOrder.Key(keyID: Self.keyID, periodIndex: 7), KeyOrder.Key(keyID: Self.other)]
        let made = try await give(desk, keys)
        _ = try await give(desk, keys)
        #expect(
            ledger.commits.map { $0.map(\.kind) } == [[.keyCreated, .keyCreated], [.keyDelivered, .keyDelivered]])
        let entries = ledger.entries
        #expect(entries.map(\.keyID) == [Self.keyID, Self.other, Self.keyID, Self.other])
        #expect(entries.map(\.detail) == ["speke-2.0 period 7", "speke-2.0", "speke-2.0 period 7", "speke-2.0"])
        #expect(entries.allSatisfy { $0.content == "movie-1" && $0.at == Self.now })
        #expect(entries.allSatisfy { $0.actor == "packager:p1" && $0.request == "0123456789abcdef" })
        #expect(Set(entries.map(\.license)).count == 4)
        for entry in entries {
            #expect(try LedgerEntry(parsing: entry.encoded()) == entry.bounded)
            for secret in made.flatMap({ [$0.record.key.bytes.revealed(), $0.record.iv.bytes] }) {
                #expect(!entry.encoded().contains(secret))
            }
        }
    }

    @Test func givesAnIVThatIsAskedForAndRemembersIt() async throws {
        let iv = Bytes16(high: 1, low: 2)
        let made = try await give(desk(), [KeyOrder.Key(keyID: Self.keyID, iv: iv)])
        #expect(made[0].record.iv == iv)
        #expect(try await give(desk(), [KeyOrder.Key(keyID: Self.keyID)])[0].record.iv == iv)
        #expect(try await give(desk(), [KeyOrder.Key(keyID: Self.keyID, iv: iv)])[0].outcome == .found)
        await #expect(throws: KeyDeskError.conflict(Self.keyID, .otherIV)) {
            _ = try await give(desk(), [KeyOrder.Key(keyID: Self.keyID, iv: Bytes16(high: 1, low: 3))])
        }
        #expect(ledger.entries.count == 3)
    }

    @Test func importsKeys() async throws {
        let key = try ContentKey(SecretBytes(copying: [UInt8](repeating: 5, count: 16)))
        let order = KeyOrder.Key(keyID: Self.keyID, iv: Bytes16(high: 1, low: 2), key: key)
        let made = try await give(desk(), [order])
        #expect(made[0].outcome == .imported && made[0].record.key == key)
        #expect(ledger.entries.map(\.kind) == [.keyImported])
        #expect(try await give(desk(), [order])[0].outcome == .found)
        var other = order
        other.key = try ContentKey(SecretBytes(copying: [UInt8](repeating: 6, count: 16)))
        await #expect(throws: KeyDeskError.conflict(Self.keyID, .otherKey)) { _ = try await give(desk(), [other]) }
        other.iv = Bytes16([UInt8](repeating: 6, count: 16), at: 0)
        await #expect(throws: KeyDeskError.ivEqualsKey(Self.keyID)) { _ = try await give(desk(), [other]) }
    }

    @Test func findsKeysByTheirTracks() async throws {
        let keys = [
            KeyOrder.Key(track: Track(.hd)), KeyOrder.Key(track: Track(.audio)),
            KeyOrder.Key(track: Track(.hd), periodIndex: 1),
        ]
        let made = try await give(desk(), keys)
        #expect(made.map(\.outcome) == [.created, .created, .created])
        #expect(Set(made.map(\.record.keyID)).count == 3)
        let found = try await give(desk(), keys)
        #expect(found.map(\.record.keyID) == made.map(\.record.keyID))
        // A key with a given key id is a second key of the track. Nothing then says which of the two is meant.
        _ = try await give(desk(), [KeyOrder.Key(keyID: Self.keyID, track: Track(.hd))])
        await #expect(throws: KeyDeskError.self) { _ = try await give(desk(), [keys[0]]) }
    }

    /// The same secret makes the same keys and key ids in an empty store.
    @Test func derivesKeys() async throws {
        let keys = [KeyOrder.Key(track: Track(.hd)), KeyOrder.Key(track: Track(.hd), periodIndex: 3)]
        let first = try await give(desk(derivation: try Self.derivation()), keys)
        let again = try await KeyDesk(
            store: MemoryKeyStore(), ledger: ledger, derivation: try Self.derivation(), clock: clock
        ).provide(try Self.order(keys), to: client, now: Self.now)
        #expect(again.map(\.record) == first.map(\.record))
        #expect(again.map(\.outcome) == [.created, .created])
        #expect(first[0].record.keyID != first[1].record.keyID)
        let others = try await KeyDesk(
            store: MemoryKeyStore(), ledger: ledger, derivation: try Self.derivation(8), clock: clock
        ).provide(try Self.order(keys), to: client, now: Self.now)
        #expect(Set(others.map(\.record.keyID)).isDisjoint(with: first.map(\.record.keyID)))
        // The key ids are UUIDs of version 8 (RFC 9562, section 5.8).
        #expect(first.allSatisfy { $0.record.keyID.bytes[6] >> 4 == 8 && $0.record.keyID.bytes[8] >> 6 == 2 })
        let derived = try Self.derivation().derive(
            contentID: ContentID("movie-1"), keyID: first[1].record.keyID, periodIndex: 3)
        #expect(first[1].record.key == derived.key && first[1].record.iv == derived.iv)
    }

    /// A withdrawn key keeps its id, so the track gets the next derived key. It is always the same one.
    @Test func derivesAnotherKeyInPlaceOfAWithdrawnOne() async throws {
        let desk = desk(derivation: try Self.derivation())
        let keys = [KeyOrder.Key(track: Track(.hd)), KeyOrder.Key(track: Track(.audio))]
        var made: [KeyID] = []
        for _ in 0..<3 {
            let delivered = try await give(desk, keys)
            #expect(delivered.map(\.outcome) == [.created, made.isEmpty ? .created : .found])
            made.append(delivered[0].record.keyID)
            try store.withdraw(delivered[0].record.keyID)
            clock.advance(by: .seconds(3))
        }
        #expect(Set(made).count == 3)
        let again = MemoryKeyStore()
        let other = KeyDesk(store: again, ledger: ledger, derivation: try Self.derivation(), clock: clock)
        for keyID in made {
            #expect(try await give(other, keys)[0].record.keyID == keyID)
            try again.withdraw(keyID)
            clock.advance(by: .seconds(3))
        }
        // A key id that the packager names is never replaced.
        await #expect(throws: KeyDeskError.conflict(made[0], .withdrawn)) {
            _ = try await give(desk, [KeyOrder.Key(keyID: made[0], track: Track(.hd))])
        }
    }

    /// Another content can have the derived key id: a packager took it from a playlist after the key was lost.
    @Test(arguments: [("movie-2", nil), ("movie-1", Track(.audio))] as [(String, Track?)])
    func derivesAnotherKeyInPlaceOfATakenKeyID(content: String, track: Track?) async throws {
        let hd = [KeyOrder.Key(track: Track(.hd))]
        let lost = try await KeyDesk(
            store: MemoryKeyStore(), ledger: ledger, derivation: try Self.derivation(), clock: clock
        ).provide(try Self.order(hd), to: client, now: Self.now)[0].record.keyID
        let desk = desk(derivation: try Self.derivation())
        let taken = KeyOrder.Key(keyID: lost, track: track ?? Track(.hd))
        _ = try await desk.provide(try Self.order([taken], content: content), to: client, now: Self.now)
        let made = try await give(desk, hd + [KeyOrder.Key(track: Track(.uhd))])
        #expect(made.map(\.outcome) == [.created, .created])
        #expect(!made.map(\.record.keyID).contains(lost))
        clock.advance(by: .seconds(3))
        #expect(try await give(desk, hd).map(\.record.keyID) == [made[0].record.keyID])
        var reader = client
        reader.mayCreate = false
        #expect(try await give(desk, hd, reader).map(\.outcome) == [.found])
    }

    /// A packager cannot make an order ask the store without end.
    @Test func passesOverABoundedNumberOfKeyIDs() async throws {
        let derivation = try Self.derivation()
        var taken: Set<KeyID> = []
        while taken.count <= KeyDerivation.takenKeyIDsMaximum {
            taken.insert(
                try derivation.deriveKeyID(
                    contentID: ContentID("movie-1"), trackLabel: Track(.hd).label, periodIndex: nil, taken: taken))
        }
        let desk = desk(derivation: derivation)
        let other = try Self.order(taken.map { KeyOrder.Key(keyID: $0) }, content: "movie-2")
        _ = try await desk.provide(other, to: client, now: Self.now)
        let before = store.callCount
        await #expect(throws: KeyDeskError.self) { _ = try await give(desk, [KeyOrder.Key(track: Track(.hd))]) }
        #expect(store.callCount - before <= KeyDerivation.takenKeyIDsMaximum + 1)
    }

    /// An imported key is lost with the store. Its key id must then name no other key.
    @Test func importsKeysUnderKeyIDsThatAreNeverDerived() async throws {
        let key = try ContentKey(SecretBytes(copying: [UInt8](repeating: 5, count: 16)))
        let order = [KeyOrder.Key(track: Track(.hd), iv: Bytes16(high: 1, low: 2), key: key)]
        let desk = desk(derivation: try Self.derivation())
        let imported = try await give(desk, order)
        #expect(imported.map(\.outcome) == [.imported] && imported[0].record.key == key)
        clock.advance(by: .seconds(3))
        let again = try await give(desk, order)
        #expect(again.map(\.outcome) == [.found] && again.map(\.record) == imported.map(\.record))
        clock.advance(by: .seconds(3))
        #expect(try await give(desk, [KeyOrder.Key(track: Track(.hd))]).map(\.record) == imported.map(\.record))

        let empty = MemoryKeyStore()
        let other = KeyDesk(store: empty, ledger: ledger, derivation: try Self.derivation(), clock: clock)
        let derived = try await give(other, [KeyOrder.Key(track: Track(.hd))])[0].record
        #expect(derived.keyID != imported[0].record.keyID && derived.key != key)
        // As soon as that key is withdrawn, the key can be imported again.
        try empty.withdraw(derived.keyID)
        clock.advance(by: .seconds(3))
        #expect(try await give(other, order)[0].record.key == key)
    }

    @Test func makesNothingForAClientThatMayNot() async throws {
        var reader = client
        reader.mayCreate = false
        let desk = desk()
        await #expect(throws: KeyDeskError.creationNotAllowed) {
            _ = try await give(desk, [KeyOrder.Key(keyID: Self.keyID)], reader)
        }
        #expect(store.records.isEmpty && store.provisionCount == 0 && ledger.entries.isEmpty)
        _ = try await give(desk, [KeyOrder.Key(keyID: Self.keyID)])
        #expect(try await give(desk, [KeyOrder.Key(keyID: Self.keyID)], reader)[0].outcome == .found)
    }

    // MARK: - Outages of the store

    /// Keys that were delivered recently are delivered again. No key is made.
    @Test(arguments: [StoreOutage.unreachable, .busy, .misconfigured])
    func givesKnownKeysWhileTheStoreIsAway(outage: StoreOutage) async throws {
        let desk = desk(lifeInOutage: .seconds(3600))
        let query = KeyPageQuery(contentID: try ContentID("movie-1"))
        let made = try await give(desk, [KeyOrder.Key(keyID: Self.keyID)])
        _ = try await desk.page(query, to: client, now: Self.now)
        store.fail(with: .store(.unavailable(outage)))
        clock.advance(by: .seconds(3599))
        let known = try await give(desk, [KeyOrder.Key(keyID: Self.keyID)])
        #expect(known.map(\.record) == made.map(\.record) && known.map(\.outcome) == [.found])
        #expect(try await desk.page(query, to: client, now: Self.now).keys == made.map(\.record))
        for keys in [[Self.other], [Self.keyID, Self.other]] {
            await #expect(throws: KeyDeskError.store(.unavailable(outage))) {
                _ = try await give(desk, keys.map { KeyOrder.Key(keyID: $0) })
            }
        }
        // The order differs from the cached key, so only the store can decide.
        await #expect(throws: KeyDeskError.store(.unavailable(outage))) {
            _ = try await give(desk, [KeyOrder.Key(keyID: Self.keyID, periodIndex: 2)])
        }
        #expect(ledger.entries.map(\.kind) == [.keyCreated, .keyDelivered, .keyDelivered, .keyDelivered])
        clock.advance(by: .seconds(1))
        await #expect(throws: KeyDeskError.store(.unavailable(outage))) {
            _ = try await give(desk, [KeyOrder.Key(keyID: Self.keyID)])
        }
    }

    /// Without an outage, a cached entry is used for two seconds without a query to the store.
    @Test func believesWhatItKnowsForAMoment() async throws {
        let desk = desk(lifeInOutage: .seconds(3600))
        _ = try await give(desk, [KeyOrder.Key(keyID: Self.keyID)])
        let count = store.callCount
        try store.withdraw(Self.keyID)
        clock.advance(by: .milliseconds(1999))
        #expect(try await give(desk, [KeyOrder.Key(keyID: Self.keyID)])[0].outcome == .found)
        #expect(store.callCount == count)
        clock.advance(by: .milliseconds(1))
        await #expect(throws: KeyDeskError.conflict(Self.keyID, .withdrawn)) {
            _ = try await give(desk, [KeyOrder.Key(keyID: Self.keyID)])
        }
        // An entry that the store has refused is not used again in an outage.
        store.fail(with: .store(.unavailable(.unreachable)))
        await #expect(throws: KeyDeskError.store(.unavailable(.unreachable))) {
            _ = try await give(desk, [KeyOrder.Key(keyID: Self.keyID)])
        }
    }

    @Test func remembersABoundedNumberOfKeys() async throws {
        let recent = RecentlyProvidedKeys(capacity: 4, life: .seconds(2), lifeInOutage: .zero, clock: clock)
        var wishes: [KeyWish] = []
        for number in 1...6 as ClosedRange<UInt64> {
            let made = try KeyGeneration.generate()
            let attributes = ContentKeyAttributes(
                keyID: KeyID(words: Bytes16(high: 0, low: number)), contentID: try ContentID("c"), createdAt: 0)
            let record = try ContentKeyRecord(attributes: attributes, key: made.key, iv: made.iv)
            wishes.append(KeyWish(record: record, identity: .keyID))
            recent.remember(record, for: wishes[wishes.count - 1])
        }
        #expect(wishes.map { recent.keys([$0], inOutage: false) != nil } == [false, false, true, true, true, true])
    }

    // MARK: - Repeated deliveries

    private func giveAgain(_ desk: KeyDesk, _ keys: [KeyOrder.Key], _ client: KeyDesk.Client? = nil) throws -> [KeyID]?
    {
        desk.provideAgain(try Self.order(keys), to: client ?? self.client)?.keys.map(\.keyID)
    }

    /// Ten deliveries of a minute have rows, in every manner of delivery. The others are counted, for each client and
    /// manner.
    @Test func countsWhatAClientGetsAgainAndAgain() async throws {
        let desk = desk()
        let keys = [KeyOrder.Key(keyID: Self.keyID, periodIndex: 7), KeyOrder.Key(keyID: Self.other)]
        for number in 1...10 {
            #expect(try giveAgain(desk, keys) == nil)
            _ = try await give(desk, keys)
            #expect(ledger.commits.count == number)
        }
        #expect(try giveAgain(desk, keys) == [Self.keyID, Self.other])
        #expect(try await give(desk, keys).map(\.outcome) == [.found, .found])
        // Keys that are no longer cached are looked up, and counted as well.
        clock.advance(by: .seconds(2))
        #expect(try giveAgain(desk, keys) == nil)
        _ = try await give(desk, keys)
        #expect(ledger.commits.count == 10)
        // Another order, another client and another manner have their own rows.
        _ = try await give(desk, [keys[0]])
        for change in [\KeyDesk.Client.actor, \.manner] {
            var other = client
            other[keyPath: change] = "packager:p2"
            #expect(try giveAgain(desk, keys, other) == nil)
            _ = try await give(desk, keys, other)
        }
        #expect(ledger.commits.count == 13)

        // Nothing is written about these three deliveries before the minute is over.
        clock.advance(by: .seconds(57))
        try await desk.recordRepeats(now: Self.now)
        #expect(ledger.commits.count == 13)
        clock.advance(by: .seconds(1))
        try await desk.recordRepeats(now: Self.now + 60)
        try await desk.recordRepeats(all: true, now: Self.now + 60)
        #expect(ledger.commits.count == 14)
        let rows = try #require(ledger.commits.last)
        #expect(rows.map(\.detail) == ["speke-2.0 period 7 again 3", "speke-2.0 again 3"])
        #expect(rows.allSatisfy { $0.kind == .keyDelivered && $0.at == Self.now + 60 && $0.request == nil })
        #expect(rows.allSatisfy { $0.actor == "packager:p1" && $0.content == "movie-1" })
        #expect(rows.map(\.keyID) == [Self.keyID, Self.other])
        #expect(Set(ledger.entries.map(\.license)).count == ledger.entries.count)
        for row in rows { #expect(try LedgerEntry(parsing: row.encoded()) == row.bounded) }
    }

    /// The next minute begins with a row, even if the count of the last one is not in the ledger yet.
    @Test func beginsEachMinuteWithARow() async throws {
        let desk = desk()
        let keys = [KeyOrder.Key(keyID: Self.keyID)]
        for _ in 1...12 { _ = try await give(desk, keys) }
        #expect(ledger.commits.count == 10)
        clock.advance(by: .seconds(60))
        for _ in 1...11 { _ = try await give(desk, keys) }
        #expect(ledger.commits.count == 20)
        try await desk.recordRepeats(all: true, now: Self.now)
        #expect(ledger.entries.suffix(1).map(\.detail) == ["speke-2.0 again 3"])
    }

    /// Counts that the ledger does not accept are written later. No minute continues until they are written.
    @Test func keepsCountsThatTheLedgerDoesNotTake() async throws {
        let desk = desk()
        let keys = [KeyOrder.Key(keyID: Self.keyID)]
        for _ in 1...11 { _ = try await give(desk, keys) }
        ledger.fail(with: .unavailable(.diskFull))
        #expect(try giveAgain(desk, keys) != nil)
        clock.advance(by: .seconds(60))
        for _ in 1...2 {
            await #expect(throws: KeyDeskError.ledger(.unavailable(.diskFull))) {
                try await desk.recordRepeats(now: Self.now)
            }
        }
        #expect(try giveAgain(desk, keys) == nil)
        await #expect(throws: KeyDeskError.ledger(.unavailable(.diskFull))) { _ = try await give(desk, keys) }
        ledger.fail(with: nil)
        try await desk.recordRepeats(now: Self.now)
        #expect(ledger.entries.suffix(1).map(\.detail) == ["speke-2.0 again 2"])
    }

    /// In best-effort mode, a delivery may have no row. Other deliveries are never counted with such a delivery.
    @Test func countsNothingWithoutRows() async throws {
        let desk = desk(mode: .bestEffort)
        let keys = [KeyOrder.Key(keyID: Self.keyID)]
        ledger.fail(with: .unavailable(.diskFull))
        for _ in 1...20 { _ = try await give(desk, keys) }
        #expect(try giveAgain(desk, keys) == nil)
        #expect(desk.unrecordedCount == 20)
    }

    /// Above a maximum number of orders, each delivery has its own rows.
    @Test func countsABoundedNumberOfOrders() throws {
        let repeated = RepeatedDeliveries(clock: clock)
        let made = try KeyGeneration.generate()
        func name(_ number: Int) throws -> RepeatedDeliveries.Name {
            let keyID = KeyID(words: Bytes16(high: 0, low: UInt64(number)))
            let attributes = ContentKeyAttributes(keyID: keyID, contentID: try ContentID("c"), createdAt: 0)
            return .init([try ContentKeyRecord(attributes: attributes, key: made.key, iv: made.iv)], to: client)
        }
        for number in 0...RepeatedDeliveries.capacity {
            for _ in 1...10 { repeated.noteRows([], of: try name(number)) }
        }
        #expect(try repeated.count(name(RepeatedDeliveries.capacity - 1)) != nil)
        #expect(try repeated.count(name(RepeatedDeliveries.capacity)) == nil)
        clock.advance(by: .seconds(60))
        #expect(repeated.take(all: false).count == 1)
        for _ in 1...10 { repeated.noteRows([], of: try name(RepeatedDeliveries.capacity)) }
        #expect(try repeated.count(name(RepeatedDeliveries.capacity)) != nil)
    }

    // MARK: - Standing deliveries

    /// A delivery that is only counted, of one key.
    private func standing(_ desk: KeyDesk) async throws -> StandingDelivery {
        for _ in 1...10 { _ = try await give(desk, [KeyOrder.Key(keyID: Self.keyID)]) }
        return try #require(desk.provideAgain(try Self.order([KeyOrder.Key(keyID: Self.keyID)]), to: client))
    }

    @Test func countsEachRepetitionOfADelivery() async throws {
        let desk = desk()
        let delivery = try await standing(desk)
        for _ in 1...4 { #expect(delivery.countOneMore()) }
        #expect(delivery.keys.map(\.keyID) == [Self.keyID])
        try await desk.recordRepeats(all: true, now: Self.now)
        #expect(ledger.entries.suffix(1).map(\.detail) == ["speke-2.0 again 5"])
    }

    /// A repetition that was counted after the count was taken would be in no row.
    @Test func repeatsNoDeliveryWhoseCountWasTaken() async throws {
        let desk = desk()
        let delivery = try await standing(desk)
        try await desk.recordRepeats(all: true, now: Self.now)
        #expect(!delivery.countOneMore())
    }

    /// A key is believed for two seconds, and a minute has its own rows.
    @Test(arguments: [Duration.milliseconds(1999), .seconds(2)])
    func repeatsADeliveryAsLongAsItsKeyIsBelieved(age: Duration) async throws {
        let desk = desk()
        let delivery = try await standing(desk)
        clock.advance(by: age)
        #expect(delivery.countOneMore() == (age < .seconds(2)))
    }

    @Test func repeatsNoDeliveryInTheNextMinute() async throws {
        let desk = KeyDesk(store: store, ledger: ledger, life: .seconds(3600), clock: clock)
        let delivery = try await standing(desk)
        clock.advance(by: .milliseconds(59_999))
        #expect(delivery.countOneMore())
        clock.advance(by: .milliseconds(1))
        #expect(!delivery.countOneMore())
    }

    /// Fault: the key was withdrawn, and another client was told so.
    @Test func repeatsNoDeliveryOfAKeyThatTheStoreDoesNotGive() async throws {
        let desk = desk()
        let delivery = try await standing(desk)
        try store.withdraw(Self.keyID)
        #expect(delivery.countOneMore(), "the key is believed")
        // This order is not the one that is remembered, so the store is asked.
        await #expect(throws: KeyDeskError.self) {
            _ = try await give(desk, [KeyOrder.Key(keyID: Self.keyID, periodIndex: 9)])
        }
        #expect(!delivery.countOneMore())
    }

    /// What the store gave later holds.
    @Test func repeatsNoDeliveryOfAnEntryThatWasReplaced() async throws {
        let recent = RecentlyProvidedKeys(life: .seconds(2), lifeInOutage: .zero, clock: clock)
        let made = try KeyGeneration.generate()
        let attributes = ContentKeyAttributes(keyID: Self.keyID, contentID: try ContentID("movie-1"), createdAt: 0)
        let record = try ContentKeyRecord(attributes: attributes, key: made.key, iv: made.iv)
        let wish = KeyWish(record: record, identity: .keyID)
        recent.remember(record, for: wish)
        let count = recent.changeCount
        #expect(try #require(recent.keys(of: Self.order([KeyOrder.Key(keyID: Self.keyID)]))).changeCount == count)
        recent.remember(record, for: wish)
        #expect(recent.changeCount != count)
    }

    // MARK: - Outages of the ledger

    /// Without a row, no key is delivered. The row of the creation is written with the next delivery.
    @Test func givesNoKeyThatTheLedgerDoesNotTake() async throws {
        let desk = desk()
        ledger.fail(with: .unavailable(.diskFull))
        await #expect(throws: KeyDeskError.ledger(.unavailable(.diskFull))) {
            _ = try await give(desk, [KeyOrder.Key(keyID: Self.keyID)])
        }
        #expect(store.records.count == 1)
        ledger.fail(with: nil)
        #expect(try await give(desk, [KeyOrder.Key(keyID: Self.keyID)])[0].outcome == .found)
        #expect(try await give(desk, [KeyOrder.Key(keyID: Self.keyID)])[0].outcome == .found)
        #expect(ledger.entries.map(\.kind) == [.keyCreated, .keyDelivered])
        #expect(desk.unrecordedCount == 0)
    }

    @Test func givesKeysWithoutRowsWhereThatIsAllowed() async throws {
        let desk = desk(mode: .bestEffort)
        ledger.fail(with: .unavailable(.diskFull))
        #expect(try await give(desk, [KeyOrder.Key(keyID: Self.keyID)])[0].outcome == .created)
        #expect(desk.unrecordedCount == 1)
        // Clients can fill the ledger's queue, so a full queue does not count as an outage.
        ledger.fail(with: .unavailable(.busy))
        await #expect(throws: KeyDeskError.ledger(.unavailable(.busy))) {
            _ = try await give(desk, [KeyOrder.Key(keyID: Self.keyID)])
        }
        #expect(desk.unrecordedCount == 1)
    }

    // MARK: - Pages

    private func fill(_ count: UInt64, _ change: (inout ContentKeyAttributes, UInt64) throws -> Void = { _, _ in })
        throws
    {
        for number in 0..<count {
            let made = try KeyGeneration.generate()
            var attributes = ContentKeyAttributes(
                keyID: KeyID(words: Bytes16(high: 0, low: number)), contentID: try ContentID("live"), createdAt: 0)
            try change(&attributes, number)
            store.put(try ContentKeyRecord(attributes: attributes, key: made.key, iv: made.iv))
        }
    }

    @Test func listsKeysPageByPage() async throws {
        try fill(10) { attributes, number in
            attributes.track = Track(number.isMultiple(of: 2) ? .hd : .audio)
            attributes.periodIndex = UInt32(number / 2)
            if number == 4 { attributes.state = .withdrawn }
        }
        let desk = desk()
        var query = KeyPageQuery(contentID: try ContentID("live"), limit: 4)
        var seen: [UInt64] = []
        for _ in 0..<3 {
            let page = try await desk.page(query, to: client, now: Self.now)
            seen += page.keys.map(\.keyID.words.low)
            query.after = page.next
        }
        #expect(seen == [0, 1, 2, 3, 5, 6, 7, 8, 9] && query.after == nil)
        #expect(ledger.entries.map(\.keyID) == seen.map { KeyID(words: Bytes16(high: 0, low: $0)) })
        #expect(ledger.entries.allSatisfy { $0.kind == .keyDelivered })
        query = KeyPageQuery(contentID: try ContentID("live"), trackLabel: .hd, periodIndex: 3)
        let page = try await desk.page(query, to: client, recorded: false, now: Self.now)
        #expect(page.keys.map(\.keyID.words.low) == [6] && page.next == nil)
        #expect(ledger.entries.count == 9)
        query.periodIndex = 2
        #expect(try await desk.page(query, to: client, now: Self.now).keys.isEmpty)
    }

    /// One request reads a limited number of names, so a page may be empty and still have a next page.
    @Test func readsABoundedNumberOfNames() async throws {
        try fill(10_001) { attributes, number in attributes.periodIndex = UInt32(number) }
        var query = KeyPageQuery(contentID: try ContentID("live"), periodIndex: 10_000)
        let first = try await desk().page(query, to: client, now: Self.now)
        #expect(first.keys.isEmpty && first.next == KeyID(words: Bytes16(high: 0, low: 9_999)))
        query.after = first.next
        let second = try await desk().page(query, to: client, now: Self.now)
        #expect(second.keys.map(\.keyID.words.low) == [10_000] && second.next == nil)
    }
}

extension [UInt8] {
    fileprivate func contains(_ other: [UInt8]) -> Bool {
        guard count >= other.count else { return false }
        return (0...count - other.count).contains { self[$0..<$0 + other.count].elementsEqual(other) }
    }
}
