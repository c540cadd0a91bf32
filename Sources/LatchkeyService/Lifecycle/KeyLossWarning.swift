import ServiceConfiguration

/// Random keys in a SQLite database, of which nothing shows that some were lost with it.
///
/// A database that is restored from an older copy lacks the newest keys. A packager that asks for one of them again
/// would get another key, and what was packaged before would never play again.
struct KeyLossWarning: Equatable, Sendable, CustomStringConvertible {
    /// Nil if keys can be made again, the file of their number is configured, or the database is not the node's own.
    init?(_ configuration: Configuration) {
        guard case .sqlite = configuration.storage.url, configuration.keys.material == .random,
            configuration.keys.generationFile == nil
        else { return nil }
    }

    var description: String {
        "keys: nothing shows whether a restored database lacks random keys; name a file outside the database in"
            + " generationFile, or derive keys with material: \"derived\""
    }
}
