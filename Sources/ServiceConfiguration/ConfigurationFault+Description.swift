import CommandLineKit
import ContentKeys
import Entitlements
import FairPlay
import HTTPServing
import KeyCrypto
import StoragePostgreSQL

extension ConfigurationFault: CustomStringConvertible {
    /// What is wrong and what to do about it, in one line.
    package var description: String {
        switch self {
        case .unknownKey(let nearest):
            "there is no such field" + (nearest.map { "; did you mean \"\($0)\"?" } ?? "")
        case .retired(.renamed(let name)): "this field has the name \"\(name)\" now"
        case .retired(.fixed(let value)): "this is no field any more; remove it: the value is always \(value)"
        case .retired(.unneeded(let reason)): "this is no field any more; remove it: \(reason)"
        case .missing(let expected, let example): "required: \(expected), such as \(example)"
        case .wrongType(let found, let expected, let example):
            "expected \(expected), such as \(example), and found \(found.rawValue)"
        case .invalidValue(let expected, let example): "expected \(expected), such as \(example)"
        case .duplicate(let other): "the same as \(other); each must differ"
        case .sameAddress(let other):
            "the same address as \(other), or one that includes it; give each listener a port or a path of its own"
        case .pathsOverlap(let other): "some path fits this and \(other); a path must have one meaning"
        case .incomplete(let other): "needs \"\(other)\" beside it"
        case .conflict(let other): "cannot be used together with \"\(other)\"; remove one of them"
        case .noneOf(let names): "needs " + names.map { "\"\($0)\"" }.joined(separator: " or ")
        case .databaseURL(let error): "not the URL of a PostgreSQL database: \(error.explanation)"
        case .keyURI(let error): error.description
        case .file(let error): error.description
        case .notASecret(let size):
            "the file must hold \(size) bytes as \(size * 2) hexadecimal digits, as Base64, or raw; copy it again from its"
                + " source"
        case .notACertificate: "the file is not an X.509 certificate of an RSA key in DER or PEM"
        case .severalCertificates(let count):
            "the file holds \(count) certificates, and this field is for one; the file with both belongs into"
                + " \"certificateBundle\""
        case .severalRecipients(let count):
            "the file holds \(count) certificates, and a recipient has one; name the file of each recipient in the list"
        case .notACertificateBundle(let error): Self.describe(error)
        case .wrongCertificateCount(let count):
            "the file holds \(count.counted("certificate")); with \"provisioning-data\" it must be the"
                + " 1024-bit certificate followed by the 2048-bit one, and with \"ask\" one certificate of 1024 bits"
        case .notJSON(let error): "the file is not JSON: \(error)"
        case .notAPrivateKey: "the file is not an RSA private key in PEM or DER"
        case .passphraseMissing:
            "the private key is encrypted; name a file of its passphrase in \"privateKeyPassphrase\""
        case .passphraseWrong:
            "the private key does not open with the passphrase in \"privateKeyPassphrase\"; try: openssl pkey -noout -in"
                + " KEY -passin file:PASSPHRASE (if that works, its encryption is too old: write it again with openssl"
                + " pkcs8 -topk8 -v2 aes-256-cbc)"
        case .notAPassphrase: "the file must hold the passphrase in one line of 1 to 1024 bytes"
        case .passphraseUnneeded:
            "no private key of this credential is encrypted; remove this field, or check which key files are named"
        case .wrongKeySize(let expected, let actual):
            "the file's key has \(actual) bits, and this field is for \(expected); check which file belongs where"
        case .keySizeOutOfRange(let sizes, let actual):
            "the certificate's key has \(actual) bits, and sizes from \(sizes.lowerBound) to \(sizes.upperBound) bits"
                + " are accepted"
        case .keyMismatch(let certificate):
            "the private key does not belong to the certificate in \"\(certificate)\"; use the key from which that"
                + " certificate's signing request was made"
        case .sameCertificate(let other):
            "has a certificate that credential \"\(other)\" has too; an SPC could mean either, so remove one"
        case .testCredentialForbidden:
            "a fixed DASk is for the published test vectors only; use \"applicationSecret\", or set"
                + " fairplay.allowTestCredentials to true on a machine for tests"
        case .notALibrary: "the file is not a shared library (ELF); build it with: cc -shared -fPIC"
        case .unknownUser: "this machine has no such user; make one with: useradd --system --no-create-home NAME"
        case .notAVerificationKey(let algorithm):
            "the file is not \(Self.keyKind(of: algorithm)), as \(algorithm.rawValue) needs"
        case .privateKeyForVerifying:
            "the file has a private key, with which this server could make tokens; give it the public part alone, made"
                + " with: openssl pkey -in PRIVATE.pem -pubout -out PUBLIC.pem"
        case .issuer(let error): Self.describe(error)
        case .notAnAdminToken:
            "the file must hold one token of 16 to 1024 visible ASCII characters, such as the output of: openssl rand -hex 32"
        case .secretIsAToken:
            "the file holds a text in the form of a viewer's token, which must not be a packager's secret; make another"
                + " one with: openssl rand -hex 32"
        case .sealingKeyMissing:
            "no issuer of this name has an active key with the algorithm A256GCM"
        case .notADatabasePassword: "the file must hold the password in one line of 1 to 1024 bytes"
        case .cryptography(let error): "OpenSSL could not use the file's contents (\(error))"
        case .tls(let error): error.description
        case .plaintextBeyondLoopback(let address):
            "\(address) can be reached from other machines, and plain HTTP would show licenses and tokens on the way: set"
                + " \"tls\", or listen on 127.0.0.1 or a unix socket behind a proxy that ends TLS, or set \"allowPlaintext\""
        case .developmentMaterialBeyondLoopback(let address, let credential):
            "\(address) can be reached from other machines, and credential \"\(credential)\" is development material;"
                + " listen on 127.0.0.1 or use a credential that Apple issued"
        case .adminTokenMissing(let address):
            "\(address) can be reached from other machines, so the listener needs \"tokens\" or \"clients\""
        }
    }

