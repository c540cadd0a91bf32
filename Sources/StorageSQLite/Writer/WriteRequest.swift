import ContentKeys
import Records

/// What the writer is asked to make durable.
enum WriteRequest: Sendable {
    /// With the encoding of its ledger entry, if the ledger is this node's.
    case decision(LicenseDecision, entry: [UInt8]?)
    case entry([UInt8], at: Int64)
    /// Decisions or entries of one request: all of them are in one transaction.
    case several([WriteRequest])
    /// With what the decision spends (`DecisionKeeping`).
    case keptEntry([UInt8], at: Int64, spending: [UInt8], additions: [UInt8]?, mark: Int64?)
    case noteSettled([Int64], mark: Int64)
    case forgetKept(before: Int64)
    /// Writes a row that means nothing, because the last writes failed.
    case tryToWrite
    /// With the encoding of the ledger entry that tells of it, here and below; nil for none.
    case revoke(Revocation, entry: [UInt8]?)
    /// The entry is written only if the revocation was there. The time is the entry's, if there is one.
    case lift(RevocationKey, entry: [UInt8]?, at: Int64?)
    case keepPending(Revocation, entry: [UInt8])
    /// Drops it only as it was kept.
    case dropPending(Revocation)
    case dropAnyPending(RevocationKey, entry: [UInt8], at: Int64)
    case openChallenge(ChallengeRequest, expiresAt: Int64, limit: Int)
    case takeChallenge(ChallengeRequest)
    case releaseSlots([SlotClaim], at: Int64)
    case keepClock(ClockRecord)
    /// The offset is the wall clock's against the boot-time clock, in nanoseconds.
    case acceptClock(offset: Int64, entry: [UInt8], at: Int64)
    /// The entry is written only if there was anything to change. The time is the entry's, if there is one.
    case changeAccount(AccountChange, entry: [UInt8]?, at: Int64?)

    /// The request's own time, in seconds since 1970; nil if it has none.
    var time: Int64? {
        switch self {
        case .decision(let decision, _): decision.now
        case .several(let requests): requests.compactMap(\.time).max()
        case .entry(_, let at), .keptEntry(_, let at, _, _, _), .acceptClock(_, _, let at),
            .releaseSlots(_, let at):
            at
        case .revoke(let revocation, _), .keepPending(let revocation, _): revocation.revokedAt
        case .lift(_, _, let at), .changeAccount(_, _, let at): at
        case .dropPending, .noteSettled, .forgetKept, .tryToWrite, .keepClock: nil
        case .dropAnyPending(_, _, let at): at
        case .openChallenge(let request, _, _), .takeChallenge(let request): request.now
        }
    }
}

/// What became of a request.
enum WriteAnswer: Sendable {
    case outcome(DecisionOutcome)
    /// Whether it changed anything.
    case done(Bool)
    /// In the order of the requests.
    case several([WriteAnswer])
}

typealias WriteResult = Result<WriteAnswer, StoreError>
