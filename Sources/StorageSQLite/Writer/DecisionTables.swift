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
    private var clock: ClockTable

    init(_ connection: inout SQLiteConnection) throws(StoreError) {
        // Whole values first and fields after: a value that is not copyable cannot be abandoned half made.
        let replay = try ReplayTable(&connection)
        let sessions = try RenewalSessionTable(&connection)
        let uses = try TokenUseTable(&connection)
        let devices = try DeviceTable(&connection)
        let slots = try SlotTable(&connection)
        let challenges = try ChallengeTable(&connection)
        let revocations = try RevocationTable(&connection)
        let clock = try ClockTable(&connection)
        self.replay = replay
        self.sessions = sessions
        self.uses = uses
        self.devices = devices
        self.slots = slots
        self.challenges = challenges
        self.revocations = revocations
        self.clock = clock
    }

    /// `endTime` bounds the time by which it is judged what has ended.
    mutating func run(
        _ request: WriteRequest, endTime: Int64, _ ledger: inout LedgerWriter
    ) throws(StoreError) -> WriteAnswer {
        switch request {
        case .decision(let decision, let entry):
            let outcome = try decide(decision, endTime: endTime)
            if outcome == .recorded, let entry { try ledger.append(entry) }
            return .outcome(outcome)
        case .entry(let entry, _):
            try ledger.append(entry)
            return .done(true)
        case .revoke(let revocation):
            try revocations.insert(revocation)
            return .done(true)
        case .lift(let kind, let value, let issuer): return .done(try revocations.delete(kind, value, of: issuer))
        case .openChallenge(let request, let expiresAt, let limit):
            return .done(try challenges.open(request, expiresAt: expiresAt, limit: limit))
        case .takeChallenge(let request): return .done(try challenges.take(request))
        case .keepClock(let record):
            try clock.keep(record)
            return .done(true)
        case .acceptClock(let offset, let entry, let at):
            try ledger.append(entry)
            try clock.accept(at, offset: offset)
            return .done(true)
        }
    }

    /// What is remembered for long ends by the settled time. Playbacks, and the window of a repetition, are short: they end by the
    /// decision's own time.
    private mutating func decide(
        _ decision: LicenseDecision, endTime: Int64
    ) throws(StoreError) -> DecisionOutcome {
        let now = decision.now
        let end = min(now, endTime)
        if let record = decision.replay, let outcome = try replay.outcome(of: record, at: now, endTime: end) {
            return outcome
        }
        if let use = decision.sessionTokenUse, let denial = try sessions.denial(of: use, at: end) {
            return .denied(denial)
        }
        if let use = decision.tokenUse, let denial = try uses.denial(of: use, at: end) { return .denied(denial) }
        if !decision.devicePlaces.isEmpty, let denial = try devices.denial(of: decision.devicePlaces, at: end) {
            return .denied(denial)
        }
        let changes: [SlotChanges]
        switch try slots.changes(for: decision.slotClaims, at: now) {
        case .denied(let denial): return .denied(denial)
        case .granted(let granted): changes = granted
        }
        if let record = decision.replay { try replay.keep(record, at: now) }
        if let use = decision.sessionTokenUse { try sessions.keep(use, at: end) }
        if let use = decision.tokenUse { try uses.keep(use, at: end) }
        for place in decision.devicePlaces { try devices.keep(place, at: end) }
        for change in changes { try slots.store(change) }
        return .recorded
    }
}
