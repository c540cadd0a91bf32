import Entitlements
import KeyCrypto
import Licensing

/// What the service in ExpressPlay's manner works by, from one configuration.
package struct ExpressPlaySettings: Sendable {
    let customers: ExpressPlayCustomers
    /// Where apps redeem tokens; empty where nobody gets any.
    let redeemURL: String
    let redeemPaths: Set<String>
    let allowsKeysInURL: Bool
    let sees: SEESSettings?
}

/// Somebody who may have tokens made.
struct ExpressPlayCustomer: Sendable {
    let name: String
    let issuer: String
    let sealer: TokenSealer
    /// The longest life of its tokens in seconds.
    let lifeMaximum: Int64
    let tokensPerDay: UInt32?
    let rate: Rate?
    let isDisabled: Bool
}

/// The entitlement server: who may ask it, and what its tokens are like.
struct SEESSettings: Sendable {
    let customer: ExpressPlayCustomer
    let authenticator: AuthenticatorDigest?
    /// The subjects of client certificates.
    let clients: Set<String>
    /// In seconds.
    let tokenLife: Int64
    let devicesMaximum: UInt32
}

/// What stands for an authenticator in comparisons: an HMAC under a key that this process made, so that they take the same time for every
/// text of one size.
struct AuthenticatorDigest: Sendable {
    private let key: HMACSHA256Key
    private let code: [UInt8]

    init(of text: [UInt8], key: HMACSHA256Key) throws(CryptoError) {
        self.key = key
        code = try key.code(for: text[...])
    }

    func matches(_ text: [UInt8]) -> Bool { key.isValid(code[...], for: text[...]) }

    func equals(_ other: AuthenticatorDigest) -> Bool { ConstantTime.areEqual(code[...], other.code[...]) }
}

/// All customers, found by what they present.
struct ExpressPlayCustomers: Sendable {
    enum Identity: Sendable {
        case customer(ExpressPlayCustomer)
        /// It presents what it has for another environment.
        case otherEnvironment(ExpressPlayCustomer)
        case unknown
    }

    struct Entry: Sendable {
        let customer: ExpressPlayCustomer
        let authenticator: AuthenticatorDigest
        let otherAuthenticator: AuthenticatorDigest?
    }

    let entries: [Entry]

    var isEmpty: Bool { entries.isEmpty }

    /// Looks at every customer, whoever it is.
    func identify(_ authenticator: [UInt8]) -> Identity {
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
