package import ContentKeys
package import Entitlements
package import HTTPMessages
package import Licensing
package import PackagerAPI
package import Telemetry

/// The values of the configuration file, including defaults. It has the names of files, never their contents.
///
/// A value of this type is consistent in itself. `LoadedConfiguration` reads the files and checks their contents.
/// `Config/reference.json5` explains every field.
package struct Configuration: Equatable, Sendable {
    /// The name of this node in logs and metrics; by default the host name.
    package let node: String
    package let listeners: Listeners
    /// The URL at which clients reach the public listener, without a slash at its end. It is never taken from a
    /// request's `Host`.
    package let publicURL: String?
    /// The host of `publicURL`, with its port if it has one. Players find the license server there.
    package var publicAuthority: String? {
        publicURL.map { url in
            String(url.drop { $0 != ":" }.dropFirst("://".count).prefix { $0 != "/" })
        }
    }
    /// Which web pages may read the answers of public listeners.
    package let cors: CORSPolicy
    /// The paths for licenses and certificates in addition to the built-in ones. A request path matches at most one.
    package let licensePaths: [LicensePath]
    /// The forms of asset ids of older services. They are distinct.
    package let assetIDs: [AssetForm]
    package let fairplay: FairPlay
    package let keys: Keys
    package let storage: Storage
    package let ledger: Ledger
    package let crypto: Crypto
    package let entitlement: Entitlement
    package let expressPlay: ExpressPlay
    /// The packagers, which may ask for content keys. Their names are distinct.
    package let packagers: [Packager]
    package let limits: Limits
    package let drain: Drain
    package let logging: Logging

    /// The listeners of the daemon.
    package struct Listeners: Equatable, Sendable {
        /// The listeners for devices, apps and players; at least one.
        package let `public`: [PublicListener]
        /// The listeners for operators; may be empty.
        package let admin: [AdminListener]
    }

    package struct PublicListener: Equatable, Sendable {
        package let address: ListenerAddress
        package let transport: Transport

        init(address: ListenerAddress, transport: Transport = Transport()) {
            self.address = address
            self.transport = transport
        }
    }

    package struct AdminListener: Equatable, Sendable {
        package let address: ListenerAddress
        package let transport: Transport
        /// The file of the token that requests present as `Authorization: Bearer`.
        package let tokenFile: SecretSource?
        /// Further tokens, each for one operator or program. Their names are distinct.
        package let tokens: [AdminToken]
        /// Operators and programs with client certificates. Their names are distinct.
        package let clients: [AdminClient]
        /// Host names, in lower case, that requests may use in addition to numeric addresses and `localhost`.
        package let hosts: Set<String>

        init(
            address: ListenerAddress, transport: Transport = Transport(), tokenFile: SecretSource? = nil,
            tokens: [AdminToken] = [], clients: [AdminClient] = [], hosts: Set<String> = []
        ) {
            self.hosts = hosts
            self.address = address
            self.transport = transport
            self.tokenFile = tokenFile
            self.tokens = tokens
            self.clients = clients
        }

        /// Whether a request must present a credential.
        package var isGuarded: Bool { tokenFile != nil || !tokens.isEmpty || !clients.isEmpty }
    }

    /// An operator's token with a name. The ledger names the holder by it.
    package struct AdminToken: Equatable, Sendable {
        package let name: String
        package let file: SecretSource
        /// At least one; nil if the file names none.
        package let givenRoles: Set<AdminRole>?

        /// A token without roles has all permissions, as every token had before there were roles.
        package var roles: Set<AdminRole> { givenRoles ?? [.admin] }
    }

    /// An operator or a program that connects with a client certificate. The ledger names it by its name.
    package struct AdminClient: Equatable, Sendable {
        package let name: String
        /// At least one.
        package let clientCertificates: [ClientCertificateName]
        /// At least one.
        package let roles: Set<AdminRole>
    }

    package struct FairPlay: Equatable, Sendable {
        /// At least one credential. The names are distinct.
        package let credentials: [Credential]
        /// The FairPlay protocol versions that are served; at least one.
        package let protocolVersions: Set<UInt32>
        /// Whether a fixed DASk may be loaded, and whether development certificates may be used on addresses that other
        /// machines can reach.
        package let allowTestCredentials: Bool
        /// The demands on devices.
        package let policy: LicensePolicy
    }

    package struct Entitlement: Equatable, Sendable {
        /// At least one issuer. The key ids of all issuers are distinct.
        package let issuers: [Issuer]
        /// By how much the clocks of an issuer and the server may differ: whole seconds, up to
        /// `IssuerSet.leewayMaximum`.
        package let leeway: Duration
        /// How long a subject's device keeps its place after its last license: whole seconds.
        package let deviceLife: Duration
        /// Where requests carry tokens.
        package let finder: TokenFinder
        /// The header field in which trusted proxies name the client's country; nil if no proxy does.
        package let countryField: String?
        /// The named profiles, and the least that this server itself demands.
        package let policy: EntitlementPolicy
        /// The settings of session tokens; nil if none are issued.
        package let sessions: Sessions?
        /// The service that decides about tokens which only it can read; nil without such a service.
        package let callback: Callback?
    }

    /// An issuer whose tokens are accepted: its keys, the dialect and audience of its tokens, and their longest life.
    package struct Issuer: Equatable, Sendable {
        package let issuer: String
        package let audience: String
        package let dialect: TokenDialect
        /// Single keys; at least one if there is no `keysFile`, no `keysURL` and no `discover`.
        package let keys: [IssuerKey]
        /// The file of a JSON Web Key Set.
        package let keysFile: SecretSource?
        /// Where the daemon fetches a JSON Web Key Set; nil if it fetches none.
        package let keysURL: KeysURL?
        /// The longest life of a token: whole seconds, at least one.
        package let maximumLife: Duration
        /// Whether a right for offline use is enough for a license whose key the device keeps.
        package let offlineByRight: Bool
        /// Content ids, or prefixes that end with an asterisk; nil for all contents.
        package let contents: Set<String>?
    }

    /// A key that verifies or opens tokens. It is pinned to one algorithm.
    package struct IssuerKey: Equatable, Sendable {
        package let kid: String
        package let algorithm: KeyAlgorithm
        package let key: SecretSource
        package let state: KeyState
    }

    /// The algorithms to which a key can be pinned.
    package enum KeyAlgorithm: String, Sendable, CaseIterable {
        case es256 = "ES256"
        case edDSA = "EdDSA"
        case rs256 = "RS256"
        case hs256 = "HS256"
        /// The algorithm of sealed tokens. The name is from RFC 7518, section 4.7.
        case a256GCM = "A256GCM"
    }

    package struct Limits: Equatable, Sendable {
        /// The limits and deadlines of HTTP connections.
        package let http: HTTPLimits
        /// How often licenses may be asked for.
        package let rates: RequestRates
        /// How long requests may wait in an overload, and how many of them in total.
        package let overload: Overload
        /// How much memory the daemon may use for what clients send, in bytes.
        package let memoryBudget: Int
        /// How many event loops run; by default one for each processor.
        package let loopCount: Int
    }

    package struct Overload: Equatable, Sendable {
        /// How many requests may wait, in all loops together.
        private static let waitingMaximum = 8192

        package let wait: Duration

        /// The limits of one loop if there are `loopCount` loops.
        package func limits(loopCount: Int) -> OverloadLimits {
            OverloadLimits(wait: wait, waitingMaximum: max(1, Self.waitingMaximum / loopCount))
        }
    }

    /// How the daemon goes down.
    package struct Drain: Equatable, Sendable {
        /// How long it is not ready, and serves what comes, before its listeners close: up to ten minutes.
        package let delay: Duration
    }

    package struct Logging: Equatable, Sendable {
        /// The least severity that is logged.
        package let level: LogLevel
        /// How many log lines of one event strangers may cause per second.
        package let linesPerEvent: Int
        /// How much of a client's address is written of a refusal, in the log, in memory and in the ledger.
        package let clientAddress: ClientAddressForm
    }
}
