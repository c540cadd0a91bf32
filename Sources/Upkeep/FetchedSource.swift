import Entitlements
import HTTPCalls
import ServiceConfiguration
import Synchronization
import Telemetry

/// The URL of one issuer's keys, with what was fetched from it.
///
/// A reload that keeps the URL makes another source with the same keys, because other fields of the issuer may change.
final class FetchedSource: Sendable {
    private struct State {
        var keys: FetchedKeys
        /// The document of the keys in use. A document that has not changed is not read again.
        var document: [UInt8] = []
        /// Why the last fetch failed; nil if it succeeded.
        var failure: String?
        /// Why a key of the document cannot be used; nil if all can.
        var keyFault: JWKSetError?
        var newCount: UInt64 = 0
        var unchangedCount: UInt64 = 0
        var failedCount: UInt64 = 0
    }

    /// The keys and counts, which the sources of several configurations share.
    private final class Keys: Sendable {
        let state: Mutex<State>

        init(_ keys: FetchedKeys) {
            state = Mutex(State(keys: keys))
        }
    }

    private let source: KeySource
    let way: IssuerKeyWay
    private let keys: Keys

    /// A source without keys. `before` is the source of the same URL in the running configuration, if there is one.
    init(_ source: KeySource, _ way: IssuerKeyWay, after before: FetchedSource?, now: MonotonicTime) {
        self.source = source
        self.way = way
        let revokedIDs = before?.keys.state.withLock { $0.keys.revokedIDs } ?? []
        keys = Keys(FetchedKeys(source.schedule, revokedIDs: revokedIDs, now: now))
    }

    private init(_ source: KeySource, _ way: IssuerKeyWay, _ keys: Keys) {
        self.source = source
        self.way = way
        self.keys = keys
    }

    /// The same keys for a new configuration of this source. `way` reaches the URL in another way; nil if nothing has
    /// changed there.
    func following(_ source: KeySource, _ way: IssuerKeyWay?) -> FetchedSource {
        FetchedSource(source, way ?? self.way, keys)
    }

    /// Asks the URL at once, if this source reaches it in another way than the source before it.
    func begin(after other: FetchedSource, now: MonotonicTime) {
        if !source.isReached(like: other.source) { keys.state.withLock { $0.keys.reachAnew(now: now) } }
    }

    /// Makes the times of this source's configuration those of its keys.
    func takeSettings(now: MonotonicTime) {
        keys.state.withLock { $0.keys.adopt(source.schedule, now: now) }
    }

    func isSame(as other: KeySource) -> Bool { source.isSame(as: other) }
    func isReached(like other: KeySource) -> Bool { source.isReached(like: other) }
    func sharesKeys(with other: FetchedSource) -> Bool { keys === other.keys }

    var index: Int { source.index }
    var issuer: String { source.issuer }
    var dialect: TokenDialect { source.dialect }
    var labels: [String] { [issuer, dialect.rawValue] }
    var published: KeysAtURL {
        keys.state.withLock { KeysAtURL($0.keys.set, revokedIDs: Set($0.keys.revokedIDs)) }
    }
    var publisher: PublicationOrder.Publisher { PublicationOrder.Publisher(issuer: issuer, dialect: dialect) }
    /// The keys in use, and when the fetch began that has confirmed them; nil if they are not known.
    var confirmed: (set: JWKSet, askedAt: MonotonicTime)? {
        keys.state.withLock { state in
            guard let set = state.keys.set, let askedAt = state.keys.confirmedAt else { return nil }
            return (set, askedAt)
        }
    }
    /// The number of keys in the document that cannot be used.
    var unusableCount: Int { keys.state.withLock { $0.keys.set?.unusableCount ?? 0 } }
    var keyCount: Int { keys.state.withLock { $0.keys.set?.keys.count ?? 0 } }

    func age(now: MonotonicTime) -> Duration? { keys.state.withLock { $0.keys.age(now: now) } }

    var fetchCounts: [(values: [String], number: Double)] {
        let counts = keys.state.withLock { state in
            [("new", state.newCount), ("unchanged", state.unchangedCount), ("failed", state.failedCount)]
        }
        return counts.map { (labels + [$0.0], Double($0.1)) }
    }

    /// Why the keys are missing; nil if they are not.
    var fault: String? {
        keys.state.withLock { state in
            let cause = state.failure.map { ": \($0)" } ?? ""
            return switch state.keys.standing {
            case .current: nil
            case .neverFetched: "the keys of \(issuer) have not been fetched\(cause)"
            case .expired: "the keys of \(issuer) are too old\(cause)"
            }
        }
    }

    func stop() { way.stop() }

    // MARK: Events

    func look(now: MonotonicTime, isWanted: Bool) -> [FetchedKeys.Action] {
        keys.state.withLock { $0.keys.look(now: now, isWanted: isWanted) }
    }

    /// Whether a document is the one whose keys are in use.
    func holds(_ document: [UInt8]) -> Bool {
        keys.state.withLock { $0.keys.set != nil && $0.document == document }
    }

    func receive(_ set: JWKSet, _ answer: HTTPCallAnswer, now: MonotonicTime, _ random: Double) {
        keys.state.withLock { state in
            state.keys.receive(set, entityTag: answer.entityTag, now: now, random: random)
            state.document = answer.body
            state.newCount += 1
        }
    }

    /// Returns false if the keys have expired meanwhile. Nothing has changed then.
    func confirm(_ answer: HTTPCallAnswer, now: MonotonicTime, _ random: Double) -> Bool {
        keys.state.withLock { state in
            guard state.keys.confirm(entityTag: answer.entityTag, now: now, random: random) else { return false }
            state.unchangedCount += 1
            return true
        }
    }

    func fail(now: MonotonicTime, _ random: Double) {
        keys.state.withLock { state in
            state.keys.fail(now: now, random: random)
            state.failedCount += 1
        }
    }

    /// Notes the cause of a failure, or nil for a success. Returns whether that differs from the last one.
    func note(_ cause: String?) -> Bool {
        keys.state.withLock { state in
            defer { state.failure = cause }
            return state.failure != cause
        }
    }

    /// Notes why a key of the document cannot be used, or nil if all can. Returns whether that is a new fault.
    func note(_ fault: JWKSetError?) -> Bool {
        keys.state.withLock { state in
            defer { state.keyFault = fault }
            return fault != nil && state.keyFault != fault
        }
    }
}
