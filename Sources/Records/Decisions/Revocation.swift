package import ContentKeys

/// Something for which no more licenses are issued (entitlement, section 4.6).
package struct Revocation: Hashable, Sendable {
    /// What is revoked. The raw values are stored, and never change.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case tokenID = "jti"
        /// A key id. Each key belongs to one issuer, so the revocation names no issuer.
        case signingKey = "kid"
        case issuer = "iss"
        case subject = "sub"
        /// A device by its HU, which is the same with every token.
        case hardware = "hu"
        /// A device by the issuer's own name for it.
        case device
        /// A content id or a key id.
        case content
        case session

        /// Whether the value is a name that an issuer chose. Another issuer may use the same name for something else.
        package var isIssuersOwn: Bool {
            switch self {
            case .tokenID, .subject, .device, .session: true
            case .signingKey, .issuer, .hardware, .content: false
            }
        }

        /// Whether the value identifies a person, so that it is stored as a pseudonym.
        package var isPersonal: Bool {
            switch self {
            case .subject, .hardware, .device: true
            case .tokenID, .signingKey, .issuer, .content, .session: false
            }
        }
    }

    package var kind: Kind
    /// The issuer that chose the name, for kinds with `isIssuersOwn`; nil for all others.
    package var issuer: String?
    /// The text of an id, or the pseudonym of a personal kind in lower-case hexadecimal digits: 1 to 200 bytes of
    /// UTF-8.
    package var value: String
    /// When the revocation may be forgotten, because the revoked thing has ended; nil if never. Seconds since 1970.
    package var until: Int64?
    /// When the revocation was made, in seconds since 1970.
    package var revokedAt: Int64
    /// The operator's note, at most 200 bytes.
    package var reason: String

    package static let valueSizeMaximum = 200
    package static let reasonSizeMaximum = 200

    package init(
        kind: Kind, issuer: String? = nil, value: String, until: Int64?, revokedAt: Int64, reason: String
    ) {
        self.kind = kind
        self.issuer = issuer
        self.value = value
        self.until = until
        self.revokedAt = revokedAt
        self.reason = reason
    }
}

/// Identifies a revocation. The kind is the stored word, which may be known only to a newer version.
package struct RevocationKey: Hashable, Sendable {
    package var kind: String
    /// The issuer; empty for kinds without `isIssuersOwn`.
    package var issuer: String
    package var value: String

    package init(kind: String, issuer: String, value: String) {
        self.kind = kind
        self.issuer = issuer
        self.value = value
    }

    package init(_ revocation: Revocation) {
        self.init(kind: revocation.kind.rawValue, issuer: revocation.issuer ?? "", value: revocation.value)
    }
}

/// A page of all revocations, in the order of their keys.
package struct RevocationPage: Sendable {
    /// The revocations, without kinds that only a newer version knows.
    package var revocations: [Revocation]
    /// The key after which the next page starts; nil for the last page.
    package var next: RevocationKey?

    package init(_ revocations: [Revocation], next: RevocationKey?) {
        self.revocations = revocations
        self.next = next
    }
}

/// One change of the stored revocations.
package enum RevocationChange: Hashable, Sendable {
    case revoked(Revocation)
    case lifted(Revocation.Kind, value: String, issuer: String?)
}

/// A place in a store's list of changes, whose numbers begin at 1 and have no gaps.
package struct RevocationPosition: Hashable, Sendable {
    /// The position before the first change.
    package static let start = RevocationPosition(number: 0, mark: 0)

    package var number: Int64
    /// A random number of the change. It differs if the list has been replaced, for example after a failover that lost
    /// the list's end.
    package var mark: Int64

    package init(number: Int64, mark: Int64) {
        self.number = number
        self.mark = mark
    }
}

/// A store's answer about the changes after a position.
package enum RevocationNews: Equatable, Sendable {
    /// The changes in their order, and the position after the last one. Changes of kinds that only a newer version
    /// knows are left out.
    case changes([RevocationChange], through: RevocationPosition, isComplete: Bool)
    /// The store lacks some changes after the position, so all revocations must be read again.
    case gap
}

