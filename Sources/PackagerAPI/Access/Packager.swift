import ByteCoding
package import ContentKeys
package import Entitlements
package import KeyCrypto

/// A program that may ask for content keys, and what it may do with them (packagers, sections 7.4 and 7.5).
package final class Packager: Sendable {
    /// What a packager may do with the keys of its contents. One scope does not include another.
    package enum Scope: String, Sendable, CaseIterable {
        /// The packager may get keys that exist.
        case read
        /// The packager may have missing keys made.
        case create
        /// The packager may send the bytes of a key, which the server stores instead of making one.
        case `import`

        /// The scopes that SPEKE needs: a request gets the keys that exist, and the missing ones are made.
        package static let standard: Set = [Scope.read, .create]
    }

    /// The name in the configuration.
    package let name: String
    /// The name as an actor in the ledger.
    package let actor: String
    package let scopes: Set<Scope>
    /// The contents whose keys it may have; nil for all contents.
    package let contents: ContentScope?
    /// The DER encodings of the certificates to which its keys may be encrypted.
    private let recipients: Set<[UInt8]>
    /// Whether the packager may get keys only in encrypted form.
    package let requiresEncryptedDelivery: Bool
    /// How often the packager may ask; nil for no limit.
    package let rate: Rate?
    /// Whether its credentials are refused.
    package let isDisabled: Bool
    /// The contents and the pinned certificates, in words for refusals. They are made once, because a packager may have
    /// thousands of contents.
    package let contentWords: String
    package let pinWords: String

    package init(
        name: String, scopes: Set<Scope> = Scope.standard, contents: ContentScope? = nil,
        recipients: [Certificate] = [], requiresEncryptedDelivery: Bool = false, rate: Rate? = nil,
        isDisabled: Bool = false
    ) {
        self.name = name
        actor = Self.actor(name)
        self.scopes = scopes
        self.contents = contents
        self.recipients = Set(recipients.map(\.der))
        self.requiresEncryptedDelivery = requiresEncryptedDelivery
        self.rate = rate
        self.isDisabled = isDisabled
        contentWords = contents.map { ExplainedText.list($0.texts) } ?? "all"
        pinWords = ExplainedText.list(recipients.map(\.fingerprintWords).sorted())
    }

    /// The name of a packager as an actor in the ledger.
    package static func actor(_ name: String) -> String { "packager:" + name }

    /// Its scopes, in words for refusals.
    package var scopeWords: String { ExplainedText.list(Scope.allCases.filter(scopes.contains).map(\.rawValue)) }

    /// Whether the packager has a scope for the keys of a content.
    package func permits(_ scope: Scope, of content: ContentID) -> Bool {
        scopes.contains(scope) && contents?.covers(content.text) ?? true
    }

    /// Whether keys may be encrypted to this certificate: only if it is pinned, byte for byte.
    ///
    /// A certificate in a request proves nothing by itself. Without a pin, encryption would add no protection to that
    /// of the credential (packagers, section 7.5). So a packager without pins has no recipient. The validity period of
    /// a pinned certificate is not checked, because the pin says that the certificate is accepted.
    package func accepts(recipient: Certificate) -> Bool { recipients.contains(recipient.der) }
}

extension Certificate {
    /// The SHA-256 of the certificate's DER encoding, in hexadecimal digits.
    package var fingerprintWords: String {
        // Only without memory there is no digest.
        (try? SHA256Digest.of(der)).map { "sha256 " + Hexadecimal.encode($0) } ?? "a certificate"
    }
}
