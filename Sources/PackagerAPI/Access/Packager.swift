package import ContentKeys
package import Entitlements
package import KeyCrypto

/// A program that may ask for content keys, and what it may do with them (packagers, sections 7.4 and 7.5).
package final class Packager: Sendable {
    /// What a packager may do with the keys of its contents. One scope does not include another.
    package enum Scope: String, Sendable, CaseIterable {
        /// Is given keys that are there.
        case read
        /// Has keys made that are not there.
        case create
        /// Brings the bytes of a key along, in place of a key that the server makes.
        case `import`

        /// What SPEKE needs: a request gets the keys that are there, and the others are made.
        package static let standard: Set = [Scope.read, .create]
    }

    /// As the configuration names it.
    package let name: String
    /// How the ledger names it as the actor of what it did.
    package let actor: String
    package let scopes: Set<Scope>
    /// The contents whose keys it may have; nil for all contents.
    package let contents: ContentScope?
    /// The DER encodings of the certificates to which its keys may be encrypted.
    private let recipients: Set<[UInt8]>
    /// Whether it gets no key in the clear.
    package let requiresEncryptedDelivery: Bool
    /// How often it may ask; nil for any rate.
    package let rate: Rate?
    /// Whether its credentials are refused.
    package let isDisabled: Bool

    package init(
        name: String, scopes: Set<Scope> = Scope.standard, contents: ContentScope? = nil,
        recipients: [Certificate] = [], requiresEncryptedDelivery: Bool = false, rate: Rate? = nil,
        isDisabled: Bool = false
    ) {
        self.name = name
        actor = "packager:" + name
        self.scopes = scopes
        self.contents = contents
        self.recipients = Set(recipients.map(\.der))
        self.requiresEncryptedDelivery = requiresEncryptedDelivery
        self.rate = rate
        self.isDisabled = isDisabled
    }

    /// Whether it may do this with keys of this content.
    package func permits(_ scope: Scope, of content: ContentID) -> Bool {
        scopes.contains(scope) && contents?.covers(content.text) ?? true
    }

    /// Whether keys may be encrypted to this certificate: only if it is pinned, byte for byte.
    ///
    /// A certificate that a request brings along proves nothing by itself. Without a pin, encryption would add nothing
    /// to the credential (packagers, section 7.5). So a packager without pins has no recipient. The validity of a
    /// pinned certificate is not looked at, because the pin says that it is accepted.
    package func accepts(recipient: Certificate) -> Bool { recipients.contains(recipient.der) }
}
