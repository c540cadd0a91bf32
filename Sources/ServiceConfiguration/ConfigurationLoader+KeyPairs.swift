import FairPlay
import KeyCrypto

extension ConfigurationLoader {
    /// The size of the longest passphrase that OpenSSL accepts, in bytes.
    private static let passphraseSizeMaximum = 1024

    /// Loads both pairs. A pair is nil if it is not configured. Returns nil if a problem was reported.
    mutating func pairs(
        of configured: Configuration.Credential, _ path: String
    ) -> (small: Credential.KeyPair?, large: Credential.KeyPair?)? {
        var reader = PrivateKeys(path: path)
        if let source = configured.privateKeyPassphrase {
            guard let passphrase = passphrase(source, "\(path).privateKeyPassphrase") else { return nil }
            reader.passphrase = passphrase
        }
        let problemCount = problems.count
        let pairs =
            switch configured.certificates {
            case .pairs(let small, let large):
                (
                    small: small.flatMap { pair($0, bits: 1024, &reader) },
                    large: large.flatMap { pair($0, bits: 2048, &reader) }
                )
            case .bundle(let bundle, let privateKey1024, let privateKey2048):
                bundledPairs(bundle, [(1024, privateKey1024), (2048, privateKey2048)], &reader)
            }
        guard problems.count == problemCount else { return nil }
        if reader.passphrase != nil, !reader.foundEncryptedKey {
            report("\(path).privateKeyPassphrase", .passphraseUnneeded)
            return nil
        }
        return pairs
    }

    /// The private keys of one credential while they are read.
    private struct PrivateKeys {
        let path: String
        var passphrase: SharedSecret?
        var foundEncryptedKey = false

        init(path: String) {
            self.path = path
        }
    }

    private mutating func pair(
        _ files: Configuration.KeyPair, bits: Int, _ keys: inout PrivateKeys
    ) -> Credential.KeyPair? {
        let name = "certificate\(bits)"
        let certificate = certificate(files.certificate, bits: bits, "\(keys.path).\(name)")
        let privateKey = privateKey(files.privateKey, bits: bits, &keys)
        guard let certificate, let privateKey else { return nil }
        return pair(certificate, privateKey, named: name, keys.path)
    }

    private mutating func bundledPairs(
        _ source: SecretSource, _ keyFiles: [(bits: Int, source: SecretSource)], _ keys: inout PrivateKeys
    ) -> (small: Credential.KeyPair?, large: Credential.KeyPair?) {
        let bundle = bundle(source, "\(keys.path).certificateBundle")
        var privateKeys: [RSAPrivateKey?] = []
        for file in keyFiles { privateKeys.append(privateKey(file.source, bits: file.bits, &keys)) }
        let certificates = [bundle?.certificate1024, bundle?.certificate2048]
        var pairs: [Credential.KeyPair?] = []
        for (certificate, privateKey) in zip(certificates, privateKeys) {
            guard let certificate, let privateKey else { continue }
            pairs.append(pair(certificate, privateKey, named: "certificateBundle", keys.path))
        }
        return pairs.count == 2 ? (pairs[0], pairs[1]) : (nil, nil)
    }

    /// Combines a certificate and its private key. `named` is the field of the certificate.
    private mutating func pair(
        _ certificate: Certificate, _ privateKey: RSAPrivateKey, named name: String, _ path: String
    ) -> Credential.KeyPair? {
        do throws(CredentialError) {
            return try Credential.KeyPair(certificate: certificate, privateKey: privateKey)
        } catch {
            report("\(path).privateKey\(certificate.keyBits)", .keyMismatch(certificate: name))
            return nil
        }
    }

    private mutating func certificate(_ source: SecretSource, bits: Int, _ path: String) -> Certificate? {
        guard let contents = publicFile(source, path) else { return nil }
        do throws(CryptoError) {
            let certificates = try contents.withWipedArray { bytes throws(CryptoError) in
                try Certificate.parseAll(bytes)
            }
            let certificate = certificates[0]
            if certificates.count > 1 {
                report(path, .severalCertificates(count: certificates.count))
            } else if certificate.keyBits != bits {
                report(path, .wrongKeySize(expected: bits, actual: certificate.keyBits))
            } else {
                return certificate
            }
        } catch {
            report(path, .notACertificate)
        }
        return nil
    }

    private mutating func bundle(_ source: SecretSource, _ path: String) -> CertificateBundle? {
        guard let contents = publicFile(source, path) else { return nil }
        do throws(CertificateBundleError) {
            return try contents.withWipedArray { bytes throws(CertificateBundleError) in
                try CertificateBundle(parsing: bytes)
            }
        } catch {
            report(path, .notACertificateBundle(error))
            return nil
        }
    }

    private mutating func privateKey(_ source: SecretSource, bits: Int, _ keys: inout PrivateKeys) -> RSAPrivateKey? {
        let path = "\(keys.path).privateKey\(bits)"
        guard let contents = secret(source, path) else { return nil }
        do throws(CryptoError) {
            let passphrase = keys.passphrase
            let key = try contents.withWipedArray { bytes throws(CryptoError) in
                try RSAPrivateKey(parsing: bytes, passphrase: passphrase)
            }
            if key.wasEncrypted { keys.foundEncryptedKey = true }
            if key.modulusSize * 8 == bits { return key }
            report(path, .wrongKeySize(expected: bits, actual: key.modulusSize * 8))
        } catch {
            switch error {
            case .passphraseMissing: report(path, .passphraseMissing)
            case .passphraseWrong: report(path, .passphraseWrong)
            case .notAKey, .notACertificate, .authenticationFailed, .wrongSize: report(path, .notAPrivateKey)
            case .operationFailed, .randomnessUnavailable: report(path, .cryptography(error))
            }
        }
        return nil
    }

    private mutating func passphrase(_ source: SecretSource, _ path: String) -> SharedSecret? {
        guard let contents = secret(source, path) else { return nil }
        let passphrase = contents.withoutLineEnd()
        guard let passphrase, passphrase.count <= Self.passphraseSizeMaximum, passphrase.isOneLine else {
            report(path, .notAPassphrase)
            return nil
        }
        return SharedSecret(passphrase)
    }
}
