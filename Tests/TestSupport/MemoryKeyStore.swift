package import ByteCoding
package import ContentKeys
import Synchronization

/// A store of content keys in memory, which follows the rules of `KeyProvider`. It can fail on request, and counts its
/// calls.
package final class MemoryKeyStore: KeyProvider, ContentKeyStore, PeriodNotes {
    private struct State {
        var records: [KeyID: ContentKeyRecord] = [:]
        var error: KeyProvisionError?
        var callCount = 0
        var notes: [[KnownPeriod]] = []
        var provisionCount = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// All records, in the order of their key ids.
    package var records: [ContentKeyRecord] {
        state.withLock { $0.records.values.sorted { $0.keyID.bytes.lexicographicallyPrecedes($1.keyID.bytes) } }
    }
    /// The number of calls of the store, including failed ones.
    package var callCount: Int { state.withLock { $0.callCount } }
    /// The number of calls that may make keys.
    package var provisionCount: Int { state.withLock { $0.provisionCount } }

    /// The periods of each `note` call, in the order of the calls.
    package var notes: [[KnownPeriod]] { state.withLock { $0.notes } }

    /// Makes all later calls fail with this error; with nil they succeed again.
    package func fail(with error: KeyProvisionError?) { state.withLock { $0.error = error } }

    package func put(_ record: ContentKeyRecord) { state.withLock { $0.records[record.keyID] = record } }

    package func withdraw(_ keyID: KeyID) throws {
        try state.withLock { state in
            guard let record = state.records[keyID] else { return }
            var attributes = record.attributes
            attributes.state = .withdrawn
            state.records[keyID] = try ContentKeyRecord(attributes: attributes, key: record.key, iv: record.iv)
        }
    }

    package func note(_ periods: [KnownPeriod], of contentID: ContentID) async throws(StoreError) {
        state.withLock { $0.notes.append(periods) }
    }

    // MARK: - KeyProvider

    package func provide(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> [ProvidedKey] {
        try state.withLock { (state) throws(KeyProvisionError) in
            state.callCount += 1
            state.provisionCount += 1
            if let error = state.error { throw error }
            var records = state.records
            var provided: [ProvidedKey] = []
            for wish in wishes {
                if let record = try Self.find(wish, in: records) {
                    provided.append(ProvidedKey(record: record, isNew: false))
                    continue
                }
                records[wish.record.keyID] = wish.record
                provided.append(ProvidedKey(record: wish.record, isNew: true))
            }
            state.records = records
            return provided
        }
    }

    package func find(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> [ContentKeyRecord?] {
        try state.withLock { (state) throws(KeyProvisionError) in
            state.callCount += 1
            if let error = state.error { throw error }
            return try wishes.map { (wish) throws(KeyProvisionError) in try Self.find(wish, in: state.records) }
        }
    }

    private static func find(
        _ wish: KeyWish, in records: [KeyID: ContentKeyRecord]
    ) throws(KeyProvisionError) -> ContentKeyRecord? {
        let wanted = wish.record.attributes
        var found = records[wanted.keyID]
        if wish.identity == .track {
            let ofTrack = records.values.filter { record in
                let there = record.attributes
                return there.state == .live && there.contentID == wanted.contentID
                    && there.trackLabel == wanted.trackLabel && there.periodIndex == wanted.periodIndex
            }
            guard ofTrack.count <= 1 else { throw .conflict(ofTrack[0].keyID, .severalKeys) }
            found = ofTrack.first ?? found
        }
        if let found, let conflict = wish.conflict(with: found) { throw .conflict(found.keyID, conflict) }
        return found
    }

    // MARK: - ContentKeyStore

    package func record(for reference: AssetReference) async throws(StoreError) -> ContentKeyRecord? {
        let records = try listed().filter { $0.attributes.state == .live }
        for candidate in reference.candidates {
            switch candidate {
            case .alias: continue
            case .keyID(let keyID): if let found = records.first(where: { $0.keyID == keyID }) { return found }
            case .contentID(let contentID):
                let ofContent = records.filter { $0.contentID == contentID }
                guard ofContent.count <= 1 else { throw .contentAmbiguous(contentID) }
                if let found = ofContent.first { return found }
            case .track(let track):
                let ranked = records.filter { track.rank(of: $0.attributes) != nil }
                    .sorted { (track.rank(of: $0.attributes) ?? 0) < (track.rank(of: $1.attributes) ?? 0) }
                if let found = try track.only(of: ranked, \.attributes) { return found }
            }
        }
        return nil
    }

    package func insert(_ record: ContentKeyRecord) async throws(StoreError) -> StoreOutcome {
        state.withLock { state in
            let isThere = state.records[record.keyID] != nil
            if !isThere { state.records[record.keyID] = record }
            return isThere ? .alreadyPresent : .stored
        }
    }

    package func insertOnly(_ record: ContentKeyRecord) async throws(StoreError) -> StoreOutcome? {
        state.withLock { state in
            let isOnly = state.records.values.allSatisfy { other in
                other.keyID == record.keyID || other.contentID != record.contentID || other.attributes.state != .live
            }
            guard isOnly else { return nil }
            let isThere = state.records[record.keyID] != nil
            if !isThere { state.records[record.keyID] = record }
            return isThere ? .alreadyPresent : .stored
        }
    }

    package func addAlias(_ alias: AssetID, to keyID: KeyID) async throws(StoreError) -> StoreOutcome {
        throw .keyUnknown(keyID)
    }

    package func list(
        of contentID: ContentID?, after last: ContentKeyAttributes?, limit: Int
    ) async throws(StoreError) -> [ContentKeyAttributes] {
        let fitting = try listed().map(\.attributes).filter { contentID == nil || $0.contentID == contentID }
        let rest = fitting.drop { key in
            last.map { !$0.keyID.bytes.lexicographicallyPrecedes(key.keyID.bytes) } ?? false
        }
        return Array(rest.prefix(limit))
    }

    package func contentIDs(in range: ContentIDRange, limit: Int) async throws(StoreError) -> [ContentID] {
        let known = Set(try listed().map(\.attributes.contentID)).sorted()
        return Array(known.filter { range.lowerBound <= $0.text && $0.text < range.upperBound }.prefix(limit))
    }

    private func listed() throws(StoreError) -> [ContentKeyRecord] {
        state.withLock { $0.callCount += 1 }
        if case .store(let error) = state.withLock({ $0.error }) { throw error }
        return records
    }
}
