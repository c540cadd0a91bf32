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
        /// A device by its HU, which is the same whoever's token comes with it.
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

    /// Whether both are about the same thing, whatever else they say of it.
    package func isAboutTheSame(as other: Revocation) -> Bool {
        kind == other.kind && issuer == other.issuer && value == other.value
    }
}

/// Where revocations are kept. Nodes hold them in memory and ask again at intervals, which bounds how late one is heard of.
package protocol RevocationStore: Sendable {
    /// Adds a revocation durably; one of the same kind, issuer and value is replaced.
    func revoke(_ revocation: Revocation) async throws(StoreError)

    /// Takes one back; whether it was there. One whose end has come may have been forgotten.
    func lift(_ kind: Revocation.Kind, _ value: String, of issuer: String?) async throws(StoreError) -> Bool

    /// All that hold at `now`, which is before their ends, in no order. Kinds that only a newer version knows are left out.
    func revocations(at now: Int64) async throws(StoreError) -> [Revocation]
}

/// The numbers given out so that a sync report can prove that it is fresh, where all nodes know them.
package protocol ChallengeStore: Sendable {
    /// Keeps a challenge for its holder until `expiresAt`; whether it was kept.
    ///
    /// It is not where `limit` of the holder's are open already at `now`, or this same one is.
    func open(
        _ challenge: UInt64, for holder: Pseudonym, now: Int64, expiresAt: Int64, limit: Int
    ) async throws(StoreError) -> Bool

    /// Takes an open challenge of this holder away; whether there was one that is open at `now`.
    func take(_ challenge: UInt64, from holder: Pseudonym, now: Int64) async throws(StoreError) -> Bool
}
