package import ByteCoding
package import ContentKeys
package import KeyCrypto
package import Licensing
package import PackagerAPI
package import Records
import Synchronization
package import Telemetry

/// Delivers content keys to packagers and operators: existing keys and new ones. No other type does so.
///
/// Each delivered key has a row in the ledger, which names the client but does not contain the key. All rows of a
/// request are durable, in one commit, before the keys are returned. If a client gets the same keys again and again
/// within a minute, further deliveries are only counted (`RepeatedDeliveries`).
///
/// While the store cannot be reached, recently delivered keys are delivered again, and no key is made (architecture,
/// "When the database or the disk fails").
package final class KeyDesk: Sendable {
    /// The store of keys and period times.
    package typealias Store = KeyProvider & ContentKeyStore & PeriodNotes

    /// The client that asks, as the ledger records it.
    package struct Client: Sendable {
        /// The actor as in `LedgerEntry`: `packager:NAME`, or an operator.
        package var actor: String
        /// The id of the request; nil for a command.
        package var request: String?
        /// The interface through which the keys are delivered, in a few words of ASCII. A row's detail begins with it.
        package var manner: String
        /// Whether missing keys may be made for the client.
        package var mayCreate: Bool

        package init(actor: String, request: String? = nil, manner: String, mayCreate: Bool = true) {
            self.actor = actor
            self.request = request
            self.manner = manner
            self.mayCreate = mayCreate
        }
    }

    private static let pageSize = 1_000
    /// The largest number of store pages that one request reads. Keys of other tracks and periods may lie between the
    /// wanted ones.
    private static let pagesPerRequestMaximum = 10
    /// The largest number of keys whose missing creation rows are remembered.
    private static let unrecordedMaximum = 1_024

    private let store: any Store
    private let ledger: any Ledger
    private let mode: DecisionRecorder.Mode
    private let derivation: KeyDerivation?
    private let recent: RecentlyProvidedKeys
    private let repeated: RepeatedDeliveries
    private let clock: any MonotonicClock
    /// The kind of the missing row of a key. The row is missing if the ledger failed after the key was stored.
    private let unrecorded = Mutex<[KeyID: LedgerEntry.Kind]>([:])
    private let unrecordedDeliveries = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - derivation: Derives new keys; nil if they are random.
    ///   - life: How long a key is delivered again without asking the store.
    ///   - lifeInOutage: The same while the store cannot be reached.
    package init(
        store: any Store, ledger: any Ledger, mode: DecisionRecorder.Mode = .required,
        derivation: KeyDerivation? = nil, life: Duration = RecentContentKeys.lifeDefault,
        lifeInOutage: Duration = .zero, clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        self.store = store
        self.ledger = ledger
        self.mode = mode
        self.derivation = derivation
        self.clock = clock
        recent = RecentlyProvidedKeys(life: life, lifeInOutage: lifeInOutage, clock: clock)
        repeated = RepeatedDeliveries(clock: clock)
    }

    /// The number of keys that were delivered without a ledger row, because the ledger failed and is not required.
    package var unrecordedCount: UInt64 { unrecordedDeliveries.load(ordering: .relaxed) }

    /// Returns the keys of an order if this client got the same keys so often in the last minute that a further
    /// delivery is only counted. Returns nil if `provide` must be called. Counts one delivery. Does not suspend.
    package func provideAgain(_ order: KeyOrder, to client: Client) -> StandingDelivery? {
        guard let found = recent.keys(of: order), let minute = repeated.count(.init(found.records, to: client)) else {
            return nil
        }
        return StandingDelivery(found, in: minute, recent: recent, clock: clock)
    }

    /// Returns the keys of an order, in its order. `now` is in seconds since 1970.
    package func provide(
        _ order: KeyOrder, to client: Client, now: Int64
    ) async throws(KeyDeskError) -> [DeliveredKey] {
        let delivered: [DeliveredKey]
        if let found = recent.keys(of: order) {
            delivered = found.records.map { DeliveredKey($0, .found) }
        } else {
            delivered = try await provided(order, mayCreate: client.mayCreate, now: now)
        }
        let kinds = delivered.map(kind)
        let name = RepeatedDeliveries.Name(delivered.map(\.record), to: client)
        if kinds.allSatisfy({ $0 == .keyDelivered }), repeated.count(name) != nil { return delivered }
        let rows = try await record(Array(zip(delivered.map(\.record), kinds)), to: client, now: now)
        if let rows { repeated.noteRows(rows, of: name) }
        return delivered
    }

    /// Returns a page of the live keys of a content. If `recorded` is false, the keys are not delivered to the client,
    /// and no row is written.
    package func page(
        _ query: KeyPageQuery, to client: Client, recorded: Bool = true, now: Int64
    ) async throws(KeyDeskError) -> KeyPage {
        let page: KeyPage
        if let known = recent.page(.page(query), inOutage: false) {
            page = known
        } else {
            do throws(KeyDeskError) {
                page = try await read(query)
                recent.remember(page, for: .page(query))
            } catch {
                guard error.isOutageOfStore, let known = recent.page(.page(query), inOutage: true) else { throw error }
                page = known
            }
        }
        if recorded { _ = try await record(page.keys.map { ($0, .keyDelivered) }, to: client, now: now) }
        return page
    }

    // MARK: - Keys

    /// Passes over derived key ids that withdrawn keys and other contents have.
    private func provided(
        _ order: KeyOrder, mayCreate: Bool, now: Int64
    ) async throws(KeyDeskError) -> [DeliveredKey] {
        var taken: Set<KeyID> = []
        while true {
            let wishes = try order.keys.map { (key) throws(KeyDeskError) in
                try KeyWish(key, of: order.contentID, derivation, passingOver: taken, now: now)
            }
            do throws(KeyDeskError) {
                return try await provided(wishes, of: order, mayCreate: mayCreate)
            } catch {
                guard let keyID = error.takenKeyID,
                    wishes.contains(where: { $0.identity == .track && $0.record.keyID == keyID }),
                    taken.count < KeyDerivation.takenKeyIDsMaximum * wishes.count, taken.insert(keyID).inserted
                else { throw error }
            }
        }
    }

    private func provided(
        _ wishes: [KeyWish], of order: KeyOrder, mayCreate: Bool
    ) async throws(KeyDeskError) -> [DeliveredKey] {
        do throws(KeyDeskError) {
            // The times are stored first, so that a failure leaves no key whose creation row is missing. Remembered
            // keys do not come here: the times of their periods have been stored before.
            if mayCreate { try await note(order) }
            let delivered = try await ask(wishes, mayCreate: mayCreate)
            for (key, wish) in zip(delivered, wishes) { recent.remember(key.record, for: wish) }
            return delivered
        } catch {
            if error.isOutageOfStore, let known = recent.keys(wishes, inOutage: true) {
                return known.map { DeliveredKey($0, .found) }
            }
            if !error.isOutageOfStore { recent.forget(wishes) }
            throw error
        }
    }

    /// Reads before it writes, because reads do not wait for writers, and most requests are for existing keys.
    private func ask(_ wishes: [KeyWish], mayCreate: Bool) async throws(KeyDeskError) -> [DeliveredKey] {
        let found = try await attempt { () async throws(KeyProvisionError) in try await self.store.find(wishes) }
        let present = found.compactMap { $0 }
        if present.count == wishes.count { return present.map { DeliveredKey($0, .found) } }
        guard mayCreate else { throw .creationNotAllowed }
        let provided = try await attempt { () async throws(KeyProvisionError) in try await self.store.provide(wishes) }
        return zip(provided, wishes).map { key, wish in
            let outcome: DeliveredKey.Outcome =
                !key.isNew ? .found : wish.given.contains(.key) ? .imported : .created
            return DeliveredKey(key.record, outcome)
        }
    }

    private func note(_ order: KeyOrder) async throws(KeyDeskError) {
        guard !order.periods.isEmpty else { return }
        do throws(StoreError) {
            try await store.note(order.periods.sorted { $0.index < $1.index }, of: order.contentID)
        } catch {
            throw .store(error)
        }
    }

    private func attempt<Answer>(
        _ question: () async throws(KeyProvisionError) -> Answer
    ) async throws(KeyDeskError) -> Answer {
        do throws(KeyProvisionError) {
            return try await question()
        } catch {
            throw KeyDeskError(error)
        }
    }

    /// Lists the attributes, which are not sealed, and then opens the keys of the page.
    private func read(_ query: KeyPageQuery) async throws(KeyDeskError) -> KeyPage {
        var fitting: [ContentKeyAttributes] = []
        var last = query.after.map { ContentKeyAttributes(keyID: $0, contentID: query.contentID, createdAt: 0) }
        var next: KeyID?
        for pageNumber in 1...Self.pagesPerRequestMaximum {
            let position = last
            let listed: [ContentKeyAttributes]
            do throws(StoreError) {
                listed = try await store.list(of: query.contentID, after: position, limit: Self.pageSize)
            } catch {
                throw .store(error)
            }
            fitting += listed.filter(query.fits)
            last = listed.last ?? last
            if fitting.count > query.limit {
                fitting = Array(fitting.prefix(query.limit))
                next = fitting.last?.keyID
                break
            }
            if listed.count < Self.pageSize { break }
            if pageNumber == Self.pagesPerRequestMaximum { next = last?.keyID }
        }
        guard !fitting.isEmpty else { return KeyPage(keys: [], next: next) }
        let wishes = try fitting.map { (attributes) throws(KeyDeskError) in try KeyWish(finding: attributes) }
        let found: [ContentKeyRecord?]
        do throws(KeyDeskError) {
            found = try await attempt { () async throws(KeyProvisionError) in try await self.store.find(wishes) }
        } catch {
            // The key was withdrawn or deleted after the list was read. Another attempt does not list it.
            if case .conflict = error { throw .store(.unavailable(.busy)) }
            throw error
        }
        return KeyPage(keys: found.compactMap { $0 }, next: next)
    }

    // MARK: - The ledger

    private func kind(of key: DeliveredKey) -> LedgerEntry.Kind {
        switch key.outcome {
        case .created: .keyCreated
        case .imported: .keyImported
        case .found: unrecorded.withLock { $0[key.record.keyID] } ?? .keyDelivered
        }
    }

    /// Records how often keys were delivered again without rows: for minutes that have ended, or for all. Counts that
    /// the ledger does not accept are kept for the next call.
    package func recordRepeats(all: Bool = false, now: Int64) async throws(KeyDeskError) {
        let owed = repeated.take(all: all)
        for (index, part) in owed.enumerated() {
            do throws(KeyDeskError) {
                let rows = try part.rows.map { (row) throws(KeyDeskError) in
                    try Self.row(again: part.count, row, now: now)
                }
                try await wrapAsync(KeyDeskError.ledger, try await ledger.append(together: rows))
            } catch {
                repeated.putBack(owed[index...])
                throw error
            }
        }
    }

    /// Makes a row for `count` further deliveries of the key of another row.
    private static func row(
        again count: UInt64, _ row: LedgerEntry, now: Int64
    ) throws(KeyDeskError) -> LedgerEntry {
        var again = LedgerEntry(
            kind: .keyDelivered, at: now, license: try rowID(at: now), keyID: row.keyID, content: row.content,
            detail: "\(row.detail) again \(count)")
        again.actor = row.actor
        return again
    }

    /// Writes the rows, and returns them when they are durable. Returns nil if the ledger fails and is not required.
    private func record(
        _ keys: [(ContentKeyRecord, LedgerEntry.Kind)], to client: Client, now: Int64
    ) async throws(KeyDeskError) -> [LedgerEntry]? {
        guard !keys.isEmpty else { return [] }
        let entries = try keys.map { (key, kind) throws(KeyDeskError) in
            try entry(of: key, kind, to: client, now: now)
        }
        do throws(StoreError) {
            try await ledger.append(together: entries)
            unrecorded.withLock { unrecorded in for (key, _) in keys { unrecorded[key.keyID] = nil } }
            return entries
        } catch {
            // A full queue is not an outage, because clients can fill it.
            if mode == .bestEffort, case .unavailable(let outage) = error, outage != .busy {
                unrecordedDeliveries.add(UInt64(keys.count), ordering: .relaxed)
                return nil
            }
            unrecorded.withLock { unrecorded in
                for (key, kind) in keys where kind != .keyDelivered && unrecorded.count < Self.unrecordedMaximum {
                    unrecorded[key.keyID] = kind
                }
            }
            throw .ledger(error)
        }
    }

    private func entry(
        of key: ContentKeyRecord, _ kind: LedgerEntry.Kind, to client: Client, now: Int64
    ) throws(KeyDeskError) -> LedgerEntry {
        let attributes = key.attributes
        let period = attributes.periodIndex.map { " period \($0)" } ?? ""
        var entry = LedgerEntry(
            kind: kind, at: now, license: try Self.rowID(at: now), keyID: key.keyID, content: key.contentID.text,
            detail: client.manner + period)
        entry.actor = client.actor
        entry.request = client.request
        return entry
    }

    private static func rowID(at now: Int64) throws(KeyDeskError) -> LicenseID {
        do throws(CryptoError) { return try .naming(rowAt: now) } catch { throw .cryptography(error) }
    }
}

