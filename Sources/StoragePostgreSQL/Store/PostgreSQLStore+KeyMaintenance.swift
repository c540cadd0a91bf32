package import ByteCoding
package import ContentKeys

extension PostgreSQLStore: KeyMaintenance {
    /// The number of times that an import is tried, because other writers may store some of its keys in the meantime.
    private static let importAttempts = 5
    /// The number of times that a change of state is tried, because another writer may change the row in the meantime.
    private static let stateAttempts = 5

    package func count() async throws(StoreError) -> Int {
        Int(try await run(.countKeys, [], .read)[0].integer(at: 0))
    }

    // MARK: Import

    /// Compares existing keys, and stores the others by one statement.
    ///
    /// If another node stores one of the keys in the meantime, nothing is stored and the import begins again.
    package func store(_ imports: [KeyImport]) async throws(StoreError) -> Int {
        for _ in 0..<Self.importAttempts {
            let plan = try await missing(of: imports)
            if plan.isEmpty { return 0 }
            var keys = NewKeys(plan.keys)
            // An import may have many contents, and names each key by its id.
            keys.locksContents = false
            keys.aliases = plan.aliases.map { ($0.alias, $0.keyID) }
            try await checkPeriods(of: keys)
            try await check(plan.aliases.map { ($0.alias, $0.contentID) })
            switch await outcomes([(.storeKeys, keys.values)], .read)[0] {
            case .success(let result): if try keys.isStored(result) { return plan.keys.count }
            case .failure(.refused(Self.uniqueViolation)), .failure(.refused(Self.foreignKeyViolation)): continue
            case .failure(let error): throw error.storeError
            }
        }
        throw .unavailable(.busy)
    }

    static let uniqueViolation = SQLState("23505")
    private static let foreignKeyViolation = SQLState("23503")

    /// Returns the keys and aliases that do not exist yet. Throws `keyIDTaken` or `aliasTaken` if one exists with other
    /// content.
    private func missing(of imports: [KeyImport]) async throws(StoreError) -> ImportPlan {
        let outcomes = await outcomes(
            [
                (.keysByIDs, [.byteArrays(imports.map(\.record.keyID.bytes))]),
                (.keysByAliases, [.byteArrays(imports.flatMap { $0.aliases.map(\.bytes) })]),
            ], .read)
        let (keys, aliases): (PostgreSQLResult, PostgreSQLResult)
        do { (keys, aliases) = (try outcomes[0].get(), try outcomes[1].get()) } catch { throw error.storeError }
        var records: [KeyID: ContentKeyRecord] = [:]
        for row in 0..<keys.rowCount {
            let record = try StoredContentKey(reading: keys[row]).open(with: ring)
            records[record.keyID] = record
        }
        var names: [[UInt8]: KeyID] = [:]
        for row in 0..<aliases.rowCount {
            names[try aliases[row].bytes(at: 0)] = try aliases[row].keyID(at: 1)
        }
        var plan = ImportPlan()
        for item in imports {
            let record = item.record
            if let present = records[record.keyID] {
                guard present.isSameKey(as: record) else { throw .keyIDTaken(record.keyID) }
            } else {
                plan.keys.append(try StoredContentKey(sealing: record, with: ring.current))
                records[record.keyID] = record
            }
            for alias in item.aliases {
                if let present = names[alias.bytes] {
                    guard present == record.keyID else { throw .aliasTaken(by: present) }
                } else {
                    plan.aliases.append((alias, record.keyID, record.contentID))
                    names[alias.bytes] = record.keyID
                }
            }
        }
        return plan
    }

    // MARK: Sealing again

    package func rewrap(after keyID: KeyID?, limit: Int) async throws(StoreError) -> KeyRewrapStep {
        let found = try await run(.keysBehind, [.bytes(keyID?.bytes ?? []), .integer(Int64(limit))], .read)
        let rows = try found.rows(read: StoredContentKey.init(reading:))
        var changes: [(old: StoredContentKey, new: StoredContentKey)] = []
        for row in rows where row.sealed.keyVersion != ring.current.version {
            changes.append((row, try StoredContentKey(sealing: row.open(with: ring), with: ring.current)))
        }
        if !changes.isEmpty { _ = try await replace(changes) }
        return KeyRewrapStep(
            last: rows.count < limit ? nil : rows.last?.attributes.keyID, count: rows.count, changed: changes.count)
    }

