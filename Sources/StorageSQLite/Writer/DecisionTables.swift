import ContentKeys
import Records

/// The writer's statements.
struct DecisionTables: ~Copyable {
    private var cells: CellTable
    private var revocations: RevocationTable
    private var kept: KeptDecisionTable
    private var clock: ClockTable

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> DecisionTables {
        try DecisionTables(
            cells: .prepare(on: &connection), revocations: .prepare(on: &connection),
            kept: .prepare(on: &connection), clock: .prepare(on: &connection))
    }

    /// Runs one request. Records with long terms end by `endTime`, if it is earlier than the request's time.
    mutating func run(
        _ request: WriteRequest, endTime: Int64, _ ledger: inout LedgerWriter
    ) throws(StoreError) -> WriteAnswer {
        switch request {
        case .account(let action, let entry, let now):
            let answer: AccountAnswer
            do throws(StoreError) {
                answer = try cells.apply(action, at: AccountTime(now: now, settled: endTime))
            } catch .recordMalformed {
                // Nothing was written, and the cell concerns no other request of the batch.
                return .failed(.recordMalformed)
            }
            if let entry, answer.hasEffect { try ledger.append(entry) }
            return .account(answer)
        case .entry(let entry, _):
            try ledger.append(entry)
            return .done(true)
        case .several(let requests):
            var answers: [WriteAnswer] = []
            for request in requests { answers.append(try run(request, endTime: endTime, &ledger)) }
            return .several(answers)
        case .keptEntry(let entry, _, let spending, let mark):
            try ledger.append(entry)
            try kept.keep(spending, mark: mark)
            return .done(true)
        case .noteSettled(let numbers, let mark):
            try kept.note(numbers, mark: mark)
            return .done(true)
        case .forgetKept(let mark):
            try kept.forget(before: mark)
            return .done(true)
        case .tryToWrite:
            try kept.tryToWrite()
            return .done(true)
        case .revoke, .lift, .keepPending, .dropPending, .dropAnyPending: return .done(try change(request, &ledger))
        case .keepClock(let record):
            try clock.keep(record)
            return .done(true)
        case .acceptClock(let offset, let entry, let at):
            try ledger.append(entry)
            try clock.accept(at, offset: offset)
            return .done(true)
        }
    }

    /// Changes the stored revocations, and appends the ledger entry in the same transaction. Returns false if there was
    /// nothing to change.
    private mutating func change(_ request: WriteRequest, _ ledger: inout LedgerWriter) throws(StoreError) -> Bool {
        switch request {
        case .revoke(let revocation, let entry):
            try revocations.insert(revocation)
            if let entry { try ledger.append(entry) }
            return true
        case .lift(let key, let entry, _):
            guard try revocations.delete(key) else { return false }
            if let entry { try ledger.append(entry) }
            return true
        case .keepPending(let revocation, let entry):
            try revocations.insertPending(revocation)
            try ledger.append(entry)
            return true
        case .dropPending(let revocation):
            try revocations.deletePending(revocation)
            return true
        case .dropAnyPending(let key, let entry, _):
            try revocations.deletePending(key)
            try ledger.append(entry)
            return true
        case .account, .entry, .several, .keptEntry, .noteSettled, .forgetKept, .tryToWrite, .keepClock, .acceptClock:
            preconditionFailure("no change of what is revoked")
        }
    }
}

extension AccountAnswer {
    /// Whether the action has an entry in the ledger.
    fileprivate var hasEffect: Bool {
        switch self {
        case .outcome(let outcome): outcome == .recorded
        case .done(let hasChanged): hasChanged
        }
    }
}
