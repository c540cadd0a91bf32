package import HTTPCalls
package import KeyCrypto
package import Licensing

/// The settings of a call-back service, with the contents of its files.
package struct CallbackMaterial: Sendable {
    package let settings: CallbackDecider.Settings
    package let calls: HTTPCallSettings
    /// The key that signs the questions; nil if only the connection proves who asks.
    package let secret: HMACSHA256Key?
}

extension ConfigurationLoader {
    /// Loads the files of the call-back service. Returns nil if a problem was reported, and if no service is
    /// configured.
    mutating func callback() -> CallbackMaterial? {
        guard let configured = configuration.entitlement.callback else { return nil }
        let path = "entitlement.callback"
        let secret = configured.secret.flatMap { callbackSecret($0, "\(path).secret") }
        let authorities = configured.authorities.flatMap { publicFile($0, "\(path).authorities") }
        let identity = configured.identity.flatMap { callbackIdentity($0, "\(path).identity") }
        var calls = HTTPCallSettings(url: configured.url.text, reach: configured.reach)
        calls.authorities = authorities?.revealed()
        calls.identity = identity
        calls.timeout = configured.timeout
        calls.callMaximum = configured.callMaximum
        calls.waitingMaximum = configured.waitingMaximum
        var settings = CallbackDecider.Settings(name: configured.name, sources: configured.sources)
        settings.failure = configured.failure
        settings.memory = configured.memory
        settings.breaker = configured.breaker
        settings.rate = configured.rate
        settings.ratePerAddress = configured.ratePerAddress
        return CallbackMaterial(settings: settings, calls: calls, secret: secret)
    }

    private mutating func callbackSecret(_ source: SecretSource, _ path: String) -> HMACSHA256Key? {
        guard let secret = sharedSecret(source, path) else { return nil }
        guard secret.count >= HMACSHA256Key.codeSize else {
            report(path, .notASecret(size: HMACSHA256Key.codeSize))
            return nil
        }
        do throws(CryptoError) {
            return try HMACSHA256Key(secret)
        } catch {
            report(path, .cryptography(error))
            return nil
        }
    }

    private mutating func callbackIdentity(
        _ files: Configuration.KeyPair, _ path: String
    ) -> HTTPCallSettings.Identity? {
        guard let certificates = publicFile(files.certificate, "\(path).certificate"),
            let privateKey = secret(files.privateKey, "\(path).privateKey")
        else { return nil }
        return HTTPCallSettings.Identity(
            certificates: SharedSecret(certificates), privateKey: SharedSecret(privateKey))
    }
}
