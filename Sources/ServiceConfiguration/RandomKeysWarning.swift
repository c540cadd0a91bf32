/// A warning: without a master secret, new keys are random, so only the database has them.
///
/// A database that is restored from an older copy lacks the newest keys. A packager that asks for one of them again
/// gets another key, and content that was packaged before never plays again.
package enum RandomKeysWarning: Equatable, Sendable, CustomStringConvertible {
    case randomKeys
    /// The database was used with a master secret, by other nodes or by this one.
    case besideDerivedKeys

    /// Nil if keys are derived.
    package init?(_ configuration: Configuration) {
        guard configuration.keys.masterSecret == nil else { return nil }
        self = .randomKeys
    }

    package var description: String {
        switch self {
        case .randomKeys:
            "keys: random keys that are newer than the last backup are lost if the database is lost; name a masterSecret to"
                + " derive them"
        case .besideDerivedKeys:
            "keys: masterSecret is missing, but the database was used with one. This node makes random keys beside"
                + " derived ones, and random keys that are lost cannot be made again; configure the secret that the other"
                + " nodes have"
        }
    }
}
