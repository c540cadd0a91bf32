package import ContentKeys

extension PostgreSQLStore {
    /// Deletes shared state that has ended by the database's settled time, at most `limit` rows of each kind, and gives
    /// the number of rows.
    ///
    /// Rows that have ended count nowhere, so this only keeps the tables small. Any number of nodes may do it at any
    /// time.
    package func forgetEnded(limit: Int = 10_000) async throws(StoreError) -> Int {
        var count = 0
        let statements: [PreparedStatement] = [
            .forgetReplays, .forgetRenewalSessions, .forgetTokenUses, .forgetDevices, .forgetSlots, .forgetChallenges,
            .forgetRevocations, .forgetSlotGroups, .forgetRentals,
        ]
        for statement in statements {
            count += Int(try await run(statement, [.integer(Int64(limit))], .read).integer(0, 0))
        }
        return count
    }
}
