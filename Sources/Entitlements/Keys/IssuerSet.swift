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

    package init(
        name: String, audience: String, dialect: TokenDialect = .jwt, keys: [VerificationKey],
        sealingKeys: [TokenSealingKey] = [], maximumLife: Int64? = nil, offlineByRight: Bool = false,
        contents: ContentScope? = nil
    ) {
        self.name = name
        self.audience = audience
        self.dialect = dialect
        self.keys = keys
        self.sealingKeys = sealingKeys
        self.maximumLife = maximumLife
        self.offlineByRight = offlineByRight
        self.contents = contents
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
