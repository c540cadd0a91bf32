import Entitlements
import KeyCrypto
import PackagerAPI

extension ConfigurationLoader {
    /// Loads the packagers with their secrets and pinned certificates; returns nil if one of them cannot be loaded.
    ///
    /// Call it after all other secrets of requests have been loaded: none of them may also be a packager's secret.
    mutating func packagers() -> PackagerDirectory? {
        let configured = configuration.packagers
        guard !configured.isEmpty else { return .empty }
        let key: HMACSHA256Key
        do throws(CryptoError) {
            key = try HMACSHA256Key(SecretBytes.random(count: HMACSHA256Key.codeSize))
        } catch {
            report("packagers", .cryptography(error))
            return nil
        }
        let entries = configured.enumerated().map { entry($1, key, "packagers[\($0)]") }.compactMap(\.self)
        return entries.count == configured.count ? PackagerDirectory(entries, key: key) : nil
    }

    private mutating func entry(
        _ configured: Configuration.Packager, _ key: HMACSHA256Key, _ path: String
    ) -> PackagerDirectory.Entry? {
        let sources = [("secret", configured.secret), ("previousSecret", configured.previousSecret)]
        let given = sources.compactMap { field, source in source.map { (path: "\(path).\(field)", source: $0) } }
        let secrets = given.map { packagerSecret($0.source, key, $0.path) }.compactMap(\.self)
        let recipients = configured.recipients.enumerated().map { recipient($1, "\(path).recipients[\($0)]") }
            .compactMap(\.self)
        guard secrets.count == given.count, recipients.count == configured.recipients.count else { return nil }
        let packager = Packager(
            name: configured.name, scopes: configured.scopes,
            contents: configured.contents.map { ContentScope(Array($0)) }, recipients: recipients,
            requiresEncryptedDelivery: configured.requireEncryptedDelivery, rate: configured.rate,
            isDisabled: configured.isDisabled)
        return .init(
            packager, user: configured.user, secrets: secrets, certificates: Set(configured.clientCertificates))
    }

    /// Loads a secret that must have no other use: requests present no other secret like it, no token is signed with
    /// it, and it is not a token.
    private mutating func packagerSecret(
        _ source: SecretSource, _ key: HMACSHA256Key, _ path: String
    ) -> AuthenticatorDigest? {
        let before = knownSecrets
        guard let secret = adminToken(source, path) else { return nil }
        noteIfShort(secret, path)
        if let other = before.first(where: { $0.secret.bytes.isEqual(to: secret.bytes) }) {
            report(path, .duplicate(of: other.path))
            return nil
        }
        if secret.bytes.withWipedArray({ Token.isSpelled(by: $0) }) {
            report(path, .secretIsAToken)
            return nil
        }
        return digest(of: secret, key, path)
    }

    /// Loads a certificate to which keys may be encrypted.
    private mutating func recipient(_ source: SecretSource, _ path: String) -> Certificate? {
        guard let contents = publicFile(source, path) else { return nil }
        guard let found = contents.withWipedArray({ try? Certificate.parseAll($0) }), let certificate = found.first
        else {
            report(path, .notACertificate, about: contents)
            return nil
        }
        guard found.count == 1 else {
            report(path, .severalRecipients(count: found.count))
            return nil
        }
        let sizes = DeliveryRecipient.keyBits
        guard sizes.contains(certificate.keyBits) else {
            report(path, .keySizeOutOfRange(sizes, actual: certificate.keyBits))
            return nil
        }
        return certificate
    }
}
