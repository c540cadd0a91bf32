package import KeyCrypto

/// The settings of the ExpressPlay interface: the customers and the entitlement server.
package struct ExpressPlaySettings: Sendable {
    package let customers: ExpressPlayCustomers
    /// The URL at which apps redeem tokens; empty if there is no customer.
    package let redeemURL: String
    package let redeemPaths: Set<String>
    package let allowsKeysInURL: Bool
    /// Nil if the entitlement server is off.
    package let sees: SEESSettings?

    package init(
        customers: ExpressPlayCustomers, redeemURL: String, redeemPaths: Set<String>, allowsKeysInURL: Bool,
        sees: SEESSettings?
    ) {
        self.customers = customers
        self.redeemURL = redeemURL
        self.redeemPaths = redeemPaths
        self.allowsKeysInURL = allowsKeysInURL
        self.sees = sees
    }

    /// Returns the URL at which an app redeems a token.
    package func tokenURL(_ token: String) -> String { redeemURL + "?ExpressPlayToken=" + token }
}

/// A customer that may ask for tokens.
package struct ExpressPlayCustomer: Sendable {
    package let name: String
    package let issuer: String
    package let sealer: TokenSealer
    /// The longest life of its tokens in seconds.
    package let lifeMaximum: Int64
    package var tokensPerDay: UInt32?
    package var rate: Rate?
    package var isDisabled = false
    /// The stored contents that its tokens can open; nil for all of them. Keys that the customer sends with a request
    /// are not limited by it.
    package var contents: ContentScope?

    package init(name: String, issuer: String, sealer: TokenSealer, lifeMaximum: Int64) {
        self.name = name
        self.issuer = issuer
        self.sealer = sealer
        self.lifeMaximum = lifeMaximum
    }
}

/// The settings of the entitlement server: the clients that may ask it, and the limits of its tokens.
package struct SEESSettings: Sendable {
    package let customer: ExpressPlayCustomer
    package let authenticator: AuthenticatorDigest?
    /// The subjects of client certificates.
    package let clients: Set<String>
    /// The life of a token in seconds.
    package let tokenLife: Int64
    package let devicesMaximum: UInt32

    package init(
        customer: ExpressPlayCustomer, authenticator: AuthenticatorDigest?, clients: Set<String>, tokenLife: Int64,
        devicesMaximum: UInt32
    ) {
        self.customer = customer
        self.authenticator = authenticator
        self.clients = clients
        self.tokenLife = tokenLife
        self.devicesMaximum = devicesMaximum
    }
}

/// A keyed digest of an authenticator, which stands for it in comparisons.
///
/// It is an HMAC with a random key of this process. A comparison takes the same time for all texts of one size.
package struct AuthenticatorDigest: Sendable {
    private let key: HMACSHA256Key
    private let code: [UInt8]

    package init(of text: [UInt8], key: HMACSHA256Key) throws(CryptoError) {
        self.key = key
        code = try key.code(for: text[...])
    }

    package func matches(_ text: [UInt8]) -> Bool { key.isValid(code[...], for: text[...]) }

    package func equals(_ other: AuthenticatorDigest) -> Bool { ConstantTime.areEqual(code[...], other.code[...]) }
}

/// All customers. A caller is identified by its authenticator.
package struct ExpressPlayCustomers: Sendable {
    package enum Identity: Sendable {
        case customer(ExpressPlayCustomer)
        /// The caller is a customer, but the authenticator belongs to the customer's other environment.
        case otherEnvironment(ExpressPlayCustomer)
        case unknown
    }

    package struct Entry: Sendable {
        package let customer: ExpressPlayCustomer
        package let authenticator: AuthenticatorDigest
        package let otherAuthenticator: AuthenticatorDigest?

        package init(
            customer: ExpressPlayCustomer, authenticator: AuthenticatorDigest, otherAuthenticator: AuthenticatorDigest?
        ) {
            self.customer = customer
            self.authenticator = authenticator
            self.otherAuthenticator = otherAuthenticator
        }
    }

    package let entries: [Entry]

    package init(entries: [Entry]) {
        self.entries = entries
    }

    package var isEmpty: Bool { entries.isEmpty }

    /// Returns the customer with this authenticator. It is compared with the authenticators of all customers, so that
    /// the time reveals nothing.
    package func identify(_ authenticator: [UInt8]) -> Identity {
        var found = Identity.unknown
        for entry in entries {
            let isOther = entry.otherAuthenticator?.matches(authenticator) ?? false
            if entry.authenticator.matches(authenticator) {
                found = .customer(entry.customer)
            } else if isOther {
                found = .otherEnvironment(entry.customer)
            }
        }
        return found
    }
}
