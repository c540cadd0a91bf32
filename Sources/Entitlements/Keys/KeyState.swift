/// Where a key stands in its life (entitlement, section 4.2).
package enum KeyState: Equatable, Sendable {
    /// Published ahead of its use. It verifies, because an issuer changes over when it likes; it never signs.
    case next
    case active
    /// Verifies until this second, given since 1970, and no longer from then on.
    case retiring(until: Int64)
    case revoked

    /// Throws `keyRevoked` and `keyRetired` if the key no longer verifies at `now`, in seconds since 1970.
    func check(now: Int64) throws(EntitlementError) {
        switch self {
        case .next, .active: return
        case .retiring(let end): if now >= end { throw .keyRetired }
        case .revoked: throw .keyRevoked
        }
    }

    /// The first second in which the key no longer verifies; nil if that is not known yet.
    var end: Int64? {
        switch self {
        case .next, .active: nil
        case .retiring(let end): end
        case .revoked: .min
        }
    }
}
