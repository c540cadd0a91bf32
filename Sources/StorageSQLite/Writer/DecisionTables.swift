import ContentKeys
import Records

/// The writer's statements. A request is checked completely before any part of it is written.
struct DecisionTables: ~Copyable {
    private var replay: ReplayTable
    private var sessions: RenewalSessionTable
    private var uses: TokenUseTable
    private var devices: DeviceTable
    private var slots: SlotTable
    private var challenges: ChallengeTable
    private var revocations: RevocationTable
    private var kept: KeptDecisionTable
    private var clock: ClockTable
    private var rentals: RentalTable
    private var slotNames: SlotNameTable

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> DecisionTables {
        try DecisionTables(
            replay: .prepare(on: &connection), sessions: .prepare(on: &connection),
            uses: .prepare(on: &connection), devices: .prepare(on: &connection),
            slots: .prepare(on: &connection), challenges: .prepare(on: &connection),
            revocations: .prepare(on: &connection), kept: .prepare(on: &connection),
            clock: .prepare(on: &connection), rentals: .prepare(on: &connection),
            slotNames: .prepare(on: &connection))
    }

    /// Runs one request. Records with long terms are judged by `endTime` if it is earlier than the request's time.
    mutating func run(
        _ request: WriteRequest, endTime: Int64, _ ledger: inout LedgerWriter
    ) throws(StoreError) -> WriteAnswer {
        switch request {
        case .decision(let decision, let entry):
            let checked: CheckedDecision
            do throws(StoreError) {
                checked = try check(decision, endTime: endTime)
            } catch .recordMalformed {
                // Nothing was written, and the row concerns no other request of the batch.
                return .failed(.recordMalformed)
            }
            switch checked {
            case .settled(let outcome): return .outcome(outcome)
            case .granted(let changes):
                try record(decision, changes, endTime: endTime)
                if let entry { try ledger.append(entry) }
                return .outcome(.recorded)
            }
        case .entry(let entry, _):
            try ledger.append(entry)
            return .done(true)
        case .several(let requests):
            var answers: [WriteAnswer] = []
            for request in requests { answers.append(try run(request, endTime: endTime, &ledger)) }
            return .several(answers)
        case .keptEntry(let entry, _, let spending, let additions, let mark):
            try ledger.append(entry)
            try kept.keep(spending, additions, mark: mark)
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
        case .openChallenge(let request, let expiresAt, let limit):
            return .done(try challenges.open(request, expiresAt: expiresAt, limit: limit))
        case .takeChallenge(let request): return .done(try challenges.take(request))
        case .releaseSlots(let claims, _):
            for claim in claims { try slots.release(claim) }
            return .done(true)
        case .keepClock(let record):
            try clock.keep(record)
            return .done(true)
        case .acceptClock(let offset, let entry, let at):
            try ledger.append(entry)
            try clock.accept(at, offset: offset)
            return .done(true)
        case .changeAccount(let change, let entry, _):
            guard try make(change) else { return .done(false) }
            if let entry { try ledger.append(entry) }
            return .done(true)
        }
    }

    private mutating func make(_ change: AccountChange) throws(StoreError) -> Bool {
        switch change {
        case .removeDevice(let owner, let device): try devices.remove(device, of: owner)
        case .endPlayback(let position, let now): try slots.end(position, at: now)
        case .forgetRental(let owner, let name): try rentals.forget(name, of: owner)
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
        case .decision, .entry, .several, .keptEntry, .noteSettled, .forgetKept, .tryToWrite, .openChallenge,
            .takeChallenge, .releaseSlots, .keepClock, .acceptClock, .changeAccount:
            preconditionFailure("no change of what is revoked")
        }
    }

    /// A license decision before anything of it is written.
    private enum CheckedDecision {
        /// It is denied, or repeats another one.
        case settled(DecisionOutcome)
        case granted([SlotChanges])
    }

    /// Checks a license decision. Writes nothing.
    ///
    /// Records with long terms end by the settled time, at the latest by the decision's own time. Playbacks and the
    /// window for repeated requests are short, so they end by the decision's own time.
    private mutating func check(
        _ decision: LicenseDecision, endTime: Int64
    ) throws(StoreError) -> CheckedDecision {
        let now = decision.now
        let end = min(now, endTime)
        if let record = decision.replay, let outcome = try replay.outcome(of: record, at: now, endTime: end) {
            return .settled(outcome)
        }
        if let claim = decision.rental, let denial = try rentals.denial(of: claim, at: end) {
            return .settled(.denied(denial))
        }
        if let use = decision.sessionTokenUse, let denial = try sessions.denial(of: use, at: end) {
            return .settled(.denied(denial))
        }
        if let use = decision.tokenUse, let denial = try uses.denial(of: use, at: end) {
            return .settled(.denied(denial))
        }
        if !decision.devicePlaces.isEmpty, let denial = try devices.denial(of: decision.devicePlaces, at: end) {
            return .settled(.denied(denial))
        }
        switch try slots.changes(for: decision.slotClaims, at: now) {
        case .denied(let denial): return .settled(.denied(denial))
        case .granted(let changes): return .granted(changes)
        }
    }

    /// Writes what a granted decision spends.
    private mutating func record(
        _ decision: LicenseDecision, _ changes: [SlotChanges], endTime: Int64
    ) throws(StoreError) {
        let now = decision.now
        let end = min(now, endTime)
        if let record = decision.replay { try replay.keep(record, at: now) }
        if let use = decision.sessionTokenUse { try sessions.keep(use, at: end) }
        if let use = decision.tokenUse { try uses.keep(use, at: end) }
        if let claim = decision.rental { try rentals.keep(claim, at: end) }
        for place in decision.devicePlaces { try devices.keep(place, at: end, decidedAt: now) }
        for change in changes { try slots.store(change) }
        for claim in decision.slotClaims { try slotNames.keep(claim) }
    }
}
