/// Claims behind one reference.
///
/// Claims have more than 400 bytes and two dozen references. Every stage of a license hands them on, and an
/// asynchronous function would keep a copy in its frame.
package final class HeldClaims: Equatable, Sendable {
    package let claims: Claims
    /// The digest of the token with these claims; nil if they are not from a token that this server can read.
    package let token: TokenDigest?

    package init(_ claims: Claims, of token: TokenDigest? = nil) {
        self.claims = claims
        self.token = token
    }

    package static func == (one: HeldClaims, other: HeldClaims) -> Bool { one.claims == other.claims }
}