/// Collects the changes after a position from rows in the order of their numbers.
///
/// The first row is the position's own, which shows that the list is still the same. The position before the first
/// change has no such row.
package struct RevocationNewsReading {
    private let known: RevocationPosition
    private let limit: Int
    private var last: RevocationPosition
    private var changes: [RevocationChange] = []
    private var rowCount = 0
    private var hasGap = false

    /// Starts a reading of at most `limit + 1` rows.
    package init(after known: RevocationPosition, limit: Int) {
        self.known = known
        self.limit = limit
        last = known
    }

    /// Adds a row. `change` is nil if only a newer version knows its kind.
    package mutating func add(_ position: RevocationPosition, _ change: RevocationChange?) {
        rowCount += 1
        if position.number == known.number {
            hasGap = hasGap || position != known
        } else {
            hasGap = hasGap || position.number != last.number + 1 || (rowCount == 1 && known != .start)
            last = position
            if let change { changes.append(change) }
        }
    }

    package var news: RevocationNews {
        if hasGap || (rowCount == 0 && known != .start) { return .gap }
        return .changes(changes, through: last, isComplete: rowCount <= limit)
    }
}

/// Stores revocations.
///
/// Nodes hold them in memory and ask for changes at intervals. The interval limits the delay after which a node knows a
/// revocation. A revocation that has ended stays until the store deletes it, which is a change like any other.
package protocol RevocationStore: Sendable {
    /// Adds a revocation durably. Replaces a revocation of the same kind, issuer and value.
    func revoke(_ revocation: Revocation) async throws(StoreError)

    /// Lifts a revocation. Returns whether it was stored; a revocation that has ended may have been deleted.
    func lift(_ kind: Revocation.Kind, _ value: String, of issuer: String?) async throws(StoreError) -> Bool

    /// Returns the revocation of this kind, value and issuer; nil if there is none.
    func revocation(
        _ kind: Revocation.Kind, _ value: String, of issuer: String?
    ) async throws(StoreError) -> Revocation?

    /// Returns at most `limit` revocations after a key, or from the first one on.
    func revocations(after key: RevocationKey?, limit: Int) async throws(StoreError) -> RevocationPage

    /// Returns the newest revocations, the newest first.
    func newestRevocations(limit: Int) async throws(StoreError) -> [Revocation]

    /// Returns the position after the last change.
    func revocationPosition() async throws(StoreError) -> RevocationPosition

    /// Returns at most `limit` changes after a position.
    func revocationChanges(
        after position: RevocationPosition, limit: Int
    ) async throws(StoreError) -> RevocationNews
}

extension RevocationStore {
    /// Returns all revocations that have not ended at `now`, in the order of their keys; `now` is in seconds since
    /// 1970.
    package func revocations(at now: Int64) async throws(StoreError) -> [Revocation] {
        var found: [Revocation] = []
        var next: RevocationKey?
        repeat {
            let page = try await revocations(after: next, limit: 10_000)
            found += page.revocations.filter { revocation in revocation.until.map { now < $0 } ?? true }
            next = page.next
        } while next != nil
        return found
    }
}

/// Makes an operator's change of revocations durable together with its ledger entry: both or neither.
package protocol RevocationRecords: Sendable {
    /// Revokes. When this returns, the revocation is durable on this node, which refuses from now on.
    func revoke(_ revocation: Revocation, recording entry: LedgerEntry) async throws(StoreError)

    /// Sends a revocation that `revoke` has stored to all nodes. Returns false if that is not possible now and is done
    /// later.
    func share(_ revocation: Revocation) async -> Bool

    /// Lifts a revocation on all nodes. Returns whether it was stored.
    func lift(_ revocation: Revocation, recording entry: LedgerEntry) async throws(StoreError) -> Bool
}

/// Revocations of one node that are not yet in the store of all nodes. They are kept over a restart.
package protocol PendingRevocations: Sendable {
    /// Keeps a revocation, and writes its ledger entry.
    func keep(_ revocation: Revocation, recording entry: LedgerEntry) async throws(StoreError)

    /// Drops a revocation, unless it has been changed in the meantime.
    func drop(_ revocation: Revocation) async throws(StoreError)

    /// Drops the revocation of this key, if there is one, even if it was changed. Writes the ledger entry in any case.
    func drop(_ key: RevocationKey, recording entry: LedgerEntry) async throws(StoreError)

    func pendingRevocations() async throws(StoreError) -> [Revocation]
}

/// Stores the challenges for sync reports. With its challenge, a report proves to any node that it is fresh.
package protocol ChallengeStore: Sendable {
    /// Stores a challenge for its holder until `expiresAt`. Returns whether it was stored.
    ///
    /// A challenge is not stored if the holder has `limit` open ones at `now`, or has this one already.
    func open(
        _ challenge: UInt64, for holder: Pseudonym, now: Int64, expiresAt: Int64, limit: Int
    ) async throws(StoreError) -> Bool

    /// Removes a challenge of this holder. Returns whether it was stored and open at `now`.
    func take(_ challenge: UInt64, from holder: Pseudonym, now: Int64) async throws(StoreError) -> Bool
}
