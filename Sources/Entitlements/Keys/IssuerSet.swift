import ByteCoding

/// An issuer whose tokens are accepted, and the rules for its tokens.
package struct Issuer: Sendable {
    /// The required value of `iss`.
    package let name: String
    /// The required value of `aud`, or of one of its elements.
    package let audience: String
    package let dialect: TokenDialect
    /// The keys that verify the tokens of this issuer only.
    package private(set) var keys: [VerificationKey]
    /// The keys that open this issuer's sealed tokens.
    package let sealingKeys: [TokenSealingKey]
    /// The longest life of a token in seconds, from `iat`, or from `nbf` without `iat`, to `exp`; nil for no limit.
    package let maximumLife: Int64?
    /// Whether a right for offline use leads to an offline license if the request does not name a use.
    package let offlineByRight: Bool
    /// The contents that its tokens may open; nil for all contents.
    package let contents: ContentScope?
    package private(set) var keySupply: KeySupply
    /// How many of `keys` are from the configuration. They come first.
    let configuredKeyCount: Int
    /// The IDs of keys that the issuer's URL has once called revoked, although it may not have them any more.
    private(set) var revokedKeyIDs: Set<String> = []

    /// Where the keys of an issuer come from.
    package enum KeySupply: Sendable {
        /// Only from the configuration.
        case configured
        /// Also from a URL, but those keys are not known now.
        case missing
        /// Also from a URL, and those keys are known.
        case fetched
    }

    package init(
        name: String, audience: String, dialect: TokenDialect = .jwt, keys: [VerificationKey],
        sealingKeys: [TokenSealingKey] = [], maximumLife: Int64? = nil, offlineByRight: Bool = false,
        contents: ContentScope? = nil, keySupply: KeySupply = .configured
    ) {
        self.name = name
        self.audience = audience
        self.dialect = dialect
        self.keys = keys
        self.sealingKeys = sealingKeys
        self.maximumLife = maximumLife
        self.offlineByRight = offlineByRight
        self.contents = contents
        self.keySupply = keySupply
        configuredKeyCount = keys.count
    }

    /// The same issuer with the keys of its URL. A configured key takes the place of a fetched key with its ID.
    fileprivate func adding(_ fetched: KeysAtURL) -> Issuer {
        let configured = Set(keys.map { Array($0.id.utf8) })
        var issuer = self
        issuer.keys += fetched.set?.keys.filter { !configured.contains(Array($0.id.utf8)) } ?? []
        issuer.keySupply = fetched.set == nil ? .missing : .fetched
        issuer.revokedKeyIDs = fetched.revokedIDs
        return issuer
    }
}

/// What is known of the keys at an issuer's URL.
package struct KeysAtURL: Sendable {
    /// The keys in use, if there are any.
    let set: JWKSet?
    /// The IDs of keys that the URL has once called revoked, and has not called anything else since.
    let revokedIDs: Set<String>

    package init(_ set: JWKSet?, revokedIDs: Set<String> = []) {
        self.set = set
        self.revokedIDs = revokedIDs
    }
}

/// Why a configuration of issuers is refused.
package enum IssuerSetError: Error, Equatable, Sendable {
    /// Two keys have this key ID, so that it does not pin one issuer and one algorithm.
    case duplicateKeyID(String)
    /// Two issuers have the same key, under these key IDs. Their tokens need not name them, so that one could be taken
    /// for the other.
    case duplicateKey(String, String)
    /// A key id is empty or has more than `VerificationKey.idSizeMaximum` bytes.
    case keyIDInvalid(String)
    /// An issuer's name or audience is empty; the text is the issuer's name.
    case nameEmpty(String)
    /// A maximum life is not positive; the text is the issuer's name.
    case maximumLifeNotPositive(String)
    /// The leeway is not between 0 and `IssuerSet.leewayMaximum` seconds.
    case leewayOutOfRange(Int64)
    /// An HS256 secret has fewer than `VerificationKey.secretSizeMinimum` bytes.
    case secretTooShort(size: Int)
    /// The configured HS256 secret is a key file or a public key.
    case secretIsAPublicKey
    /// The configured communication key of Axinom's dialect is not Base64.
    case communicationKeyNotBase64
    /// A file of keys is not a usable JSON Web Key Set.
    case keySet(JWKSetError)
    /// OpenSSL could not prepare a key.
    case cryptoFailed
}

