package import ContentKeys
package import Records

extension PostgreSQLStore: RevocationStore {
    package func revoke(_ revocation: Revocation) async throws(StoreError) {
        _ = try await run(
            .revoke,
            [
                .text(revocation.kind.rawValue), .text(revocation.issuer ?? ""), .text(revocation.value),
                .optional(revocation.until), .integer(revocation.revokedAt), .text(revocation.reason),
            ], .read)
    }

    package func lift(
        _ kind: Revocation.Kind, _ value: String, of issuer: String?
    ) async throws(StoreError) -> Bool {
        try await run(.liftRevocation, [.text(kind.rawValue), .text(issuer ?? ""), .text(value)], .read).rowCount == 1
    }

    package func revocation(
        _ kind: Revocation.Kind, _ value: String, of issuer: String?
    ) async throws(StoreError) -> Revocation? {
        let values: [PostgreSQLValue] = [.text(kind.rawValue), .text(issuer ?? ""), .text(value)]
        return try await run(.revocation, values, .read).revocations().first
    }

    package func revocations(after key: RevocationKey?, limit: Int) async throws(StoreError) -> RevocationPage {
        let result = try await run(
            .revocationPage,
            [
                .text(key?.kind ?? ""), .text(key?.issuer ?? ""), .text(key?.value ?? ""), .integer(Int64(limit)),
            ], .read)
        let next = result.rowCount < limit ? nil : try result[result.rowCount - 1].revocationKey()
        return RevocationPage(try result.revocations(), next: next)
    }

    package func newestRevocations(limit: Int) async throws(StoreError) -> [Revocation] {
        try await run(.newestRevocations, [.integer(.min), .integer(Int64(limit))], .read).revocations()
    }

    package func revocationPosition() async throws(StoreError) -> RevocationPosition {
        try await run(.revocationPosition, [.integer(0)], .read).first { row throws(StoreError) in
            RevocationPosition(number: try row.integer(at: 0), mark: try row.integer(at: 1))
        } ?? .start
    }

    package func revocationChanges(
        after known: RevocationPosition, limit: Int
    ) async throws(StoreError) -> RevocationNews {
        let result = try await run(
            .revocationChanges, [.integer(known.number), .integer(Int64(limit) + 1)], .read)
        var reading = RevocationNewsReading(after: known, limit: limit)
        for row in 0..<result.rowCount {
            let row = result[row]
            let position = RevocationPosition(number: try row.integer(at: 6), mark: try row.integer(at: 7))
            reading.add(position, try row.change())
        }
        return reading.news
    }
}

extension PostgreSQLResult {
    fileprivate func revocations() throws(StoreError) -> [Revocation] {
        try rows { row throws(StoreError) in try row.revocation() }.compactMap(\.self)
    }
}

extension PostgreSQLRow {
    fileprivate func revocationKey() throws(StoreError) -> RevocationKey {
        RevocationKey(kind: try text(at: 0), issuer: try text(at: 1), value: try text(at: 2))
    }

    /// Reads a revocation; nil if only a newer version knows its kind.
    fileprivate func revocation() throws(StoreError) -> Revocation? {
        let key = try revocationKey()
        guard let kind = Revocation.Kind(rawValue: key.kind) else { return nil }
        return Revocation(
            kind: kind, issuer: key.issuer.isEmpty ? nil : key.issuer, value: key.value,
            until: try optionalInteger(at: 3), revokedAt: try integer(at: 4), reason: try text(at: 5))
    }

    /// Reads a change. The last column says whether the revocation was lifted. Returns nil as `revocation()` does.
    fileprivate func change() throws(StoreError) -> RevocationChange? {
        guard let revocation = try revocation() else { return nil }
        return try boolean(at: 8)
            ? .lifted(revocation.kind, value: revocation.value, issuer: revocation.issuer) : .revoked(revocation)
    }
}