    private static func describe(_ error: CertificateBundleError) -> String {
        let expected = "a bundle is the 1024-bit certificate followed by the 2048-bit one, in DER or PEM"
        return switch error {
        case .notCertificates: "the file does not consist of X.509 certificates of RSA keys; \(expected)"
        case .wrongCount(1):
            "the file holds one certificate, and \(expected); a single one belongs into \"certificate1024\" or"
                + " \"certificate2048\""
        case .wrongCount(let count): "the file holds \(count) certificates; \(expected)"
        case .swapped: "the 2048-bit certificate comes first in the file; \(expected); take the file as Apple issued it"
        case .wrongSizes(let sizes):
            "the keys in the file have " + sizes.map { "\($0)" }.joined(separator: " and ") + " bits; \(expected)"
        }
    }

    private static func keyKind(of algorithm: Configuration.KeyAlgorithm) -> String {
        switch algorithm {
        case .es256: "a P-256 key in PEM or DER"
        case .edDSA: "an Ed25519 key in PEM or DER"
        case .rs256: "an RSA key of 2048 to 8192 bits in PEM or DER"
        case .hs256: "a secret"
        case .a256GCM: "a key of 32 bytes"
        }
    }

    private static func describe(_ error: IssuerSetError) -> String {
        switch error {
        case .duplicateKeyID(let kid): "two keys have the kid \"\(kid)\", which must name one"
        case .duplicateKey(let one, let other):
            "two issuers have the same key, as kid \"\(one)\" and as kid \"\(other)\", and their tokens need not name"
                + " their issuer; give each issuer a key of its own"
        case .keyIDInvalid: "a kid has 1 to \(VerificationKey.idSizeMaximum) bytes"
        case .nameEmpty: "\"issuer\" and \"audience\" must not be empty"
        case .maximumLifeNotPositive: "\"maximumLife\" must be at least 1s"
        case .leewayOutOfRange: "\"leeway\" must lie between 0s and \(IssuerSet.leewayMaximum)s"
        case .secretTooShort(let size):
            "the file holds \(size) bytes, and an HS256 secret has at least \(VerificationKey.secretSizeMinimum);"
                + " make one with: openssl rand -hex 32"
        case .secretIsAPublicKey:
            "the file is a PEM file or a public key, which must not serve as an HS256 secret; did you mean algorithm"
                + " \"ES256\"?"
        case .communicationKeyNotBase64:
            "the file is not Base64, which Axinom gives its communication keys in; keep it as Axinom shows it"
        case .keySet(let error): "\(error)"
        case .cryptoFailed: "OpenSSL could not prepare the key"
        }
    }
}
