/// Claims behind one reference.
///
/// Claims have more than 400 bytes and two dozen references. Every stage of a licence hands them on, and an
/// asynchronous function would keep a copy in its frame.
package final class HeldClaims: Equatable, Sendable {
    package let claims: Claims

    package init(_ claims: Claims) {
        self.claims = claims
    }

    package static func == (one: HeldClaims, other: HeldClaims) -> Bool { one.claims == other.claims }
}
