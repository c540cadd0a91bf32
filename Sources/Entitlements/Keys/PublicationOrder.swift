package import Telemetry

/// Which issuer had a key first, of all issuers whose keys come from a URL.
///
/// A public key can be copied. An issuer that publishes the key of another one must not get the tokens that this key
/// has signed. The first issuer is known only if the URL of every other one was asked while the first one had the key
/// already, and lacked the key then. Several issuers that were never seen without the key may all have been the first.
///
/// It is a value without a clock, like `FetchedKeys`.
package struct PublicationOrder: Sendable {
    /// An issuer's URL. Each issuer has at most one for a dialect.
    package struct Publisher: Hashable, Sendable {
        private let issuer: [UInt8]
        private let dialect: TokenDialect

        package init(issuer: String, dialect: TokenDialect) {
            self.issuer = Array(issuer.utf8)
            self.dialect = dialect
        }
    }

    private struct Record {
        /// Those that may have had the key first; at least one.
        var first: Set<Publisher>
        /// Those that got it later, if they have it at all.
        var later: Set<Publisher> = []
        /// When the key was first seen.
        let seenAt: MonotonicTime
    }

    /// The most keys that are remembered although no URL has them any more.
    static let withdrawnMaximum = 4096

    private var records: [[UInt8]: Record] = [:]
    /// The keys that each URL had when it was asked last.
    private var published: [Publisher: Set<[UInt8]>] = [:]

    package init() {}

    /// Notes the keys that a URL has. It was asked at `askedAt`, so it may have got a key since then.
    package mutating func note(
        _ set: JWKSet, of publisher: Publisher, askedAt: MonotonicTime, now: MonotonicTime
    ) {
        let keys = Set(set.keys.map(\.fingerprint))
        for key in keys {
            guard let record = records[key] else {
                records[key] = Record(first: [publisher], seenAt: now)
                continue
            }
            if !record.later.contains(publisher) { records[key]?.first.insert(publisher) }
        }
        for (key, record) in records where !keys.contains(key) {
            if record.first.contains(publisher) {
                // A key stays with its only first issuer, even if that one has withdrawn it.
                guard record.first.count > 1 else { continue }
                records[key]?.first.remove(publisher)
                records[key]?.later.insert(publisher)
            } else if askedAt >= record.seenAt {
                records[key]?.later.insert(publisher)
            }
        }
        published[publisher] = keys
        forgetWithdrawn()
    }

    /// Follows a new configuration: forgets the URLs that it does not have. A URL that it has added comes after all
    /// others, whatever it publishes.
    package mutating func keep(_ publishers: Set<Publisher>) {
        let added = publishers.subtracting(published.keys)
        for (key, record) in records {
            let first = record.first.intersection(publishers)
            guard !first.isEmpty else {
                records[key] = nil
                continue
            }
            records[key]?.first = first
            records[key]?.later = record.later.intersection(publishers).union(added)
        }
        published = published.filter { publishers.contains($0.key) }
        for publisher in added { published[publisher] = [] }
    }

    /// Whether an issuer may have had a key first.
    func mayBeFirst(_ publisher: Publisher, _ fingerprint: [UInt8]) -> Bool {
        records[fingerprint]?.first.contains(publisher) ?? true
    }

    private mutating func forgetWithdrawn() {
        let current = published.values.reduce(into: Set<[UInt8]>()) { $0.formUnion($1) }
        guard records.count - current.count > Self.withdrawnMaximum else { return }
        records = records.filter { current.contains($0.key) }
    }
}