/// Keys that a client got. It may get them again for a short time, without a look-up of its order.
package final class StandingDelivery: RepeatableDelivery {
    /// The keys, in the sequence of the order.
    package let keys: [ContentKeyRecord]
    private let end: MonotonicTime
    private let changeCount: UInt64
    private let minute: RepeatedDeliveries.Minute
    private let recent: RecentlyProvidedKeys
    private let clock: any MonotonicClock

    init(
        _ found: RecentlyProvidedKeys.Found, in minute: RepeatedDeliveries.Minute, recent: RecentlyProvidedKeys,
        clock: any MonotonicClock
    ) {
        keys = found.records
        end = found.end
        changeCount = found.changeCount
        self.minute = minute
        self.recent = recent
        self.clock = clock
    }

    package func countOneMore() -> Bool {
        let now = clock.monotonicTime
        return now < end && changeCount == recent.changeCount && minute.count(at: now)
    }
}

/// A delivered key, and how it was provided.
package struct DeliveredKey: Sendable {
    package enum Outcome: String, Sendable, CaseIterable {
        case created
        case found
        case imported
    }

    package let record: ContentKeyRecord
    package let outcome: Outcome

    init(_ record: ContentKeyRecord, _ outcome: Outcome) {
        self.record = record
        self.outcome = outcome
    }
}

