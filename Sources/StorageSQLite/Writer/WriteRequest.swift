import ContentKeys
import Records

/// What the writer is asked to make durable.
enum WriteRequest: Sendable {
    /// With the encoding of its ledger entry, where the ledger is this node's.
    case decision(LicenseDecision, entry: [UInt8]?)
    case entry([UInt8], at: Int64)
    /// With what the decision spends (`DecisionKeeping`).
    case keptEntry([UInt8], at: Int64, spending: [UInt8], mark: Int64?)
    case noteSettled([Int64], mark: Int64)
    case forgetKept(before: Int64)
    /// Writes a row that means nothing, because the last writes failed.
    case tryToWrite
    case revoke(Revocation)
    case lift(Revocation.Kind, String, issuer: String?)
    case openChallenge(ChallengeRequest, expiresAt: Int64, limit: Int)
    case takeChallenge(ChallengeRequest)

    /// The request's own time, in seconds since 1970; nil where it has none.
    var time: Int64? {
        switch self {
        case .decision(let decision, _): decision.now
        case .entry(_, let at), .keptEntry(_, let at, _, _): at
        case .revoke(let revocation): revocation.revokedAt
        case .lift, .noteSettled, .forgetKept, .tryToWrite: nil
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
