import Entitlements
import KeyCrypto
import Licensing

extension ConfigurationLoader {
    /// Loads the customers with their secrets, and the keys of their issuers that seal tokens.
    mutating func expressPlay(_ issuers: IssuerSet) -> ExpressPlaySettings? {
        let configured = configuration.expressPlay
        guard let key = comparisonKey() else { return nil }
        var entries: [ExpressPlayCustomers.Entry] = []
        for (index, customer) in configured.customers.enumerated() {
            let path = "expressPlay.customers[\(index)]"
            guard let entry = entry(customer, path, issuers: issuers, key: key) else { continue }
            if let other = entries.firstIndex(where: { $0.authenticator.equals(entry.authenticator) }) {
                report("\(path).authenticator", .duplicate(of: "expressPlay.customers[\(other)].authenticator"))
            }
            entries.append(entry)
        }
        guard entries.count == configured.customers.count else { return nil }
        var sees: SEESSettings?
        if let configured = configured.sees {
            guard let settings = self.sees(configured, entries, key) else { return nil }
            sees = settings
        }
        return ExpressPlaySettings(
            customers: ExpressPlayCustomers(entries: entries),
            redeemURL: configured.redeemURL(under: configuration.publicURL) ?? "",
            redeemPaths: configured.redeemPaths, allowsKeysInURL: configured.allowKeysInURL, sees: sees)
    }

    private mutating func comparisonKey() -> HMACSHA256Key? {
        do throws(CryptoError) {
            return try HMACSHA256Key(SecretBytes.random(count: HMACSHA256Key.codeSize))
        } catch {
            report("expressPlay", .cryptography(error))
            return nil
        }
    }

    private mutating func entry(
        _ configured: Configuration.ExpressPlay.Customer, _ path: String, issuers: IssuerSet, key: HMACSHA256Key
    ) -> ExpressPlayCustomers.Entry? {
        let issuer = configuration.entitlement.issuers.first { $0.issuer == configured.issuer }
        let sealer = issuers.sealer(forIssuer: configured.issuer)
        if sealer == nil { report("\(path).issuer", .sealingKeyMissing) }
        let authenticator = authenticator(configured.authenticator, key, "\(path).authenticator")
        var otherAuthenticator: AuthenticatorDigest?
        if let other = configured.otherAuthenticator {
            guard let digest = self.authenticator(other, key, "\(path).otherAuthenticator") else { return nil }
            otherAuthenticator = digest
        }
        guard let issuer, let sealer, let authenticator else { return nil }
        var customer = ExpressPlayCustomer(
            name: configured.name, issuer: configured.issuer, sealer: sealer,
            lifeMaximum: issuer.maximumLife.components.seconds)
        customer.tokensPerDay = configured.tokensPerDay
        customer.rate = configured.rate
        customer.isDisabled = configured.isDisabled
        customer.contents = configured.contents.map { ContentScope(Array($0)) }
        return .init(customer: customer, authenticator: authenticator, otherAuthenticator: otherAuthenticator)
    }

    private mutating func sees(
        _ configured: Configuration.ExpressPlay.SEES, _ entries: [ExpressPlayCustomers.Entry], _ key: HMACSHA256Key
    ) -> SEESSettings? {
        var digest: AuthenticatorDigest?
        if let source = configured.authenticator {
            guard let read = authenticator(source, key, "expressPlay.sees.authenticator") else { return nil }
            digest = read
        }
        // Reading the configuration has checked that there is such a customer.
        guard let customer = entries.first(where: { $0.customer.name == configured.customer })?.customer else {
            return nil
        }
        return SEESSettings(
            customer: customer, authenticator: digest, clients: configured.clients,
            tokenLife: min(configured.tokenLife.components.seconds, customer.lifeMaximum),
            devicesMaximum: configured.devicesMaximum)
    }

    private mutating func authenticator(
        _ source: SecretSource, _ key: HMACSHA256Key, _ path: String
    ) -> AuthenticatorDigest? {
        guard let secret = adminToken(source, path) else { return nil }
        return digest(of: secret, key, path)
    }

    /// Nil, and a report, if OpenSSL fails.
    mutating func digest(
        of secret: SharedSecret, _ key: HMACSHA256Key, _ path: String
    ) -> AuthenticatorDigest? {
        do throws(CryptoError) {
            return try secret.bytes.withWipedArray { (text) throws(CryptoError) in
                try AuthenticatorDigest(of: text, key: key)
            }
        } catch {
            report(path, .cryptography(error))
            return nil
        }
    }
}
