package import KeyCrypto

/// The container versions that are served. Version 3 has its place here when a credential can enable it.
package enum SPCVersion: UInt32, Sendable, Hashable, CaseIterable {
    case v1 = 1
    case v2 = 2

    /// The size of the wrapped session key in bytes: one RSA modulus.
    package var wrappedKeySize: Int {
        switch self {
        case .v1: 128
        case .v2: 256
        }
    }

    /// The OAEP digest of the wrapped session key.
    package var padding: OAEPDigest {
        switch self {
        case .v1: .sha1
        case .v2: .sha256
        }
    }
}
