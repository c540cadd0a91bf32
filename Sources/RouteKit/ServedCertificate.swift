import FairPlay
import KeyCrypto

/// A certificate that the daemon serves, and when it ends.
package struct ServedCertificate: Equatable, Sendable {
    package enum Kind: String, Sendable {
        case tls
        case fairPlay = "fairplay"
    }

    package let kind: Kind
    /// Of a TLS certificate the listener, such as `public[0]`; of a FairPlay certificate the credential and the size of
    /// its key in bits, such as `main-2048`.
    package let name: String
    /// In seconds since 1970.
    package let end: Int64

    package init(kind: Kind, name: String, end: Int64) {
        self.kind = kind
        self.name = name
        self.end = end
    }
}

extension CredentialSet {
    /// The FairPlay certificates of all credentials.
    package var servedCertificates: [ServedCertificate] {
        credentials.flatMap { credential in
            [credential.certificate1024, credential.certificate2048].compactMap { certificate in
                certificate?.notAfter.map { end in
                    ServedCertificate(
                        kind: .fairPlay, name: "\(credential.name)-\(certificate?.keyBits ?? 0)", end: end)
                }
            }
        }
    }
}
