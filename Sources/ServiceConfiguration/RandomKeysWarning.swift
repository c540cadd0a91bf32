/// A warning: without a master secret, new keys are random, so only the database has them.
///
/// A database that is restored from an older copy lacks the newest keys. A packager that asks for one of them again
/// gets another key, and content that was packaged before never plays again.
package enum RandomKeysWarning: Equatable, Sendable, CustomStringConvertible {
    case randomKeys

    /// Nil if keys are derived.
    package init?(_ configuration: Configuration) {
        guard configuration.keys.masterSecret == nil else { return nil }
        self = .randomKeys
    }

    package var description: String {
        "keys: random keys that are newer than the last backup are lost if the database is lost; name a masterSecret to"
            + " derive them"
    }
}
