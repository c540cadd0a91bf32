import ContentKeys
import Records

/// The challenges that are open.
struct ChallengeTable: ~Copyable {
    private var count, insert, delete: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> ChallengeTable {
        try ChallengeTable(
            count: connection.prepare(
                """
                SELECT count(*), coalesce(max(challenge = ?2), 0) FROM challenge
                WHERE holder = ?1 AND expires_at > ?3
                """),
            insert: connection.prepare(
                """
                INSERT INTO challenge (holder, challenge, expires_at) VALUES (?1, ?2, ?3)
                ON CONFLICT (holder, challenge) DO UPDATE SET expires_at = ?3
                """),
            delete: connection.prepare(
                "DELETE FROM challenge WHERE holder = ?1 AND challenge = ?2 RETURNING expires_at"))
    }

    mutating func open(_ request: ChallengeRequest, expiresAt: Int64, limit: Int) throws(StoreError) -> Bool {
        guard try mayOpen(request, limit: limit) else { return false }
        try insert.run(request.holder, Int64(bitPattern: request.challenge), expiresAt)
        return true
    }

    private mutating func mayOpen(_ request: ChallengeRequest, limit: Int) throws(StoreError) -> Bool {
        defer { count.reset() }
        try count.bind(request.holder, Int64(bitPattern: request.challenge), request.now)
        guard try count.step() else { throw .recordMalformed }
        let (openCount, isOpenAlready) = (try count.integer(at: 0), try count.integer(at: 1) != 0)
        return openCount < Int64(limit) && !isOpenAlready
    }

    mutating func take(_ request: ChallengeRequest) throws(StoreError) -> Bool {
        defer { delete.reset() }
        try delete.bind(request.holder, Int64(bitPattern: request.challenge))
        guard try delete.step() else { return false }
        let isOpen = try delete.integer(at: 0) > request.now
        // The row is deleted only when the statement has run to its end.
        _ = try delete.step()
        return isOpen
    }
}

/// Identifies a challenge by its holder, with the time of the request.
struct ChallengeRequest: Sendable {
    let challenge: UInt64
    let holder: Pseudonym
    let now: Int64
}
