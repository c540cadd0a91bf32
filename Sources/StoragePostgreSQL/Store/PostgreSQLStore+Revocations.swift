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

    /// The database's settled time decides what holds, and not `now`.
    package func revocations(at now: Int64) async throws(StoreError) -> [Revocation] {
        let result = try await run(.revocations, [], .read)
        var revocations: [Revocation] = []
        for row in 0..<result.rowCount {
            // A newer version revokes what this one does not know, and so does not give.
            guard let kind = Revocation.Kind(rawValue: try result.text(row, 0)) else { continue }
            let issuer = try result.text(row, 1)
            revocations.append(
                Revocation(
                    kind: kind, issuer: issuer.isEmpty ? nil : issuer, value: try result.text(row, 2),
                    until: try result.optionalInteger(row, 3), revokedAt: try result.integer(row, 4),
                    reason: try result.text(row, 5)))
        }
        return revocations
    }
}

extension PostgreSQLStore: ChallengeStore {
    package func open(
        _ challenge: UInt64, for holder: Pseudonym, now: Int64, expiresAt: Int64, limit: Int
    ) async throws(StoreError) -> Bool {
        let lock = holder.lockNumber
        let result = try await run(
            .openChallenge,
            [
                .integer(lock), .integer(Int64(bitPattern: challenge)), .bytes(holder.bytes), .integer(now),
                .integer(expiresAt), .integer(Int64(limit)),
            ], .write(UInt64(bitPattern: lock)))
        return try result.boolean(0, 0)
    }

    package func take(_ challenge: UInt64, from holder: Pseudonym, now: Int64) async throws(StoreError) -> Bool {
        let result = try await run(
            .takeChallenge, [.integer(Int64(bitPattern: challenge)), .bytes(holder.bytes)],
            .write(UInt64(bitPattern: holder.lockNumber)))
        return result.rowCount == 1
    }
}
