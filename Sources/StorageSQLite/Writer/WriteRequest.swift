import ContentKeys
import Records

/// A request to the writer.
enum WriteRequest: Sendable {
    /// An action on accounts. Its encoded ledger entry is written only if a decision was recorded, or if another
    /// action had an effect; nil if the ledger gets none.
    ///
    /// It is indirect, because a decision is large and the queue hands requests on by copies.
    indirect case account(AccountAction, entry: [UInt8]?, now: Int64)
    case entry([UInt8], at: Int64)
    /// Decisions or entries of one HTTP request, written in one transaction.
    case several([WriteRequest])
    /// A ledger entry, with the encoding of what its decision spends (`DecisionKeeping`).
    case keptEntry([UInt8], at: Int64, spending: [UInt8], mark: Int64?)
    case noteSettled([Int64], mark: Int64)
    case forgetKept(before: Int64)
    /// Writes a row without meaning, because the last writes failed.
    case tryToWrite
    /// `entry` is the encoded ledger entry of the change, as in the cases below; nil if the ledger gets none.
    case revoke(Revocation, entry: [UInt8]?)
    /// The entry is written only if the revocation was stored. The time is the entry's; nil if there is no entry.
    case lift(RevocationKey, entry: [UInt8]?, at: Int64?)
    case keepPending(Revocation, entry: [UInt8])
    /// Removes the pending revocation only if it has not been changed.
    case dropPending(Revocation)
    case dropAnyPending(RevocationKey, entry: [UInt8], at: Int64)
    case keepClock(ClockRecord)
    /// The offset is the wall clock minus the boot-time clock, in nanoseconds.
    case acceptClock(offset: Int64, entry: [UInt8], at: Int64)

    /// The request's own time, in seconds since 1970; nil if it has none.
    var time: Int64? {
        switch self {
        case .account(_, _, let now): now
        case .several(let requests): requests.compactMap(\.time).max()
        case .entry(_, let at), .keptEntry(_, let at, _, _), .acceptClock(_, _, let at): at
        case .revoke(let revocation, _), .keepPending(let revocation, _): revocation.revokedAt
        case .lift(_, _, let at): at
        case .dropPending, .noteSettled, .forgetKept, .tryToWrite, .keepClock: nil
        case .dropAnyPending(_, _, let at): at
        }
    }
}

/// The answer to a request.
enum WriteAnswer: Sendable {
    case account(AccountAnswer)
    /// Whether the request changed anything.
    case done(Bool)
    /// The request failed, and changed nothing. The others of its batch are not affected.
    case failed(StoreError)
    /// The answers in the order of the requests.
    case several([WriteAnswer])
}

extension WriteAnswer {
    /// The answer to an action on accounts.
    var ofAccount: AccountAnswer {
        get throws(StoreError) {
            switch self {
            case .account(let answer): return answer
            case .failed(let error): throw error
            case .done, .several: preconditionFailure("an action is answered as one")
            }
        }
    }
}

typealias WriteResult = Result<WriteAnswer, StoreError>