/// The reason why no key is delivered.
package enum KeyDeskError: Error, Equatable, Sendable {
    /// The stored key with these names is not the wanted one.
    case conflict(KeyID, KeyConflict)
    /// The given IV equals the key, and would reveal it. The key id is nil if the order names none.
    case ivEqualsKey(KeyID?)
    /// A key is missing, and the client may not have it made.
    case creationNotAllowed
    case store(StoreError)
    /// The keys exist, but the ledger could not record their delivery. Therefore no client gets them.
    case ledger(StoreError)
    case cryptography(CryptoError)

    init(_ error: KeyProvisionError) {
        self =
            switch error {
            case .conflict(let keyID, let conflict): .conflict(keyID, conflict)
            case .store(let error): .store(error)
            }
    }

    /// As `KeyProvisionError.takenKeyID`.
    fileprivate var takenKeyID: KeyID? {
        switch self {
        case .conflict(let keyID, let conflict): KeyProvisionError.conflict(keyID, conflict).takenKeyID
        case .store(let error): error.takenKeyID
        case .ivEqualsKey, .creationNotAllowed, .ledger, .cryptography: nil
        }
    }

    /// Whether the store cannot be asked now, so that remembered keys may be delivered.
    fileprivate var isOutageOfStore: Bool {
        switch self {
        case .store(.unavailable(.unreachable)), .store(.unavailable(.busy)), .store(.unavailable(.misconfigured)): true
        default: false  // Every other error is an answer of the store, or of ours.
        }
    }
}