/// All issuers of one configuration; a key id pins issuer, algorithm and key.
///
/// If several issuers have a key ID, the signature and `iss` decide. `KeyOwners` says who may use a key without `iss`.
package struct IssuerSet: Sendable {
    /// The leeway in seconds if none is configured.
    package static let leewayDefault: Int64 = 5
    /// The largest leeway that may be configured, in seconds.
    package static let leewayMaximum: Int64 = 60

    /// The difference in seconds that is allowed between the clocks of an issuer and this server, when `exp`, `nbf` and
    /// `iat` are checked.
    package let leeway: Int64

    /// The dialects of all issuers.
    let dialects: Set<TokenDialect>
    private(set) var issuers: [Issuer]
    /// Notes the tokens that name unknown keys, for the task that fetches keys. All sets of one configuration share it.
    package let unknownKeys: UnknownKeyNotes
    /// The dialects of the issuers whose URL has keys that are not known now.
    private var dialectsWithMissingKeys: Set<TokenDialect>

    /// The keys that several issuers have, because a URL publishes a key that another issuer has too.
    package private(set) var sharedKeys: [SharedKey] = []

    private(set) var entries: [[UInt8]: Entry]
    /// Keys from URLs whose ID is in `entries` too, because two issuers use the same ID. No issuer has a right to an
    /// ID: otherwise one could make the tokens of another one bad.
    private(set) var rivals: [[UInt8]: [Entry]]
    let sealingEntries: [UInt32: SealingEntry]

    struct Entry: Sendable {
        let issuer: Issuer
        let key: VerificationKey
        /// Whether the key is good only for tokens whose `iss` names the issuer, because it belongs to another issuer.
        /// In some dialects, all tokens must name their issuer anyway.
        let needsName: Bool

        init(_ issuer: Issuer, _ key: VerificationKey, isOwn: Bool = true) {
            self.issuer = issuer
            self.key = key
            needsName = !isOwn && !issuer.dialect.namesIssuer
        }
    }

    struct SealingEntry: Sendable {
        let issuer: Issuer
        let key: TokenSealingKey
    }

    /// Throws every case of `IssuerSetError` except those about secrets and key sets.
    package init(_ issuers: [Issuer], leeway: Int64 = leewayDefault) throws(IssuerSetError) {
        guard (0...Self.leewayMaximum).contains(leeway) else { throw .leewayOutOfRange(leeway) }
        var ids: Set<[UInt8]> = []
        var sealingEntries: [UInt32: SealingEntry] = [:]
        for issuer in issuers {
            try Self.check(issuer)
            for key in issuer.keys {
                guard (1...VerificationKey.idSizeMaximum).contains(key.id.utf8.count) else {
                    throw .keyIDInvalid(key.id)
                }
                guard ids.insert(Array(key.id.utf8)).inserted else { throw .duplicateKeyID(key.id) }
            }
            for key in issuer.sealingKeys {
                let previous = sealingEntries.updateValue(SealingEntry(issuer: issuer, key: key), forKey: key.id)
                guard previous == nil else { throw .duplicateKeyID("\(key.id)") }
            }
        }
        try Self.checkKeys(of: issuers)
        self.issuers = issuers
        dialects = Set(issuers.map(\.dialect))
        self.sealingEntries = sealingEntries
        self.leeway = leeway
        unknownKeys = UnknownKeyNotes()
        (entries, rivals) = Self.index(issuers, KeyOwners(issuers, order: nil))
        dialectsWithMissingKeys = Self.dialectsWithMissingKeys(issuers)
    }

    /// The places of the issuers that have no key in use at `now`, in seconds since 1970: each key is revoked, or was
    /// retired. Issuers whose keys come from a URL too are left out.
    package func withoutKeys(now: Int64) -> [(index: Int, name: String)] {
        issuers.enumerated().compactMap { index, issuer in
            guard case .configured = issuer.keySupply else { return nil }
            let states = issuer.keys.map(\.state) + issuer.sealingKeys.map(\.state)
            let isInUse = states.contains { $0.end.map { now < $0 } ?? true }
            return isInUse ? nil : (index, issuer.name)
        }
    }

    /// The same issuers with what is known of the keys at their URLs, by the indices of the issuers. This set has no
    /// keys of URLs yet. Without an `order`, all of them may have got their keys at the same time.
    package func adding(_ published: [Int: KeysAtURL], order: PublicationOrder? = nil) -> IssuerSet {
        var whole = self
        whole.issuers = issuers.enumerated().map { index, issuer in
            published[index].map { issuer.adding($0) } ?? issuer
        }
        let owners = KeyOwners(whole.issuers, order: order)
        whole.sharedKeys = owners.sharedKeys(of: whole.issuers)
        (whole.entries, whole.rivals) = Self.index(whole.issuers, owners)
        whole.dialectsWithMissingKeys = Self.dialectsWithMissingKeys(whole.issuers)
        return whole
    }

    private static func index(
        _ issuers: [Issuer], _ owners: KeyOwners
    ) -> (entries: [[UInt8]: Entry], rivals: [[UInt8]: [Entry]]) {
        var entries: [[UInt8]: Entry] = [:]
        var rivals: [[UInt8]: [Entry]] = [:]
        for issuer in issuers {
            for key in issuer.keys.prefix(issuer.configuredKeyCount) {
                entries[Array(key.id.utf8)] = Entry(issuer, key)
            }
        }
        for issuer in issuers {
            for key in issuer.keys.dropFirst(issuer.configuredKeyCount) {
                let id = Array(key.id.utf8)
                let entry = Entry(issuer, key, isOwn: owners.isOwn(key, of: issuer))
                if entries[id] == nil { entries[id] = entry } else { rivals[id, default: []].append(entry) }
            }
        }
        return (entries, rivals)
    }

    private static func dialectsWithMissingKeys(_ issuers: [Issuer]) -> Set<TokenDialect> {
        Set(issuers.filter { $0.keySupply == .missing }.map(\.dialect))
    }

    /// Whether any issuer has a key.
    package var hasKeys: Bool { !entries.isEmpty || !sealingEntries.isEmpty }

    /// The refusal of a token whose key ID no key has. `dialect` is nil if the token can be of any dialect.
    ///
    /// If keys are missing that could verify the token, the client must not throw the token away.
    func refusalOfUnknownKey(in dialect: TokenDialect?) -> EntitlementError {
        let isMissing =
            dialect.map { dialectsWithMissingKeys.contains($0) } ?? !dialectsWithMissingKeys.isEmpty
        return isMissing ? .keysUnavailable : .keyUnknown
    }

    /// Returns the first key with this ID, which is compared byte for byte.
    func entry(forKeyID keyID: String) -> Entry? {
        entries[Array(keyID.utf8)]
    }

    /// Returns the only key with this ID. Returns nil if no key has it, and if keys of several issuers have it.
    func onlyKey(forKeyID keyID: String) -> VerificationKey? {
        let id = Array(keyID.utf8)
        return rivals[id] == nil ? entries[id]?.key : nil
    }

    /// The sealing key with this number.
    func sealingEntry(forKeyID keyID: UInt32) -> SealingEntry? {
        sealingEntries[keyID]
    }

    /// Refuses a key that several issuers have if a token that it has signed need not name one of them.
    private static func checkKeys(of issuers: [Issuer]) throws(IssuerSetError) {
        var holders: [[UInt8]: (issuer: Issuer, keyID: String)] = [:]
        for issuer in issuers where !issuer.dialect.namesIssuer {
            for key in issuer.keys {
                let holder = holders[key.fingerprint] ?? (issuer, key.id)
                guard holder.issuer.name.hasSameUTF8(as: issuer.name) else {
                    throw .duplicateKey(holder.keyID, key.id)
                }
                holders[key.fingerprint] = holder
            }
        }
    }

    private static func check(_ issuer: Issuer) throws(IssuerSetError) {
        guard !issuer.name.isEmpty, !issuer.audience.isEmpty else { throw .nameEmpty(issuer.name) }
        if let maximumLife = issuer.maximumLife, maximumLife <= 0 { throw .maximumLifeNotPositive(issuer.name) }
    }
}
