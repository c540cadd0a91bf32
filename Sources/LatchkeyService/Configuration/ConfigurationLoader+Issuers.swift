import Entitlements
import KeyCrypto

extension ConfigurationLoader {
    /// All issuers, once every key could be loaded.
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

    private mutating func issuer(_ configured: Configuration.Issuer, _ path: String) -> Issuer? {
        let keys = configured.keys.enumerated().map { key($1, "\(path).keys[\($0)].key") }.compactMap(\.self)
        guard keys.count == configured.keys.count else { return nil }
        return Issuer(
            name: configured.issuer, audience: configured.audience, keys: keys,
            maximumLife: configured.maximumLife.components.seconds)
    }

    private mutating func key(_ configured: Configuration.IssuerKey, _ path: String) -> VerificationKey? {
        switch configured.algorithm {
        case .es256: es256Key(configured.key, path).map { VerificationKey(id: configured.kid, es256: $0) }
        case .hs256: hs256Key(configured, path)
        }
    }

    /// A public key; or a private one, of which the public part is used, so that one file can both mint and verify on a
    /// small set-up.
    private mutating func es256Key(_ source: SecretSource, _ path: String) -> ES256PublicKey? {
        guard let contents = publicFile(source, path) else { return nil }
        let key = contents.withWipedArray { bytes in try? ES256PublicKey(parsing: bytes) }
        return key ?? publicPart(ofPrivateKeyIn: source, path)
    }

    private mutating func publicPart(ofPrivateKeyIn source: SecretSource, _ path: String) -> ES256PublicKey? {
        guard let contents = secret(source, path) else { return nil }
        let key = contents.withWipedArray { bytes in try? ES256PrivateKey(parsing: bytes) }
        if key == nil { report(path, .notAVerificationKey) }
        return key?.publicKey
    }

    private mutating func hs256Key(_ configured: Configuration.IssuerKey, _ path: String) -> VerificationKey? {
        do throws(FileError) {
            let secret = try SecretFile.readSharedSecret(configured.key, environment: environment)
            do throws(IssuerSetError) {
                return try VerificationKey(id: configured.kid, hs256: secret)
            } catch {
                report(path, .issuer(error))
            }
        } catch {
            report(path, .file(error))
        }
        return nil
    }
}
