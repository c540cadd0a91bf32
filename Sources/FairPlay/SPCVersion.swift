package import KeyCrypto

/// The container versions (protocol, sections 1.1 and 1.2). Version 3 is served only for credentials that enable it.
package enum SPCVersion: UInt32, Sendable, Hashable, CaseIterable {
    case v1 = 1
    case v2 = 2
    case v3 = 3

    /// The size in bytes of the wrapped key, which is the size of the RSA modulus. Versions 1 and 2 wrap a session key,
    /// version 3 wraps a master key.
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

    /// The digest of the certificate hash.
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
