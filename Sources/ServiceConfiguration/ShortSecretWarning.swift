/// A warning: the token of an administrator or the secret of a packager is short, so that it might be guessed.
///
/// Every secret that a request presents is compared, so only the length of the right one stands against guesses.
package struct ShortSecretWarning: Equatable, Sendable, CustomStringConvertible {
    /// The least number of characters of a secret without a warning.
    package static let lengthMinimum = 32
    /// What to do about it.
    package static let remedy = "make one with: openssl rand -hex 32"

    /// The field that names the secret.
    let field: String

    /// Returns nil if the secret is long enough.
    init?(field: String, length: Int) {
        guard length < Self.lengthMinimum else { return nil }
        self.field = field
    }

    package var description: String {
        "\(field): the secret has fewer than \(Self.lengthMinimum) characters, and could be guessed"
    }
}
