import FairPlay
import KeyCrypto

extension ConfigurationLoader {
    /// The size of the longest passphrase that OpenSSL accepts, in bytes.
    private static let passphraseSizeMaximum = 1024

    /// Loads both pairs. A pair is nil if it is not configured. Returns nil if a problem was reported.
    mutating func pairs(
        of configured: Configuration.Credential, _ certificates: Configuration.CertificateFiles, _ path: String
    ) -> (small: Credential.KeyPair?, large: Credential.KeyPair?)? {
        guard var keys = privateKeys(of: configured, path) else { return nil }
        let problemCount = problems.count
        let pairs =
            switch certificates {
            case .pairs(let small, let large):
                (
                    small: small.flatMap { pair($0, bits: 1024, &keys) },
                    large: large.flatMap { pair($0, bits: 2048, &keys) }
                )
            case .bundle(let bundle, let privateKey1024, let privateKey2048):
                bundledPairs(bundle, [(1024, privateKey1024), (2048, privateKey2048)], &keys)
            }
        guard problems.count == problemCount, isPassphraseNeeded(by: keys) else { return nil }
        return pairs
    }

    /// The private keys of one credential while they are read.
    struct PrivateKeys {
        /// The path of the credential.
        let path: String
        fileprivate var passphrase: SharedSecret?
        fileprivate var foundEncryptedKey = false
    }

    /// Loads the passphrase of the private keys, if the credential names one.
    mutating func privateKeys(of configured: Configuration.Credential, _ path: String) -> PrivateKeys? {
        guard let source = configured.privateKeyPassphrase else { return PrivateKeys(path: path) }
        return passphrase(source, "\(path).privateKeyPassphrase").map { PrivateKeys(path: path, passphrase: $0) }
    }

    /// Reports a passphrase that has opened no private key. To be called after all keys have been read.
    mutating func isPassphraseNeeded(by keys: PrivateKeys) -> Bool {
        guard keys.passphrase != nil, !keys.foundEncryptedKey else { return true }
        report("\(keys.path).privateKeyPassphrase", .passphraseUnneeded)
        return false
    }

    private mutating func pair(
        _ files: Configuration.KeyPair, bits: Int, _ keys: inout PrivateKeys
    ) -> Credential.KeyPair? {
        let name = "certificate\(bits)"
        let keyPath = "\(keys.path).privateKey\(bits)"
        let certificate = certificate(files.certificate, bits: bits, "\(keys.path).\(name)")
        let privateKey = privateKey(files.privateKey, bits: bits, &keys, keyPath)
        guard let certificate, let privateKey else { return nil }
        return pair(certificate, privateKey, named: name, keyPath)
    }

    private mutating func bundledPairs(
        _ source: SecretSource, _ keyFiles: [(bits: Int, source: SecretSource)], _ keys: inout PrivateKeys
    ) -> (small: Credential.KeyPair?, large: Credential.KeyPair?) {
        let bundle = bundle(source, "\(keys.path).certificateBundle")
        var privateKeys: [RSAPrivateKey?] = []
        for file in keyFiles {
            privateKeys.append(
                privateKey(file.source, bits: file.bits, &keys, "\(keys.path).privateKey\(file.bits)"))
        }
        let certificates = [bundle?.certificate1024, bundle?.certificate2048]
        var pairs: [Credential.KeyPair?] = []
        for (certificate, privateKey) in zip(certificates, privateKeys) {
            guard let certificate, let privateKey else { continue }
            let keyPath = "\(keys.path).privateKey\(certificate.keyBits)"
            pairs.append(pair(certificate, privateKey, named: "certificateBundle", keyPath))
        }
        return pairs.count == 2 ? (pairs[0], pairs[1]) : (nil, nil)
    }

    /// Combines a certificate and its private key. `named` is the field of the certificate, and `path` that of the key.
    mutating func pair(
        _ certificate: Certificate, _ privateKey: RSAPrivateKey, named name: String, _ path: String
    ) -> Credential.KeyPair? {
        do throws(CredentialError) {
            return try Credential.KeyPair(certificate: certificate, privateKey: privateKey)
        } catch {
            report(path, .keyMismatch(certificate: name))
            return nil
        }
    }

    private mutating func certificate(_ source: SecretSource, bits: Int, _ path: String) -> Certificate? {
        guard let certificates = certificates(source, path) else { return nil }
        let certificate = certificates[0]
        if certificates.count > 1 {
            report(path, .severalCertificates(count: certificates.count))
        } else if certificate.keyBits != bits {
            report(path, .wrongKeySize(expected: bits, actual: certificate.keyBits))
        } else {
            return certificate
        }
        return nil
    }

    /// Reads all certificates of a file, at least one.
    mutating func certificates(_ source: SecretSource, _ path: String) -> [Certificate]? {
        guard let contents = publicFile(source, path) else { return nil }
        do throws(CryptoError) {
            return try contents.withWipedArray { bytes throws(CryptoError) in try Certificate.parseAll(bytes) }
        } catch {
            report(path, .notACertificate, about: contents)
            return nil
        }
    }

    private mutating func bundle(_ source: SecretSource, _ path: String) -> CertificateBundle? {
        guard let contents = publicFile(source, path) else { return nil }
        do throws(CertificateBundleError) {
            return try contents.withWipedArray { bytes throws(CertificateBundleError) in
                try CertificateBundle(parsing: bytes)
            }
        } catch {
            report(path, .notACertificateBundle(error), about: contents)
            return nil
        }
    }

    /// Reads a private key, with the passphrase of the credential if the key is encrypted.
    mutating func privateKey(
        _ source: SecretSource, bits: Int, _ keys: inout PrivateKeys, _ path: String
    ) -> RSAPrivateKey? {
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
            case .notAKey, .notACertificate, .authenticationFailed, .wrongSize:
                report(path, .notAPrivateKey, about: contents)
            case .operationFailed, .randomnessUnavailable: report(path, .cryptography(error))
            }
        }
        return nil
    }

    private mutating func passphrase(_ source: SecretSource, _ path: String) -> SharedSecret? {
        guard let contents = secret(source, path) else { return nil }
        let passphrase = contents.withoutLineEnd()
        guard let passphrase, passphrase.count <= Self.passphraseSizeMaximum, passphrase.isOneLine else {
            report(path, .notAPassphrase, about: contents)
            return nil
        }
        return SharedSecret(passphrase)
    }
}
