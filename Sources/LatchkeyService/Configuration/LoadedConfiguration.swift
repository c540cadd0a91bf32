package import Entitlements
package import FairPlay
package import KeyCrypto
package import POSIXSockets

/// A configuration together with what its files hold: all that the daemon needs to serve, immutable and checked.
///
/// Private keys belong to their certificates, no two credentials answer to one certificate hash, and no listener is open to strangers
/// that should not be.
package struct LoadedConfiguration: Sendable {
    package let configuration: Configuration
    package let credentials: CredentialSet
    /// Seals content keys in the store.
    package let keyEncryptionKey: AES256GCMKey
    package let issuers: IssuerSet
    /// In the order of the configuration.
    package let adminListeners: [AdminListener]
    /// The SQLite file.
    package let databasePath: String

    /// A listener for operators, and the token that they must present.
    package struct AdminListener: Sendable {
        package let address: SocketAddress
        /// Compared with what follows `Authorization: Bearer`; nil only on loopback, where none is asked for.
        package let token: SharedSecret?
    }
}
