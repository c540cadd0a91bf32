import FairPlay
import KeyCrypto

extension ConfigurationLoader {
    /// All credentials, once each of them could be loaded.
    mutating func credentials() -> CredentialSet? {
        let configured = configuration.fairplay.credentials
        let loaded = configured.enumerated().map { credential($1, "fairplay.credentials[\($0)]") }
        let credentials = loaded.compactMap(\.self)
        guard credentials.count == configured.count else { return nil }
        do throws(CredentialError) {
            return try CredentialSet(credentials)
        } catch {
            report(error, at: "fairplay.credentials", names: configured.map(\.name))
            return nil
        }
    }

    private mutating func credential(_ configured: Configuration.Credential, _ path: String) -> Credential? {
        let pair1024 = configured.pair1024.map { pair($0, bits: 1024, path) }
        let pair2048 = configured.pair2048.map { pair($0, bits: 2048, path) }
        let ladder = ladder(configured.secret, path)

        // A pair that is configured and could not be loaded is `.some(nil)`, and was reported.
        if case .some(.none) = pair1024 { return nil }
        if case .some(.none) = pair2048 { return nil }
        guard let ladder else { return nil }
        do throws(CredentialError) {
            return try Credential(
                name: configured.name, pair1024: pair1024 ?? nil, pair2048: pair2048 ?? nil,
                ladder: .applicationSecret(ladder))
        } catch {
            report(error, at: path, names: [])
            return nil
        }
    }

    private mutating func pair(
        _ files: Configuration.KeyPair, bits: Int, _ path: String
    ) -> Credential.KeyPair? {
        let names = (certificate: "certificate\(bits)", privateKey: "privateKey\(bits)")
        let certificate = certificate(files.certificate, bits: bits, "\(path).\(names.certificate)")
        let privateKey = privateKey(files.privateKey, bits: bits, "\(path).\(names.privateKey)")

        guard let certificate, let privateKey else { return nil }
        do throws(CredentialError) {
            return try Credential.KeyPair(certificate: certificate, privateKey: privateKey)
        } catch {
            report("\(path).\(names.privateKey)", .keyMismatch(certificate: names.certificate))
            return nil
        }
    }

    private mutating func certificate(_ source: SecretSource, bits: Int, _ path: String) -> Certificate? {
        guard let contents = publicFile(source, path) else { return nil }
        do throws(CryptoError) {
            let certificate = try contents.withWipedArray { bytes throws(CryptoError) in
                try Certificate(parsing: bytes)
            }
            if certificate.keyBits == bits { return certificate }
            report(path, .wrongKeySize(expected: bits, actual: certificate.keyBits))
        } catch {
            report(path, .notACertificate)
        }
        return nil
    }

    private mutating func privateKey(_ source: SecretSource, bits: Int, _ path: String) -> RSAPrivateKey? {
        guard let contents = secret(source, path) else { return nil }
        do throws(CryptoError) {
            let key = try contents.withWipedArray { bytes throws(CryptoError) in try RSAPrivateKey(parsing: bytes) }
            if key.modulusSize * 8 == bits { return key }
            report(path, .wrongKeySize(expected: bits, actual: key.modulusSize * 8))
        } catch {
            report(path, .notAPrivateKey)
        }
        return nil
    }

    private mutating func ladder(
        _ configured: Configuration.LadderSecret, _ path: String
    ) -> ApplicationSecretKeyLadder? {
        let (kind, name): (ApplicationSecretKeyLadder.Kind, String) =
            switch configured {
            case .applicationSecret: (.applicationSecret, "applicationSecret")
            case .fixedDASk: (.fixedDASk, "fixedDASk")
            }
        if case .fixedDASk = configured, !configuration.fairplay.allowTestCredentials {
            report("\(path).\(name)", .testCredentialForbidden)
        }
        let size = ApplicationSecretKeyLadder.secretSize
        guard let secret = secret(configured.source, size: size, "\(path).\(name)") else { return nil }
        do throws(CryptoError) {
            return try ApplicationSecretKeyLadder(kind, secret)
        } catch {
            report("\(path).\(name)", .cryptography(error))
            return nil
        }
    }

    private mutating func report(_ error: CredentialError, at path: String, names: [String]) {
        switch error {
        case .noCertificate: report(path, .noneOf(["certificate1024", "certificate2048"]))
        case .wrongKeySize(let expected, let actual): report(path, .wrongKeySize(expected: expected, actual: actual))
        case .keyMismatch(let bits): report(path, .keyMismatch(certificate: "certificate\(bits)"))
        case .version3WithoutKey2048: preconditionFailure("version 3 cannot be configured yet")
        case .cryptography(let error): report(path, .cryptography(error))
        case .duplicateHash(let first, let second):
            let index = names.lastIndex(of: second)
            report(index.map { "\(path)[\($0)]" } ?? path, .sameCertificate(as: first))
        }
    }
}