extension KeyWish {
    /// Makes the wish for a key of an order. Bytes that the order does not give are derived, or random if there is no
    /// derivation.
    fileprivate init(
        _ key: KeyOrder.Key, of contentID: ContentID, _ derivation: KeyDerivation?, passingOver taken: Set<KeyID>,
        now: Int64
    ) throws(KeyDeskError) {
        let keyID: KeyID
        let made: (key: ContentKey, iv: Bytes16)
        do throws(CryptoError) {
            if let given = key.keyID {
                keyID = given
            } else {
                keyID = try Self.keyID(of: key, contentID, derivation, passingOver: taken)
            }
            if let derivation {
                made = try derivation.derive(contentID: contentID, keyID: keyID, periodIndex: key.periodIndex)
            } else {
                made = try KeyGeneration.generate()
            }
        } catch {
            throw .cryptography(error)
        }
        var attributes = ContentKeyAttributes(
            keyID: keyID, contentID: contentID, track: key.track, periodIndex: key.periodIndex, scheme: key.scheme,
            createdAt: now)
        attributes.leastHDCP = key.leastHDCP
        attributes.leastSecurityLevel = key.leastSecurityLevel
        let record: ContentKeyRecord
        do throws(ContentKeyError) {
            record = try ContentKeyRecord(attributes: attributes, key: key.key ?? made.key, iv: key.iv ?? made.iv)
        } catch {
            throw .ivEqualsKey(key.keyID)
        }
        var given: KeyWish.Given = []
        if key.key != nil { given.insert(.key) }
        if key.iv != nil { given.insert(.iv) }
        if key.leastHDCP != nil || key.leastSecurityLevel != nil { given.insert(.floor) }
        self.init(record: record, identity: key.keyID == nil ? .track : .keyID, given: given)
    }

