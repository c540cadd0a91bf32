import ByteCoding

extension IssuerSet {
    /// Returns the key with this ID that a token names, and its issuer. `dialect` limits the search to its issuers.
    ///
    /// If several issuers have such a key, it is the one that has signed the token. If they have the same key, `iss`
    /// says whose token it is. Without `iss`, the key is good only for the issuer that it belongs to. `iss` is not
    /// verified here: it only finds the issuer, whose rules the token must then meet.
    func entry(forKeyID keyID: String, of token: Token, in dialect: TokenDialect? = nil) -> Entry? {
        guard let first = entry(forKeyID: keyID) else { return nil }
        let isWanted = { (entry: Entry) in dialect.map { $0 == entry.issuer.dialect } ?? true }
        let others = rivals.isEmpty ? [] : rivals[Array(keyID.utf8)] ?? []
        guard !others.isEmpty || first.needsName else { return isWanted(first) ? first : nil }
        let claims = try? TokenPayload.read(token)
        let name = claims?["iss"]?.string
        let isNamed = { (entry: Entry) in name.map { $0.hasSameUTF8(as: entry.issuer.name) } ?? false }
        let candidates = ([first] + others).filter { isWanted($0) && (!$0.needsName || isNamed($0)) }
        let signers = candidates.filter {
            $0.key.algorithm == token.algorithm && $0.key.isValidSignature(of: token)
        }
        let isMeant = { (entry: Entry) in
            claims.map { (try? TokenPayload.check($0, against: entry.issuer, keyID: entry.key.id)) != nil } ?? false
        }
        return signers.first(where: isMeant) ?? signers.first(where: isNamed) ?? signers.first
            ?? candidates.first(where: isNamed) ?? candidates.first
    }

    /// Returns the keys with the algorithm of a token without `kid`, of the issuer that it names in `iss`.
    ///
    /// Entries of one issuer name are one issuer. Axinom's are left out: those tokens name their key in the payload.
    func entries(named name: String, _ algorithm: SigningAlgorithm) -> [Entry] {
        issuers.filter { $0.dialect != .axinom && $0.name.hasSameUTF8(as: name) }.flatMap { issuer in
            issuer.keys.filter { $0.algorithm == algorithm }.map { Entry(issuer, $0) }
        }
    }

    /// The dialects in which keys of an issuer are missing now.
    func missingDialects(ofIssuer name: String) -> Set<TokenDialect> {
        Set(issuers.filter { $0.keySupply == .missing && $0.name.hasSameUTF8(as: name) }.map(\.dialect))
    }

    /// Returns the sealer for tokens in an issuer's name: it uses the active sealing key with the highest number.
    ///
    /// Returns nil if the issuer has no active sealing key.
    package func sealer(forIssuer name: String) -> TokenSealer? {
        let entries = sealingEntries.values.filter { $0.issuer.name == name && $0.key.state == .active }
        return entries.max { $0.key.id < $1.key.id }.map { TokenSealer($0.key) }
    }
}
