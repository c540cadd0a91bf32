package import Entitlements
package import HTTPMessages
package import Licensing
package import Telemetry

/// What the configuration file says, complete with defaults: names of files, never their contents.
///
/// A value of this type is consistent in itself; whether the files hold what they should shows when
/// `LoadedConfiguration` reads them. `Config/latchkey.json5` explains every field.
package struct Configuration: Equatable, Sendable {
    /// The name of this node in logs and metrics; the host name unless configured.
    package let node: String
    package let listeners: Listeners
    /// Where clients reach the public listener, without a slash at its end; never taken from a request's `Host`.
    package let publicURL: String?
    /// The host of `publicURL`, with its port if it has one: where players find the licence server.
    package var publicAuthority: String? {
        publicURL.map { url in
            String(url.drop { $0 != ":" }.dropFirst("://".count).prefix { $0 != "/" })
        }
    }
    /// Which web pages may read the answers of public listeners.
    package let cors: CORSPolicy
    /// Where licences and certificates are served, beside the built-in paths. No path fits two of them.
    package let licensePaths: [LicensePath]
    package let fairplay: FairPlay
    package let keys: Keys
    package let storage: Storage
    package let ledger: Ledger
    package let clock: Clock
    package let entitlement: Entitlement
    package let expressPlay: ExpressPlay
    /// Who may ask for content keys; the names differ.
    package let packagers: [Packager]
    package let limits: Limits
    package let drain: Drain
    package let logging: Logging

    /// Where the daemon listens.
    package struct Listeners: Equatable, Sendable {
        /// For devices, apps and players; at least one.
        package let `public`: [PublicListener]
        /// For operators; may be empty.
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
        /// Further tokens, each of one operator or program; the names differ.
        package let tokens: [AdminToken]
        /// Names, in lower case, by which the listener may be asked beside numeric addresses and `localhost`.
        package let hosts: Set<String>

        init(
            address: ListenerAddress, transport: Transport = Transport(), tokenFile: SecretSource? = nil,
            tokens: [AdminToken] = [], hosts: Set<String> = []
        ) {
            self.hosts = hosts
            self.address = address
            self.transport = transport
            self.tokenFile = tokenFile
            self.tokens = tokens
        }

        /// Whether a request must present a token.
        package var isGuarded: Bool { tokenFile != nil || !tokens.isEmpty }
    }

    /// A token by which the ledger names its holder.
    package struct AdminToken: Equatable, Sendable {
        package let name: String
        package let file: SecretSource
    }

    package struct FairPlay: Equatable, Sendable {
        /// At least one; the names differ.
        package let credentials: [Credential]
        /// The FairPlay protocol versions that are served; at least one.
        package let protocolVersions: Set<UInt32>
        /// Whether a fixed DASk may be loaded and development certificates may be used where strangers can reach them.
        package let allowTestCredentials: Bool
        /// What is demanded of devices.
        package let policy: LicensePolicy
    }

    package struct Entitlement: Equatable, Sendable {
        /// At least one; key ids differ across all of them.
        package let issuers: [Issuer]
        /// By how much the clocks of an issuer and the server may differ: whole seconds, up to
        /// `IssuerSet.leewayMaximum`.
        package let leeway: Duration
        /// How long a subject's device keeps its place after its last licence: whole seconds.
        package let deviceLife: Duration
        /// Where requests carry tokens.
        package let finder: TokenFinder
        /// The field in which trusted proxies name the client's country; nil if no proxy does.
        package let countryField: String?
        /// Whether a token that proves too little is answered 403, as DASH-IF has it.
        package let dashIFStatus: Bool
        /// Named profiles and this server's own floor.
        package let policy: EntitlementPolicy
        /// How often a node asks the store what is revoked: whole seconds.
        package let revocationRefresh: Duration
        /// How long the same request with the same token gets the same answer: whole seconds.
        package let retryWindow: Duration
        /// Nil if no session tokens are given.
        package let sessions: Sessions?
        /// The service that decides about tokens which only it can read; nil without such a service.
        package let callback: Callback?
    }

    /// Whose tokens are accepted, how they are written, for whom they must be meant, and for how long they may live.
    package struct Issuer: Equatable, Sendable {
        package let issuer: String
        package let audience: String
        package let dialect: TokenDialect
        /// Single keys; at least one if there is no file of keys.
        package let keys: [IssuerKey]
        /// A JSON Web Key Set.
        package let keysFile: SecretSource?
        /// Whole seconds, at least one.
        package let maximumLife: Duration
        /// Whether a right for offline use is enough for a licence that the device keeps.
        package let offlineByRight: Bool
        /// Content ids, and prefixes with an asterisk behind them; nil for all contents.
        package let contents: Set<String>?
    }

    /// A key that verifies or opens tokens, pinned to one algorithm.
    package struct IssuerKey: Equatable, Sendable {
        package let kid: String
        package let algorithm: KeyAlgorithm
        package let key: SecretSource
        package let state: KeyState
    }

    /// What a key can be pinned to.
    package enum KeyAlgorithm: String, Sendable, CaseIterable {
        case es256 = "ES256"
        case edDSA = "EdDSA"
        case rs256 = "RS256"
        case hs256 = "HS256"
        /// For sealed tokens (RFC 7518, section 4.7, has the name).
        case a256GCM = "A256GCM"
    }

    package struct Limits: Equatable, Sendable {
        /// The limits and deadlines of HTTP connections.
        package let http: HTTPLimits
        /// How many verified tokens are remembered.
        package let tokenCacheCapacity: Int
        /// How often licences may be asked for.
        package let rates: RequestRates
        /// How long requests wait when there are more than can be served, and how many in all.
        package let overload: Overload
        /// What clients may make the daemon hold in memory, in bytes.
        package let memoryBudget: Int
        /// How many event loops run; one for each processor unless configured.
        package let loopCount: Int
    }

    package struct Overload: Equatable, Sendable {
        package let wait: Duration
        /// Of all loops together.
        package let waitingMaximum: Int

        /// What one of so many loops may do.
        package func limits(loopCount: Int) -> OverloadLimits {
            OverloadLimits(wait: wait, waitingMaximum: max(1, waitingMaximum / loopCount))
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
        /// How many lines of one event strangers may cause in a second.
        package let linesPerEvent: Int
    }
}
