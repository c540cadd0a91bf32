import ByteCoding
package import ContentKeys
package import Records
import Telemetry

extension PostgreSQLStore: CellStore {
    package func perform(_ action: AccountAction, now: Int64) async throws(StoreError) -> AccountAnswer {
        try await perform(action, on: nil)
    }

    /// The widest cell of the action chooses the connection. Actions of one subject or token therefore do not wait for
    /// one another in the database.
    private func perform(
        _ action: AccountAction, on connections: ClosedRange<Int>?
    ) async throws(StoreError) -> AccountAnswer {
        guard let route = Self.route(of: action, connections) else {
            // The rules answer an action without a cell at once, at any time.
            var cells = AccountCells()
            return try AccountRules.apply(action, to: &cells, at: AccountTime(now: 0, settled: 0))
        }
        let answer = await withCheckedContinuation { caller in
            submit(action, route) { caller.resume(returning: $0) }
        }
        do { return try answer.get() } catch { throw error.storeError }
    }

    /// Submits an action. `give` is called with its answer, on the loop.
    private func submit(_ action: AccountAction, _ route: Route, give: @escaping DatabaseCall.Answer<AccountAnswer>) {
        let deadline = SystemMonotonicClock().monotonicTime + limits.call
        submit([DatabaseCall(.action(action, give), deadline: deadline, isBound: route.isBound)], route)
    }

    /// Returns nil for an action without a cell.
    private static func route(of action: AccountAction, _ connections: ClosedRange<Int>? = nil) -> Route? {
        action.cells.last.map { route($0.key.name.firstHalf.high, connections) }
    }

    private static func route(_ home: UInt64, _ connections: ClosedRange<Int>?) -> Route {
        connections.map { .bound(home, $0) } ?? .write(home)
    }

    package func cell(_ key: CellKey, now: Int64) async throws(StoreError) -> StoredCells {
        try await run(.cell, [.integer(key.kind.rawValue), .bytes(key.name.bytes)], .read).storedCells()
    }

    package func cells(
        _ kind: CellKey.Kind, of owner: Pseudonym, from first: Pseudonym?, now: Int64, limit: Int
    ) async throws(StoreError) -> StoredCells {
        try await run(
            .cellPage,
            [
                .integer(kind.rawValue), .bytes(owner.bytes), .bytes(first?.bytes ?? []), .integer(Int64(limit)),
            ], .read
        ).storedCells()
    }
}

extension PostgreSQLStore: RecountedStore {
    package func settle(
        _ decision: LicenseDecision, on connections: ClosedRange<Int>?
    ) async throws(StoreError) -> DecisionOutcome {
        guard decision.needsSharedState else { return .recorded }
        return try await perform(.settle(decision), on: connections).outcome
    }

    package var newestConnection: Int { connections.newestConnection }

    package var isReconnecting: Bool {
        let health = health
        return health.lastError == nil && !health.isSilent
    }

    package func noteRecorded(_ request: Pseudonym) {
        let action = AccountAction.noteRecorded(request)
        if let route = Self.route(of: action) { submit(action, route) { _ in } }
    }

    package func giveBack(_ decision: LicenseDecision) async throws(StoreError) -> Bool {
        try await perform(.giveBack(decision), on: nil).hasChanged
    }

    package func replaceMark(
        of node: NodeID, with mark: Int64, expected: Int64, on connections: ClosedRange<Int>?
    ) async throws(StoreError) -> Int64 {
        let values: [PostgreSQLValue] = [.text(node.text), .integer(mark), .integer(expected)]
        return try await run(.replaceMark, values, Self.route(0, connections))[0].integer(at: 0)
    }
}

extension PostgreSQLResult {
    /// Reads key, value, the database's clock and the settled time. Without a cell there is one row whose key is NULL.
    fileprivate func storedCells() throws(StoreError) -> StoredCells {
        let time = AccountTime(now: try self[0].integer(at: 2), settled: try self[0].integer(at: 3))
        let cells = try rows { row throws(StoreError) in
            row.isNull(at: 0) ? nil : (name: try row.pseudonym(at: 0), bytes: try row.bytes(at: 1))
        }
        return StoredCells(cells.compactMap(\.self), time: time)
    }
}
