import FairPlay
import KeyCrypto

extension ConfigurationLoader {
    /// Loads all credentials; returns nil if one of them cannot be loaded.
    mutating func credentials() -> CredentialSet? {
        let loaded = eachCredential()
        let credentials = loaded.compactMap(\.self)
        return credentials.count == loaded.count ? credentialSet(credentials) : nil
    }

    /// Loads the credentials in the order of the configuration. An element is nil if that credential cannot be loaded.
    mutating func eachCredential() -> [Credential?] {
        configuration.fairplay.credentials.enumerated().map { credential($1, "fairplay.credentials[\($0)]") }
    }

    /// Returns nil if two credentials have the same certificate hash, so that an SPC could be for either.
    mutating func credentialSet(_ credentials: [Credential]) -> CredentialSet? {
        do throws(CredentialError) {
            return try CredentialSet(credentials)
        } catch {
            report(error, at: "fairplay.credentials", names: configuration.fairplay.credentials.map(\.name))
            return nil
        }
    }

    private mutating func credential(_ configured: Configuration.Credential, _ path: String) -> Credential? {
        let pairs = pairs(of: configured, path)
        let ladder = ladder(configured.ladder, path)
        guard let pairs, let ladder else { return nil }
        do throws(CredentialError) {
            return try Credential(
                name: configured.name, stage: configured.stage, pair1024: pairs.small, pair2048: pairs.large,
                ladder: ladder, servesVersion3: configured.spcVersion3)
        } catch {
            report(error, at: path, names: [])
            return nil
        }
    }

    private mutating func ladder(_ configured: Configuration.Ladder, _ path: String) -> SessionKeyLadder? {
        switch configured {
        case .applicationSecret(let source):
            return ladder(.applicationSecret, source, "\(path).applicationSecret")
        case .fixedDASk(let source):
            let path = "\(path).fixedDASk"
            if !configuration.fairplay.allowTestCredentials { report(path, .testCredentialForbidden) }
            return ladder(.fixedDASk, source, path)
        case .module:
            // `modules` loads the files of the module.
            return .module(UnconnectedModule())
        }
    }

    private mutating func ladder(
        _ kind: ApplicationSecretKeyLadder.Kind, _ source: SecretSource, _ path: String
    ) -> SessionKeyLadder? {
        guard let secret = secret(source, size: ApplicationSecretKeyLadder.secretSize, path) else { return nil }
        do throws(CryptoError) {
            return .applicationSecret(try ApplicationSecretKeyLadder(kind, secret))
        } catch {
            report(path, .cryptography(error))
            return nil
        }
    }

    private mutating func report(_ error: CredentialError, at path: String, names: [String]) {
        switch error {
        case .noCertificate: report(path, .noneOf(["certificateBundle", "certificate1024", "certificate2048"]))
        case .wrongKeySize(let expected, let actual): report(path, .wrongKeySize(expected: expected, actual: actual))
        case .keyMismatch(let bits): report(path, .keyMismatch(certificate: "certificate\(bits)"))
        case .version3WithoutKey2048: report("\(path).spcVersion3", .incomplete(without: "certificate2048"))
        case .cryptography(let error): report(path, .cryptography(error))
        case .duplicateHash(let first, let second):
            let index = names.lastIndex(of: second)
            report(index.map { "\(path)[\($0)]" } ?? path, .sameCertificate(as: first))
        }
    }
}
