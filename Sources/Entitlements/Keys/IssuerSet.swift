/// An issuer whose tokens are accepted, and the rules for its tokens.
package struct Issuer: Sendable {
    /// The required value of `iss`.
    package let name: String
    /// The required value of `aud`, or of one of its elements.
    package let audience: String
    package let dialect: TokenDialect
    /// The keys that verify the tokens of this issuer only.
    package let keys: [VerificationKey]
    /// The keys that open this issuer's sealed tokens.
    package let sealingKeys: [TokenSealingKey]
    /// The longest life of a token in seconds, from `iat`, or from `nbf` without `iat`, to `exp`; nil for no limit.
    package let maximumLife: Int64?
    /// Whether a right for offline use leads to an offline licence if the request does not name a use.
    package let offlineByRight: Bool
    /// The contents that its tokens may open; nil for all contents.
    package let contents: ContentScope?
    package let keySupply: KeySupply

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
    }

    /// The same issuer with the keys of its URL. A configured key takes the place of a fetched key with its ID.
    fileprivate func adding(_ fetched: JWKSet) -> Issuer {
        let configured = Set(keys.map { Array($0.id.utf8) })
        return Issuer(
            name: name, audience: audience, dialect: dialect,
            keys: keys + fetched.keys.filter { !configured.contains(Array($0.id.utf8)) }, sealingKeys: sealingKeys,
            maximumLife: maximumLife, offlineByRight: offlineByRight, contents: contents, keySupply: .fetched)
    }
}

/// Why a configuration of issuers is refused.
package enum IssuerSetError: Error, Equatable, Sendable {
    /// Two keys have this key ID, so that it does not pin one issuer and one algorithm.
    case duplicateKeyID(String)
    /// A key id is empty or has more than `Token.keyIDSizeMaximum` bytes.
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
    let issuers: [Issuer]
    /// Notes the tokens that name unknown keys, for the task that fetches keys. All sets of one configuration share it.
    package let unknownKeys: UnknownKeyNotes
    /// The dialects of the issuers whose URL has keys that are not known now.
    private let dialectsWithMissingKeys: Set<TokenDialect>

    private let entries: [[UInt8]: Entry]
    private let sealingEntries: [UInt32: SealingEntry]

    struct Entry: Sendable {
        let issuer: Issuer
        let key: VerificationKey
    }

    struct SealingEntry: Sendable {
        let issuer: Issuer
        let key: TokenSealingKey
    }

    /// Throws every case of `IssuerSetError` except those about secrets and key sets.
    package init(_ issuers: [Issuer], leeway: Int64 = leewayDefault) throws(IssuerSetError) {
        try self.init(issuers, leeway, UnknownKeyNotes())
    }

    /// The same issuers with the keys that were fetched for some of them, by the indices of the issuers.
    ///
    /// Throws `duplicateKeyID` if two keys then have the same key ID.
    package func adding(_ fetched: [Int: JWKSet]) throws(IssuerSetError) -> IssuerSet {
        try IssuerSet(
            issuers.enumerated().map { index, issuer in fetched[index].map { issuer.adding($0) } ?? issuer }, leeway,
            unknownKeys)
    }

    private init(
        _ issuers: [Issuer], _ leeway: Int64, _ unknownKeys: UnknownKeyNotes
    ) throws(IssuerSetError) {
        guard (0...Self.leewayMaximum).contains(leeway) else { throw .leewayOutOfRange(leeway) }
        var entries: [[UInt8]: Entry] = [:]
        var sealingEntries: [UInt32: SealingEntry] = [:]
        for issuer in issuers {
            try Self.check(issuer)
            for key in issuer.keys {
                guard (1...Token.keyIDSizeMaximum).contains(key.id.utf8.count) else { throw .keyIDInvalid(key.id) }
                let previous = entries.updateValue(Entry(issuer: issuer, key: key), forKey: Array(key.id.utf8))
                guard previous == nil else { throw .duplicateKeyID(key.id) }
            }
            for key in issuer.sealingKeys {
                let previous = sealingEntries.updateValue(SealingEntry(issuer: issuer, key: key), forKey: key.id)
                guard previous == nil else { throw .duplicateKeyID("\(key.id)") }
            }
        }
        self.entries = entries
        self.issuers = issuers
        dialects = Set(issuers.map(\.dialect))
        self.sealingEntries = sealingEntries
        self.leeway = leeway
        self.unknownKeys = unknownKeys
        dialectsWithMissingKeys = Set(issuers.filter { $0.keySupply == .missing }.map(\.dialect))
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

    /// Returns the key with this ID, which is compared byte for byte.
    func entry(forKeyID keyID: String) -> Entry? {
        entries[Array(keyID.utf8)]
    }

    /// The sealing key with this number.
    func sealingEntry(forKeyID keyID: UInt32) -> SealingEntry? {
        sealingEntries[keyID]
    }

    /// Returns the sealer for tokens in an issuer's name: it uses the active sealing key with the highest number.
    ///
    /// Returns nil if the issuer has no active sealing key.
    package func sealer(forIssuer name: String) -> TokenSealer? {
        let entries = sealingEntries.values.filter { $0.issuer.name == name && $0.key.state == .active }
        return entries.max { $0.key.id < $1.key.id }.map { TokenSealer($0.key) }
    }

    private static func check(_ issuer: Issuer) throws(IssuerSetError) {
        guard !issuer.name.isEmpty, !issuer.audience.isEmpty else { throw .nameEmpty(issuer.name) }
        if let maximumLife = issuer.maximumLife, maximumLife <= 0 { throw .maximumLifeNotPositive(issuer.name) }
    }
}
