package import Entitlements
package import KeyCrypto

extension ConfigurationLoader {
    /// Loads all issuers; returns nil if one of their keys cannot be loaded.
    mutating func issuers() -> IssuerSet? {
        let configured = configuration.entitlement.issuers
        let issuers = configured.enumerated().map { issuer($1, "entitlement.issuers[\($0)]") }.compactMap(\.self)
        guard issuers.count == configured.count else { return nil }
        do throws(IssuerSetError) {
            return try IssuerSet(issuers, leeway: configuration.entitlement.leeway.components.seconds)
        } catch {
            report("entitlement.issuers", .issuer(error))
            return nil
        }
    }

    /// Loads the keys of session tokens. Returns nil if a problem was reported, and if no session tokens are
    /// configured.
    mutating func sessionTokens() -> SessionTokens? {
        let path = "entitlement.sessions.key"
        guard let configured = configuration.entitlement.sessions, let key = hmacKey(configured.key, path) else {
            return nil
        }
        var retired: [HMACSHA256Key] = []
        for source in configured.retiredKeys {
            guard let key = hmacKey(source, "entitlement.sessions.retiredKeys") else { return nil }
            retired.append(key)
        }
        do throws(CryptoError) {
            return try SessionTokens(
                key: key, retired: retired, grace: configured.grace.components.seconds,
                maximumLife: configured.maximumLife.components.seconds)
        } catch {
            report(path, .cryptography(error))
            return nil
        }
    }

    private mutating func issuer(_ configured: Configuration.Issuer, _ path: String) -> Issuer? {
        var keys: [VerificationKey] = []
        var sealingKeys: [TokenSealingKey] = []
        for (index, key) in configured.keys.enumerated() {
            let keyPath = "\(path).keys[\(index)].key"
            if key.algorithm == .a256GCM {
                sealingKeys += [sealingKey(key, keyPath)].compactMap(\.self)
            } else {
                keys += [verificationKey(key, of: configured.dialect, keyPath)].compactMap(\.self)
            }
        }
        guard keys.count + sealingKeys.count == configured.keys.count else { return nil }
        if let file = configured.keysFile {
            guard let set = keySet(file, "\(path).keysFile") else { return nil }
            keys += set.keys
        }
        return Issuer(
            name: configured.issuer, audience: configured.audience, dialect: configured.dialect, keys: keys,
            sealingKeys: sealingKeys, maximumLife: configured.maximumLife.components.seconds,
            offlineByRight: configured.offlineByRight, contents: configured.contents.map { ContentScope(Array($0)) },
            keySupply: configured.keysURL == nil ? .configured : .missing)
    }

    /// Reads a JSON Web Key Set. If it has shared secrets, its file must have the permissions of a secret's file.
    private mutating func keySet(_ source: SecretSource, _ path: String) -> JWKSet? {
        guard let contents = publicFile(source, path) else { return nil }
        do throws(JWKSetError) {
            let set = try JWKSet(parsing: contents)
            if set.holdsSecrets, secret(source, path) == nil { return nil }
            return set
        } catch {
            report(path, .issuer(.keySet(error)))
            return nil
        }
    }

    // MARK: Single keys

    private mutating func verificationKey(
        _ configured: Configuration.IssuerKey, of dialect: TokenDialect, _ path: String
    ) -> VerificationKey? {
        let (source, id, state) = (configured.key, configured.kid, configured.state)
        switch configured.algorithm {
        case .es256:
            return publicKey(source, path, for: configured.algorithm) { try? ES256PublicKey(parsing: $0) }
                .map { VerificationKey(id: id, es256: $0, state: state) }
        case .edDSA:
            return publicKey(source, path, for: configured.algorithm) { try? Ed25519PublicKey(parsing: $0) }
                .map { VerificationKey(id: id, edDSA: $0, state: state) }
        case .rs256:
            return publicKey(source, path, for: configured.algorithm) { try? RS256PublicKey(parsing: $0) }
                .map { VerificationKey(id: id, rs256: $0, state: state) }
        case .hs256: return hs256Key(configured, of: dialect, path)
        case .a256GCM: return nil
        }
    }

    /// Reads a public key from a file with any permissions. A private key is refused, because a thief of it can make
    /// tokens.
    private mutating func publicKey<Key>(
        _ source: SecretSource, _ path: String, for algorithm: Configuration.KeyAlgorithm, _ parse: ([UInt8]) -> Key?
    ) -> Key? {
        guard let contents = publicFile(source, path) else { return nil }
        if let key = contents.withWipedArray(parse) { return key }
        let isPrivate = contents.withWipedArray { bytes in
            (try? ES256PrivateKey(parsing: bytes)) != nil || (try? Ed25519PrivateKey(parsing: bytes)) != nil
                || (try? RSAPrivateKey(parsing: bytes)) != nil
        }
        if isPrivate {
            report(path, .privateKeyForVerifying)
        } else {
            report(path, .notAVerificationKey(algorithm), about: contents)
        }
        return nil
    }

    private mutating func hs256Key(
        _ configured: Configuration.IssuerKey, of dialect: TokenDialect, _ path: String
    ) -> VerificationKey? {
        guard let spelled = sharedSecret(configured.key, path) else { return nil }
        guard let secret = dialect.sharedSecret(spelled: spelled) else {
            report(path, .issuer(.communicationKeyNotBase64))
            return nil
        }
        do throws(IssuerSetError) {
            return try VerificationKey(id: configured.kid, hs256: secret, state: configured.state)
        } catch {
            report(path, .issuer(error))
            return nil
        }
    }

    private mutating func sealingKey(_ configured: Configuration.IssuerKey, _ path: String) -> TokenSealingKey? {
        guard let id = UInt32(configured.kid), let key = secret(configured.key, size: AES256GCMKey.keySize, path) else {
            return nil
        }
        do throws(CryptoError) {
            return TokenSealingKey(id: id, key: try AES256GCMKey(key), state: configured.state)
        } catch {
            report(path, .cryptography(error))
            return nil
        }
    }
}

extension LoadedConfiguration {
    /// Reads only the keys of the issuers, for tools that need nothing else of a configuration. Throws like `load`.
    package static func loadIssuers(
        _ file: ConfigurationFile, environment: [String: String]
    ) throws(ConfigurationError) -> IssuerSet {
        var loader = ConfigurationLoader(file, environment: environment)
        guard let issuers = loader.issuers() else { throw loader.error ?? .invalid(path: file.path, []) }
        return issuers
    }
}

extension TokenDialect {
    /// The HS256 secret in the text of a file.
    ///
    /// It is the text itself, except for Axinom: its communication keys are in Base64, and it signs with the decoded
    /// bytes. Returns nil if such a key is not Base64.
    package func sharedSecret(spelled: borrowing SecretBytes) -> SecretBytes? {
        self == .axinom ? EncodedSecret.decodeBase64(spelled) : spelled.copy()
    }
}
