import ContentKeys
import Records

/// What the writer is asked to make durable.
enum WriteRequest: Sendable {
    /// With the encoding of its ledger entry, where the ledger is this node's.
    case decision(LicenseDecision, entry: [UInt8]?)
    case entry([UInt8], at: Int64)
    case revoke(Revocation)
    case lift(Revocation.Kind, String, issuer: String?)
    case openChallenge(ChallengeRequest, expiresAt: Int64, limit: Int)
    case takeChallenge(ChallengeRequest)
    case keepClock(ClockRecord)
    /// The offset is the wall clock's against the boot-time clock, in nanoseconds.
    case acceptClock(offset: Int64, entry: [UInt8], at: Int64)

    /// The request's own time, in seconds since 1970; nil where it has none.
    var time: Int64? {
        switch self {
        case .decision(let decision, _): decision.now
        case .entry(_, let at), .acceptClock(_, _, let at): at
        case .revoke(let revocation): revocation.revokedAt
        case .lift, .keepClock: nil
        case .openChallenge(let request, _, _), .takeChallenge(let request): request.now
        }
    }
}

/// What became of a request.
enum WriteAnswer: Sendable {
    case outcome(DecisionOutcome)
    /// Whether it changed anything.
    case done(Bool)
}

typealias WriteResult = Result<WriteAnswer, StoreError>
