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
            if case .contentID(let contentID) = candidate, result.rowCount > 1 { throw .contentAmbiguous(contentID) }
            let row = try StoredContentKey(result, row: 0)
            return row.attributes.state == .live ? row : nil
        }
        return nil
    }

    private static func lookUp(_ candidate: AssetCandidate) -> (PreparedStatement, [PostgreSQLValue]) {
        switch candidate {
        case .alias(let assetID): (.keyByAlias, [.bytes(assetID.bytes)])
        case .keyID(let keyID): (.keyByID, [.bytes(keyID.bytes)])
        case .contentID(let contentID): (.liveKeysByContent, [.text(contentID.text)])
        }
    }

    package func insert(_ record: ContentKeyRecord) async throws(StoreError) -> StoreOutcome {
        let row = try StoredContentKey(sealing: record, with: ring.current)
        if try await run(.insertKey, row.values, .read).rowCount == 1 { return .stored }
        let present = try await run(.keyByID, [.bytes(record.keyID.bytes)], .read)
        guard present.rowCount == 1 else { throw .unavailable(.busy) }
        guard try StoredContentKey(present, row: 0).open(with: ring).isSameKey(as: record) else {
            throw .keyIDTaken(record.keyID)
        }
        return .alreadyPresent
    }

    package func addAlias(_ alias: AssetID, to keyID: KeyID) async throws(StoreError) -> StoreOutcome {
        // If another node adds the same alias at the same moment, the first statement does not add the alias and does
        // not see it. The second one sees it.
        for _ in 0..<2 {
            let result = try await run(.addAlias, [.bytes(alias.bytes), .bytes(keyID.bytes)], .read)
            guard try result.boolean(0, 0) else { throw .keyUnknown(keyID) }
            if try result.boolean(0, 1) { return .stored }
            if result.isNull(0, 2) { continue }
            guard let present = KeyID(bytes: try result.bytes(0, 2)) else { throw .recordMalformed }
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
        var entries: [ContentKeyAttributes] = []
        for row in 0..<result.rowCount { entries.append(try ContentKeyAttributes(result, row: row)) }
        return entries
    }

    /// Returns at most `pageSizeMaximum` ids, even if `limit` is larger.
    package func contentIDs(in range: ContentIDRange, limit: Int) async throws(StoreError) -> [ContentID] {
        let count = Int64(min(max(limit, 1), Self.pageSizeMaximum))
        let result = try await run(
            .contentPage, [.text(range.lowerBound), .text(range.upperBound), .integer(count)], .read)
        var found: [ContentID] = []
        for row in 0..<result.rowCount {
            guard let contentID = try? ContentID(result.text(row, 0)) else { throw .recordMalformed }
            found.append(contentID)
        }
        return found
    }
}

extension ContentKeyAttributes {
    /// Reads kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp and
    /// least_security_level.
    init(_ result: PostgreSQLResult, row: Int) throws(StoreError) {
        var columns = ContentKeyColumns(
            keyID: try result.bytes(row, 0), contentID: try result.text(row, 1), scheme: try result.text(row, 4),
            state: try result.text(row, 5), createdAt: try result.integer(row, 6))
        columns.trackLabel = try result.optionalText(row, 2)
        columns.periodIndex = try result.optionalInteger(row, 3)
        columns.contentType = try result.optionalText(row, 7)
        columns.leastHDCP = try result.optionalText(row, 8)
        columns.leastSecurityLevel = try result.optionalText(row, 9)
        try self.init(stored: columns)
    }
}

extension StoredContentKey {
    /// Reads the columns of `ContentKeyAttributes.init`, then key_version, sealed and bound.
    init(_ result: PostgreSQLResult, row: Int) throws(StoreError) {
        guard let keyVersion = UInt32(exactly: try result.integer(row, 10)) else { throw .recordMalformed }
        self.init(
            attributes: try ContentKeyAttributes(result, row: row),
            sealed: SealedContentKey(
                keyVersion: keyVersion, bytes: try result.bytes(row, 11),
                bound: result.isNull(row, 12) ? nil : try result.bytes(row, 12)))
    }

    /// The values of all columns, in the order in which they are read.
    fileprivate var values: [PostgreSQLValue] {
        [
            .bytes(attributes.keyID.bytes), .text(attributes.contentID.text), .optional(attributes.trackLabel?.text),
            .optional(attributes.periodIndex.map { Int64($0) }), .text(attributes.scheme.rawValue),
            .text(attributes.state.rawValue), .integer(attributes.createdAt), .text(attributes.contentType.rawValue),
            .optional(attributes.leastHDCP?.rawValue), .optional(attributes.leastSecurityLevel?.rawValue),
            .integer(Int64(sealed.keyVersion)), .bytes(sealed.bytes), sealed.bound.map { .bytes($0) } ?? .null,
        ]
    }
}