    /// Replaces the state and seal of rows. Rows that have changed in the meantime stay as they are. Returns the number
    /// of replaced rows.
    private func replace(
        _ changes: [(old: StoredContentKey, new: StoredContentKey)]
    ) async throws(StoreError) -> Int {
        let new = changes.map(\.new)
        return try await run(
            .replaceKeys,
            [
                .byteArrays(new.map(\.attributes.keyID.bytes)), .texts(new.map(\.attributes.state.rawValue)),
                .integers(new.map { Int64($0.sealed.keyVersion) }), .byteArrays(new.map(\.sealed.bytes)),
                .byteArrays(changes.map(\.old.sealed.bytes)),
            ], .read
        ).rowCount
    }

    package func forgetUnusedKeys() async throws(StoreError) -> Int {
        try await run(.forgetKeyEncryptionKeys, [.integer(Int64(ring.current.version))], .read).rowCount
    }

    // MARK: Checking

    package func check(after keyID: [UInt8]?, limit: Int) async throws(StoreError) -> KeyCheckStep {
        let found = try await run(.keysBehind, [.bytes(keyID ?? []), .integer(Int64(limit))], .read)
        var (last, findings) = ([UInt8]?.none, [KeyFinding]())
        for row in 0..<found.rowCount {
            let stored = try found[row].bytes(at: 0)
            do throws(StoreError) {
                _ = try StoredContentKey(reading: found[row]).open(with: ring)
            } catch .recordMalformed {
                findings.append(.malformed(keyID: stored))
            } catch {
                findings.append(.sealBroken(keyID: stored))
            }
            last = stored
        }
        return KeyCheckStep(
            last: found.rowCount < limit ? nil : last, count: found.rowCount, findings: findings)
    }

    // MARK: One key

    package func key(_ keyID: KeyID) async throws(StoreError) -> (record: ContentKeyRecord, aliases: [AssetID])? {
        let outcomes = await outcomes(
            [(.keyByID, [.bytes(keyID.bytes)]), (.aliasesOfKey, [.bytes(keyID.bytes)])], .read)
        let (keys, aliases): (PostgreSQLResult, PostgreSQLResult)
        do { (keys, aliases) = (try outcomes[0].get(), try outcomes[1].get()) } catch { throw error.storeError }
        guard keys.rowCount == 1 else { return nil }
        let names = try aliases.rows { row throws(StoreError) in
            let bytes = try row.bytes(at: 0)
            do throws(IdentifierError) { return try AssetID(bytes: bytes) } catch { throw .recordMalformed }
        }
        return (try StoredContentKey(reading: keys[0]).open(with: ring), names)
    }

    package func set(_ state: ContentKeyState, of keyID: KeyID) async throws(StoreError) {
        // The state is part of the sealed data. If another node changes the row in the meantime, it is read again.
        for _ in 0..<Self.stateAttempts {
            let found = try await run(.keyByID, [.bytes(keyID.bytes)], .read)
            guard found.rowCount == 1 else { throw .keyUnknown(keyID) }
            let row = try StoredContentKey(reading: found[0])
            if try await replace([(row, row.sealed(in: state, with: ring))]) == 1 { return }
        }
        throw .unavailable(.busy)
    }

    package func remove(alias: AssetID, of keyID: KeyID) async throws(StoreError) -> Bool {
        try await run(.deleteAlias, [.bytes(alias.bytes), .bytes(keyID.bytes)], .read).rowCount == 1
    }

    package func delete(_ keyID: KeyID) async throws(StoreError) {
        guard try await run(.deleteKey, [.bytes(keyID.bytes)], .read).rowCount == 1 else { throw .keyUnknown(keyID) }
    }
}

/// The keys and aliases that an import has to store.
private struct ImportPlan {
    var keys: [StoredContentKey] = []
    var aliases: [(alias: AssetID, keyID: KeyID, contentID: ContentID)] = []

    var isEmpty: Bool { keys.isEmpty && aliases.isEmpty }
}

extension [StoredContentKey] {
    /// Each column of the keys as an array, in the order in which columns are read.
    var columns: [PostgreSQLValue] {
        let attributes = map(\.attributes)
        return [
            .byteArrays(attributes.map(\.keyID.bytes)), .texts(attributes.map(\.contentID.text)),
            .texts(attributes.map { $0.trackLabel?.text }),
            .integers(attributes.map { $0.periodIndex.map { Int64($0) } }),
            .texts(attributes.map(\.scheme.rawValue)), .texts(attributes.map(\.state.rawValue)),
            .integers(attributes.map(\.createdAt)), .texts(attributes.map(\.contentType.rawValue)),
            .texts(attributes.map { $0.leastHDCP?.rawValue }),
            .texts(attributes.map { $0.leastSecurityLevel?.rawValue }),
            .integers(map { Int64($0.sealed.keyVersion) }), .byteArrays(map(\.sealed.bytes)),
        ]
    }
}