    /// Derived keys have derived key ids, so that the same order makes the same key again, even in an empty store.
    ///
    /// A key with given bytes has a random key id. If the store lost such a key, a later order without bytes must not
    /// make another key under the id that players know.
    private static func keyID(
        of key: KeyOrder.Key, _ contentID: ContentID, _ derivation: KeyDerivation?, passingOver taken: Set<KeyID>
    ) throws(CryptoError) -> KeyID {
        guard let derivation, key.key == nil else { return try KeyGeneration.generateKeyID() }
        return try derivation.deriveKeyID(
            contentID: contentID, trackLabel: key.track.label, periodIndex: key.periodIndex, taken: taken)
    }

    /// Makes the wish for a key of a list. Only the store has its bytes; the placeholder bytes of the wish are never
    /// stored.
    fileprivate init(finding attributes: ContentKeyAttributes) throws(KeyDeskError) {
        do throws(CryptoError) {
            let placeholder = try KeyGeneration.generate()
            let record: ContentKeyRecord
            do throws(ContentKeyError) {
                record = try ContentKeyRecord(attributes: attributes, key: placeholder.key, iv: placeholder.iv)
            } catch {
                preconditionFailure("a generated key is not its vector")
            }
            self.init(record: record, identity: .keyID)
        } catch {
            throw .cryptography(error)
        }
    }
}
