import Entitlements
import KeyCrypto

extension ConfigurationFault: CustomStringConvertible {
    /// What is wrong and what to do about it, in one line.
    package var description: String {
        switch self {
        case .unknownKey(let nearest):
            "there is no such field" + (nearest.map { "; did you mean \"\($0)\"?" } ?? "")
        case .missing(let expected, let example): "required: \(expected), such as \(example)"
        case .wrongType(let found, let expected, let example):
            "expected \(expected), such as \(example), and found \(found.rawValue)"
        case .invalidValue(let expected, let example): "expected \(expected), such as \(example)"
        case .duplicate(let other): "the same as \(other); each must differ"
        case .incomplete(let other): "needs \"\(other)\" beside it"
        case .conflict(let other): "cannot be used together with \"\(other)\"; remove one of them"
        case .noneOf(let names): "needs " + names.map { "\"\($0)\"" }.joined(separator: " or ")
        case .file(let error): error.description
        case .notASecret(let size):
            "the file must hold \(size) bytes as \(size * 2) hexadecimal digits, as Base64, or raw"
        case .notACertificate: "the file is not an X.509 certificate of an RSA key in DER or PEM"
        case .notAPrivateKey: "the file is not an unencrypted RSA private key in PEM or DER"
        case .wrongKeySize(let expected, let actual):
            "the file's key has \(actual) bits, and this field is for \(expected); check which file belongs where"
        case .keyMismatch(let certificate):
            "the private key does not belong to the certificate in \"\(certificate)\"; use the key from which that"
                + " certificate's signing request was made"
        case .sameCertificate(let other):
            "has a certificate that credential \"\(other)\" has too; an SPC could mean either, so remove one"
        case .testCredentialForbidden:
            "a fixed DASk is for the published test vectors only; use \"applicationSecret\", or set"
                + " fairplay.allowTestCredentials to true on a machine for tests"
        case .notAVerificationKey: "the file is not a P-256 key in PEM or DER, as ES256 needs"
        case .issuer(let error): Self.describe(error)
        case .notAnAdminToken:
            "the file must hold one token of 16 to 1024 visible ASCII characters, such as the output of: openssl rand -hex 32"
        case .cryptography(let error): "OpenSSL could not use the file's contents (\(error))"
        case .plaintextBeyondLoopback(let address):
            "\(address) can be reached from other machines, and this version speaks plain HTTP only; listen on 127.0.0.1"
                + " behind a proxy on this machine that ends TLS"
        case .developmentMaterialBeyondLoopback(let address, let credential):
            "\(address) can be reached from other machines, and credential \"\(credential)\" is development material;"
                + " listen on 127.0.0.1 or use a credential that Apple issued"
        case .adminTokenMissing(let address):
            "\(address) can be reached from other machines, so the listener needs \"tokenFile\""
        }
    }

    private static func describe(_ error: IssuerSetError) -> String {
        switch error {
        case .duplicateKeyID(let kid): "two keys have the kid \"\(kid)\", which must name one"
        case .keyIDInvalid: "a kid has 1 to \(Token.keyIDSizeMaximum) bytes"
        case .nameEmpty: "\"issuer\" and \"audience\" must not be empty"
        case .maximumLifeNotPositive: "\"maximumLife\" must be at least 1s"
        case .leewayOutOfRange: "\"leeway\" must lie between 0s and \(IssuerSet.leewayMaximum)s"
        case .secretTooShort(let size):
            "the file holds \(size) bytes, and an HS256 secret has at least \(VerificationKey.secretSizeMinimum);"
                + " make one with: openssl rand -hex 32"
        case .secretIsAPublicKey:
            "the file is a PEM file or a public key, which must not serve as an HS256 secret; did you mean algorithm"
                + " \"ES256\"?"
        case .cryptoFailed: "OpenSSL could not prepare the key"
        }
    }
}
