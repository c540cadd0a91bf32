package import ByteCoding
package import ContentKeys

extension PostgreSQLStore: ContentKeyStore {
    /// The largest number of entries in one page of a list.
    package static let pageSizeMaximum = 1000

    package func record(for reference: AssetReference) async throws(StoreError) -> ContentKeyRecord? {
        try await stored(for: reference)?.open(with: ring)
    }

    /// Returns the stored key of a reference before its seal is opened.
    ///
    /// All candidates are looked up in one round trip. Most references begin with an alias and a key id; one statement
    /// looks for both.
    package func stored(for reference: AssetReference) async throws(StoreError) -> StoredContentKey? {
        var candidates = reference.candidates[...]
        if candidates.isEmpty { return nil }
        var statements: [(PreparedStatement, [PostgreSQLValue])] = []
        if case .alias(let alias) = candidates.first, case .keyID(let keyID) = candidates.dropFirst().first {
            statements.append((.keyByAliasOrID, [.bytes(alias.bytes), .bytes(keyID.bytes)]))
            // From here on, the key id stands for both candidates.
            candidates = candidates.dropFirst()
            statements += candidates.dropFirst().map(Self.lookUp)
        } else {
            statements = candidates.map(Self.lookUp)
        }
        for (candidate, outcome) in zip(candidates, await outcomes(statements, .read)) {
            let result: PostgreSQLResult
            do { result = try outcome.get() } catch { throw error.storeError }
            if result.rowCount == 0 { continue }
            if case .track(let track) = candidate {
                let rows = try result.rows(read: StoredContentKey.init(reading:))
                if let row = try track.only(of: rows, \.attributes) { return row }
                continue
            }
            if case .contentID(let contentID) = candidate, result.rowCount > 1 { throw .contentAmbiguous(contentID) }
            let row = try StoredContentKey(reading: result[0])
            if case .keyID(let keyID) = candidate, !row.decides(by: keyID) { continue }
            return row.attributes.state == .live ? row : nil
        }
        return nil
    }

    private static func lookUp(_ candidate: AssetCandidate) -> (PreparedStatement, [PostgreSQLValue]) {
        switch candidate {
        case .alias(let assetID): (.keyByAlias, [.bytes(assetID.bytes)])
        case .keyID(let keyID): (.keyByID, [.bytes(keyID.bytes)])
        case .contentID(let contentID): (.liveKeysByContent, [.text(contentID.text)])
        case .track(let track):
            (
                .liveKeysByTrack,
                [
                    .text(track.contentID.text), .optional(track.label?.text),
                    .optional(track.periodIndex.map { Int64($0) }),
                ]
            )
        }
    }

    package func insert(_ record: ContentKeyRecord) async throws(StoreError) -> StoreOutcome {
        let row = try StoredContentKey(sealing: record, with: ring.current)
        // Another node may store or delete the key meanwhile.
        for _ in 0..<2 {
            if try await isPresent(record) { return .alreadyPresent }
            let keys = NewKeys([row])
            try await checkPeriods(of: keys)
            switch await outcomes([(.storeKeys, keys.values)], .read)[0] {
            case .success(let result): if try keys.isStored(result) { return .stored }
            case .failure(.refused(Self.uniqueViolation)): continue
            case .failure(let error): throw error.storeError
            }
        }
        throw .unavailable(.busy)
    }

    /// Holds the lock of all calls that store keys from the check to the change.
    package func insertOnly(_ record: ContentKeyRecord) async throws(StoreError) -> StoreOutcome? {
        let keys = NewKeys([try StoredContentKey(sealing: record, with: ring.current)])
        let lock = try await run(.lockOfKeys, [], .read)[0].integer(at: 0)
        // Another node may store or delete the key meanwhile.
        for _ in 0..<2 {
            let live = try await run(.liveKeysByContent, [.text(record.contentID.text)], .read)
                .rows(read: ContentKeyAttributes.init(reading:))
            guard live.allSatisfy({ $0.keyID == record.keyID }) else { return nil }
            if try await isPresent(record) { return .alreadyPresent }
            try await checkPeriods(of: keys)
            let values = keys.values + [.text(record.contentID.text), .bytes(record.keyID.bytes)]
            switch await outcomes([(.storeOnlyKey, values)], .read, lockBefore: lock)[0] {
            case .success(let result):
                guard result.rowCount > 0 else { return nil }
                if try keys.isStored(result) { return .stored }
            case .failure(.refused(Self.uniqueViolation)): continue
            case .failure(let error): throw error.storeError
            }
        }
        throw .unavailable(.busy)
    }

    /// Whether this key is stored. Throws `keyIDTaken` if another one has its id.
    private func isPresent(_ record: ContentKeyRecord) async throws(StoreError) -> Bool {
        let present = try await run(.keyByID, [.bytes(record.keyID.bytes)], .read)
        guard present.rowCount > 0 else { return false }
        guard try StoredContentKey(reading: present[0]).open(with: ring).isSameKey(as: record) else {
            throw .keyIDTaken(record.keyID)
        }
        return true
    }

    /// Throws `periodTooFar` if a key has a period that its live content may not have next.
    func checkPeriods(of keys: NewKeys) async throws(StoreError) {
        var periods: [ContentID: [UInt32]] = [:]
        for key in keys.rows.map(\.attributes) where key.state == .live {
            if let period = key.periodIndex { periods[key.contentID, default: []].append(period) }
        }
        if periods.isEmpty { return }
        let found = try await run(.newestServedPeriods, [.texts(periods.keys.map(\.text))], .read)
        for row in 0..<found.rowCount {
            let contentID = try found[row].contentID(at: 0)
            guard let missing = periods[contentID] else { throw .recordMalformed }
            let newest = try found[row].optionalInteger(at: 1).flatMap { UInt32(exactly: $0) }
            try LivePeriods.check(missing, of: contentID, after: newest)
        }
    }

