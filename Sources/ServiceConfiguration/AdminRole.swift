/// What the holder of a credential of an admin listener may do. A credential has one role or more.
package enum AdminRole: String, Sendable, CaseIterable {
    /// A program that reads the metrics, such as Prometheus.
    case metrics
    /// Finds out why a viewer cannot play, and frees devices, playbacks and rentals.
    case support
    /// Revokes tokens, subjects and devices.
    case security
    /// Everything, and taking the node out of service.
    case admin

    package var permissions: Set<AdminPermission> {
        switch self {
        case .metrics: [.scrape, .watch]
        case .support: [.watch, .look, .explain, .release]
        case .security: [.watch, .look, .explain, .revoke]
        case .admin: Set(AdminPermission.allCases)
        }
    }
}

/// One kind of request to an admin listener. Each address demands one permission for each of its methods.
package enum AdminPermission: String, Sendable, CaseIterable {
    /// Reads the metrics.
    case scrape
    /// Sees how the node is and how much it does.
    case watch
    /// Reads refusals, the ledger, contents, revocations, and what belongs to a viewer.
    case look
    /// Has a token and an SPC explained.
    case explain
    /// Removes devices, ends playbacks and forgets rentals of a viewer.
    case release
    /// Adds revocations, and lifts them.
    case revoke
    /// Takes the node out of service, and back.
    case operate

    /// The permissions of every sender if a listener has no credential. They change nothing, because the ledger could
    /// not name the operator.
    package static let ofOpenListener: Set<AdminPermission> = [.scrape, .watch, .look, .explain]

    /// The roles that have the permission, in the order of `AdminRole`.
    package var roles: [AdminRole] { AdminRole.allCases.filter { $0.permissions.contains(self) } }
}

extension Set<AdminRole> {
    /// What several roles allow together.
    package var permissions: Set<AdminPermission> { reduce(into: []) { $0.formUnion($1.permissions) } }

    /// The words of the roles, in the order of `AdminRole`.
    package var words: [String] { AdminRole.allCases.filter(contains).map(\.rawValue) }
}
