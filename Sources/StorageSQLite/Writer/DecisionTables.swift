import ContentKeys
import Records

/// The writer's statements: each request is checked whole before anything of it is written.
struct DecisionTables: ~Copyable {
    private var replay: ReplayTable
    private var sessions: RenewalSessionTable
    private var uses: TokenUseTable
    private var devices: DeviceTable
    private var slots: SlotTable
    private var challenges: ChallengeTable
    private var revocations: RevocationTable

    init(_ connection: inout SQLiteConnection) throws(StoreError) {
        // Whole values first and fields after: a value that is not copyable cannot be abandoned half made.
        let replay = try ReplayTable(&connection)
        let sessions = try RenewalSessionTable(&connection)
        let uses = try TokenUseTable(&connection)
        let devices = try DeviceTable(&connection)
        let slots = try SlotTable(&connection)
        let challenges = try ChallengeTable(&connection)
        let revocations = try RevocationTable(&connection)
        self.replay = replay
        self.sessions = sessions
        self.uses = uses
        self.devices = devices
        self.slots = slots
        self.challenges = challenges
        self.revocations = revocations
    }

    mutating func run(_ request: WriteRequest, _ ledger: inout LedgerWriter) throws(StoreError) -> WriteAnswer {
        switch request {
        case .decision(let decision, let entry):
            let outcome = try decide(decision)
            if outcome == .recorded, let entry { try ledger.append(entry) }
            return .outcome(outcome)
        case .entry(let entry, _):
            try ledger.append(entry)
            return .done(true)
        case .revoke, .lift, .keepPending, .dropPending, .dropAnyPending: return .done(try change(request, &ledger))
        case .openChallenge(let request, let expiresAt, let limit):
            return .done(try challenges.open(request, expiresAt: expiresAt, limit: limit))
        case .takeChallenge(let request): return .done(try challenges.take(request))
        }
    }

    /// Changes what is revoked, and writes the row that tells of it in the same transaction; whether anything was there to change.
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
        case .decision, .entry, .openChallenge, .takeChallenge: preconditionFailure("no change of what is revoked")
        }
    }

    private mutating func decide(_ decision: LicenseDecision) throws(StoreError) -> DecisionOutcome {
        let now = decision.now
        if let record = decision.replay, let outcome = try replay.outcome(of: record, at: now) { return outcome }
        if let use = decision.sessionTokenUse, let denial = try sessions.denial(of: use, at: now) {
            return .denied(denial)
        }
        if let use = decision.tokenUse, let denial = try uses.denial(of: use, at: now) { return .denied(denial) }
        if !decision.devicePlaces.isEmpty, let denial = try devices.denial(of: decision.devicePlaces, at: now) {
            return .denied(denial)
        }
        let changes: [SlotChanges]
        switch try slots.changes(for: decision.slotClaims, at: now) {
        case .denied(let denial): return .denied(denial)
        case .granted(let granted): changes = granted
        }
        if let record = decision.replay { try replay.keep(record, at: now) }
        if let use = decision.sessionTokenUse { try sessions.keep(use, at: now) }
        if let use = decision.tokenUse { try uses.keep(use, at: now) }
        for place in decision.devicePlaces { try devices.keep(place, at: now) }
        for change in changes { try slots.store(change) }
        return .recorded
    }
}
