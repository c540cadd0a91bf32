package import KeyCrypto

/// The container versions (protocol, sections 1.1 and 1.2). Version 3 is served only for credentials that enable it.
package enum SPCVersion: UInt32, Sendable, Hashable, CaseIterable {
    case v1 = 1
    case v2 = 2
    case v3 = 3

    /// The size of the wrapped key (the session key of versions 1 and 2, the master key of version 3) in bytes: one RSA
    /// modulus.
    package var wrappedKeySize: Int {
        switch self {
        case .v1: 128
        case .v2, .v3: 256
        }
    }

    /// The OAEP digest of the wrapped key.
    package var padding: OAEPDigest {
        switch self {
        case .v1: .sha1
        case .v2, .v3: .sha256
        }
    }

    /// The digest by which an SPC names its certificate.
    package var certificateHash: CertificateHash.Algorithm {
        switch self {
        case .v1, .v2: .sha1
        case .v3: .sha256
        }
    }

    /// The size of the authentication tag after the payload in bytes.
    package var authenticationTagSize: Int {
        switch self {
        case .v1, .v2: 0
        case .v3: 16
        }
    }
}
