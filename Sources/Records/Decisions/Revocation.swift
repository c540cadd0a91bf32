package import ContentKeys

/// Something that gives no licence any more (entitlement, section 4.6).
package struct Revocation: Hashable, Sendable {
    /// What is revoked. The raw values are stored, and never change.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case tokenID = "jti"
        /// A key id, which pins its issuer, so that it needs none beside it.
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

        /// Whether the value is a name that an issuer gave, and that another one may have given to something else.
        package var isIssuersOwn: Bool {
            switch self {
            case .tokenID, .subject, .device, .session: true
            case .signingKey, .issuer, .hardware, .content: false
            }
        }

        /// Whether the value tells of a person, so that it is kept under a pseudonym.
        package var isPersonal: Bool {
            switch self {
            case .subject, .hardware, .device: true
            case .tokenID, .signingKey, .issuer, .content, .session: false
            }
        }
    }

    package var kind: Kind
    /// Whose name the value is, for kinds that are an issuer's own; nil for all others.
    package var issuer: String?
    /// The text of an id, or for a personal kind its pseudonym in lower-case hex: 1 to 200 bytes of UTF-8.
    package var value: String
    /// When the entry may be forgotten, because what it names has ended; nil for never. Seconds since 1970.
    package var until: Int64?
    /// When it was made, in seconds since 1970.
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

/// What a revocation is known by. The kind is the stored word, which only a newer version may know.
package struct RevocationKey: Hashable, Sendable {
    package var kind: String
    /// Empty for kinds that are no issuer's own.
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

/// A part of all revocations, in the order of their keys.
package struct RevocationPage: Sendable {
    /// Without those of kinds that only a newer version knows.
    package var revocations: [Revocation]
    /// Behind what the next page begins; nil for the last page.
    package var next: RevocationKey?

    package init(_ revocations: [Revocation], next: RevocationKey?) {
        self.revocations = revocations
        self.next = next
    }
}

/// One change of what is revoked.
package enum RevocationChange: Hashable, Sendable {
    case revoked(Revocation)
    case lifted(Revocation.Kind, value: String, issuer: String?)
}

/// A place in a store's list of changes, whose numbers begin at 1 and have no gaps.
package struct RevocationPosition: Hashable, Sendable {
    /// Before the first change.
    package static let start = RevocationPosition(number: 0, mark: 0)

    package var number: Int64
    /// A random number of the change: it differs if the list is another one, as after a failover that lost its end.
    package var mark: Int64

    package init(number: Int64, mark: Int64) {
        self.number = number
        self.mark = mark
    }
}

/// What a store says of the changes behind a position.
package enum RevocationNews: Equatable, Sendable {
    /// In their order, and the position behind the last one. Changes of kinds that only a newer version knows are left
    /// out.
    case changes([RevocationChange], through: RevocationPosition, isComplete: Bool)
    /// The store does not have all changes behind the position any more: everything must be read again.
    case gap
}

/// Reads the changes behind a position from rows in the order of their numbers. The first row is the position's own,
/// which shows that the list is still the same; before the first change there is no such row.
package struct RevocationNewsReading {
    private let known: RevocationPosition
    private let limit: Int
    private var last: RevocationPosition
    private var changes: [RevocationChange] = []
    private var rowCount = 0
    private var hasGap = false

    /// The rows are at most one more than `limit`.
    package init(after known: RevocationPosition, limit: Int) {
        self.known = known
        self.limit = limit
        last = known
    }

    /// `change` is nil for one of a kind that only a newer version knows.
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

/// Where revocations are kept. Nodes hold them in memory and ask for changes at intervals, which bounds how late a node
/// hears of one.
///
/// A revocation whose end has come stays until the store has forgotten it, which is a change like any other.
package protocol RevocationStore: Sendable {
    /// Adds a revocation durably; one of the same kind, issuer and value is replaced.
    func revoke(_ revocation: Revocation) async throws(StoreError)

    /// Takes one back; whether it was there. One whose end has come may have been forgotten.
    func lift(_ kind: Revocation.Kind, _ value: String, of issuer: String?) async throws(StoreError) -> Bool

    /// The revocation of this kind, value and issuer; nil if nothing is revoked by it.
    func revocation(
        _ kind: Revocation.Kind, _ value: String, of issuer: String?
    ) async throws(StoreError) -> Revocation?

    /// At most `limit` revocations behind a key, or the first ones.
    func revocations(after key: RevocationKey?, limit: Int) async throws(StoreError) -> RevocationPage

    /// The revocations that were made last, the latest first.
    func newestRevocations(limit: Int) async throws(StoreError) -> [Revocation]

    /// The position behind the last change.
    func revocationPosition() async throws(StoreError) -> RevocationPosition

    /// At most `limit` changes behind a position.
    func revocationChanges(
        after position: RevocationPosition, limit: Int
    ) async throws(StoreError) -> RevocationNews
}

extension RevocationStore {
    /// All that hold at `now`, which is before their ends, in the order of their keys; `now` is in seconds since 1970.
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

/// Where an operator's change of what is revoked becomes durable together with the row of the ledger that tells of it:
/// both or neither.
package protocol RevocationRecords: Sendable {
    /// Revokes. Once this returns, the revocation outlives a power cut of this node, which from now on refuses.
    func revoke(_ revocation: Revocation, recording entry: LedgerEntry) async throws(StoreError)

    /// Lets all nodes know a revocation that `revoke` has taken; false if that cannot be done now and is done later.
    func share(_ revocation: Revocation) async -> Bool

    /// Takes a revocation back, on all nodes; whether it was there.
    func lift(_ revocation: Revocation, recording entry: LedgerEntry) async throws(StoreError) -> Bool
}

/// Revocations of one node that the store of all nodes has not taken yet. They outlive a restart.
package protocol PendingRevocations: Sendable {
    /// Keeps a revocation, and the row of the ledger that tells of it.
    func keep(_ revocation: Revocation, recording entry: LedgerEntry) async throws(StoreError)

    /// Drops a revocation that is still as it was kept.
    func drop(_ revocation: Revocation) async throws(StoreError)

    /// Drops a revocation however it was kept, if it is there, and writes the row of the ledger that tells of it.
    func drop(_ key: RevocationKey, recording entry: LedgerEntry) async throws(StoreError)

    func pendingRevocations() async throws(StoreError) -> [Revocation]
}

/// The numbers given out so that a sync report can prove that it is fresh, where all nodes know them.
package protocol ChallengeStore: Sendable {
    /// Keeps a challenge for its holder until `expiresAt`; whether it was kept.
    ///
    /// It is not noted if the holder has `limit` open ones at `now`, or has this one.
    func open(
        _ challenge: UInt64, for holder: Pseudonym, now: Int64, expiresAt: Int64, limit: Int
    ) async throws(StoreError) -> Bool

    /// Takes an open challenge of this holder away; whether there was one that is open at `now`.
    func take(_ challenge: UInt64, from holder: Pseudonym, now: Int64) async throws(StoreError) -> Bool
}