    /// Throws `aliasNamesContent` if a new alias is the name of another content, or of one of its keys.
    func check(_ aliases: [(alias: AssetID, contentID: ContentID)]) async throws(StoreError) {
        var names: [(name: AssetCandidate, contentID: ContentID)] = []
        for alias in aliases { names += AssetReference(alias.alias).ownNames.map { ($0, alias.contentID) } }
        var (keyIDs, contentIDs) = ([KeyID](), [ContentID]())
        for name in names.map(\.name) {
            switch name {
            case .alias, .track: break
            case .keyID(let keyID): keyIDs.append(keyID)
            case .contentID(let contentID): contentIDs.append(contentID)
            }
        }
        if keyIDs.isEmpty, contentIDs.isEmpty { return }
        let found = try await run(
            .ownersOfNames, [.byteArrays(keyIDs.map(\.bytes)), .texts(contentIDs.map(\.text))], .read)
        var owners: [AssetCandidate: ContentID] = [:]
        for row in 0..<found.rowCount {
            let contentID = try found[row].contentID(at: 1)
            let isContent = found[row].isNull(at: 0)
            owners[isContent ? .contentID(contentID) : .keyID(try found[row].keyID(at: 0))] = contentID
        }
        for name in names {
            if let owner = owners[name.name], owner != name.contentID { throw .aliasNamesContent(owner) }
        }
    }

    package func addAlias(_ alias: AssetID, to keyID: KeyID) async throws(StoreError) -> StoreOutcome {
        // If another node adds the same alias at the same moment, the first statement does not add the alias and does
        // not see it. The second one sees it.
        for _ in 0..<2 {
            let found = await outcomes(
                [(.keyByID, [.bytes(keyID.bytes)]), (.keysByAliases, [.byteArrays([alias.bytes])])], .read)
            let (keys, aliases): (PostgreSQLResult, PostgreSQLResult)
            do { (keys, aliases) = (try found[0].get(), try found[1].get()) } catch { throw error.storeError }
            guard keys.rowCount == 1 else { throw .keyUnknown(keyID) }
            if aliases.rowCount == 0 {
                try await check([(alias, try ContentKeyAttributes(reading: keys[0]).contentID)])
            }
            let result = try await run(.addAlias, [.bytes(alias.bytes), .bytes(keyID.bytes)], .read)
            guard try result[0].boolean(at: 0) else { throw .keyUnknown(keyID) }
            if try result[0].boolean(at: 1) { return .stored }
            if result[0].isNull(at: 2) { continue }
            let present = try result[0].keyID(at: 2)
            guard present == keyID else { throw .aliasTaken(by: present) }
            return .alreadyPresent
        }
        throw .unavailable(.busy)
    }

    /// Returns at most `pageSizeMaximum` entries, even if `limit` is larger.
    package func list(
        of contentID: ContentID?, after last: ContentKeyAttributes?, limit: Int
    ) async throws(StoreError) -> [ContentKeyAttributes] {
        // All entries of another content lie before or after this content's.
        if let contentID, let last, last.contentID != contentID { return [] }
        let start = contentID?.text ?? last?.contentID.text ?? ""
        let count = Int64(min(max(limit, 1), Self.pageSizeMaximum))
        let result = try await run(
            contentID == nil ? .keyPage : .keyPageOfContent,
            [.text(start), .bytes(last?.keyID.bytes ?? []), .integer(count)], .read)
        return try result.rows(read: ContentKeyAttributes.init(reading:))
    }

    /// Returns at most `pageSizeMaximum` ids, even if `limit` is larger.
    package func contentIDs(in range: ContentIDRange, limit: Int) async throws(StoreError) -> [ContentID] {
        let count = Int64(min(max(limit, 1), Self.pageSizeMaximum))
        let result = try await run(
            .contentPage, [.text(range.lowerBound), .text(range.upperBound), .integer(count)], .read)
        return try result.rows { row throws(StoreError) in try row.contentID(at: 0) }
    }
}

/// Keys that are about to be stored together, with what `storeKeys` needs beside them.
struct NewKeys {
    var rows: [StoredContentKey]
    /// Whether any live key of the same track counts as the key; for each key.
    private let byTrack: [Bool]
    /// Whether the contents are locked. A call with many contents does not lock them.
    var locksContents = true
    var aliases: [(alias: AssetID, keyID: KeyID)] = []

    init(_ rows: [StoredContentKey], byTrack: [Bool]? = nil) {
        self.rows = rows
        self.byTrack = byTrack ?? rows.map { _ in false }
    }

    /// The parameters of `storeKeys`.
    var values: [PostgreSQLValue] {
        let contents = Set(rows.map(\.attributes.contentID))
        let pairs = rows.flatMap { SpelledName.names(of: $0.attributes.keyID) } + contents.flatMap(SpelledName.names)
        return [.texts(locksContents ? contents.map(\.text) : []), .booleans(byTrack)] + rows.columns + [
            .byteArrays(pairs.map(\.keyID.bytes)), .texts(pairs.map(\.contentID.text)),
            .byteArrays(aliases.map(\.alias.bytes)), .byteArrays(aliases.map(\.keyID.bytes)),
        ]
    }

    /// Reads the answer of `storeKeys`. Returns false if one of the keys exists by now. Throws `keyIDSpellsContent`.
    func isStored(_ result: PostgreSQLResult) throws(StoreError) -> Bool {
        if try result[0].boolean(at: 0) { return true }
        if result[0].isNull(at: 1) { return false }
        throw .keyIDSpellsContent(try result[0].keyID(at: 1), try result[0].contentID(at: 2))
    }
}
