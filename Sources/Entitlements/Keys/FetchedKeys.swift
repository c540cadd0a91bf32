package import Telemetry

/// The keys that were fetched from the URL of one issuer, and when to fetch them again.
///
/// It is a value: its owner says what happened and when, and does what `look` tells. All times are on one clock that no
/// step of the time of day changes. `random` is between 0 and 1, and spreads the calls of many nodes.
package struct FetchedKeys: Sendable {
    package struct Settings: Equatable, Sendable {
        /// The time from one success to the next fetch.
        package var refresh: Duration
        /// How long keys are used after the URL has confirmed them.
        package var maximumAge: Duration

        package init(refresh: Duration = refreshDefault, maximumAge: Duration = maximumAgeDefault) {
            self.refresh = refresh
            self.maximumAge = maximumAge
        }
    }

    package enum Action: Equatable, Sendable {
        /// The keys are too old, and are not used any more.
        case expire
        /// Fetch the keys, unless the document still has this entity tag.
        case fetch(ifNot: String?)
    }

    /// What is known of the keys.
    package enum Standing: Equatable, Sendable {
        case neverFetched
        case current
        case expired
    }

    package static let refreshDefault: Duration = .seconds(600)
    package static let maximumAgeDefault: Duration = .seconds(86_400)
    /// The shortest time between two fetches because of unknown key IDs.
    package static let wishPause: Duration = .seconds(60)
    /// The pause after the first of several failures. Each further failure doubles it, up to `refresh`.
    private static let failurePause: Duration = .seconds(5)
    private static let doublingMaximum = 20
    /// The most revoked keys that are remembered after the URL does not have them any more.
    static let revokedMaximum = 1024

    private var settings: Settings
    /// The keys in use, if they are known. The set is empty if the URL has withdrawn all of them.
    package private(set) var set: JWKSet?
    package private(set) var standing = Standing.neverFetched
    /// The IDs of keys that the URL has called revoked, the latest last. They are kept if the URL does not have them
    /// any more, or does not answer: a revoked key must not become good by that.
    package private(set) var revokedIDs: [String] = []
    private var entityTag: String?
    /// When the fetch began that has confirmed the keys last.
    package private(set) var confirmedAt: MonotonicTime?
    /// When the running fetch began; nil if none is running.
    private var begunAt: MonotonicTime?
    private var nextFetch: MonotonicTime
    private var failureCount = 0
    /// Whether a token has named an unknown key since the last fetch began.
    private var isWanted = false
    private var lastWish: MonotonicTime?

    /// Begins without keys, and fetches at `now`. `revokedIDs` are those of the same URL before then.
    package init(_ settings: Settings, revokedIDs: [String] = [], now: MonotonicTime) {
        self.settings = settings
        self.revokedIDs = revokedIDs
        nextFetch = now
    }

    /// Takes the settings of a new configuration. They may make the next fetch earlier, but not later.
    package mutating func adopt(_ settings: Settings, now: MonotonicTime) {
        self.settings = settings
        nextFetch = min(nextFetch, now + settings.refresh)
    }

    /// How long ago the URL has confirmed the keys; nil if it never has.
    package func age(now: MonotonicTime) -> Duration? {
        confirmedAt.map { max(.zero, now - $0) }
    }

    /// What to do now, in this order. `isWanted` says that a token has named an unknown key.
    package mutating func look(now: MonotonicTime, isWanted: Bool) -> [Action] {
        var actions: [Action] = []
        if let confirmedAt, set != nil, now - confirmedAt >= settings.maximumAge {
            // Without the keys, the answer "not modified" would be of no use.
            set = nil
            entityTag = nil
            standing = .expired
            // A shorter `maximumAge` may be the only reason. A URL that fails has its own pauses.
            if failureCount == 0 { nextFetch = now }
            actions.append(.expire)
        }
        if isWanted { self.isWanted = true }
        if begunAt == nil, isDue(now: now) {
            self.isWanted = false
            begunAt = now
            actions.append(.fetch(ifNot: entityTag))
        }
        return actions
    }

    private mutating func isDue(now: MonotonicTime) -> Bool {
        if now >= nextFetch { return true }
        guard isWanted, lastWish.map({ now - $0 >= Self.wishPause }) ?? true else { return false }
        lastWish = now
        return true
    }

    /// The running fetch has brought these keys.
    package mutating func receive(
        _ set: JWKSet, entityTag: String?, now: MonotonicTime, random: Double
    ) {
        self.set = set
        self.entityTag = entityTag
        standing = .current
        let published = Set(set.keys.map { Array($0.id.utf8) })
        revokedIDs.removeAll { published.contains(Array($0.utf8)) }
        revokedIDs += set.revokedIDs
        revokedIDs.removeFirst(max(0, revokedIDs.count - Self.revokedMaximum))
        succeed(now: now, random: random)
    }

    /// The running fetch has shown that the keys in use have not changed. Returns false, and changes nothing, if they
    /// have expired meanwhile.
    ///
    /// `entityTag` is nil if the answer has none. The document still has the tag of the answer before then.
    package mutating func confirm(entityTag: String?, now: MonotonicTime, random: Double) -> Bool {
        guard set != nil else { return false }
        self.entityTag = entityTag ?? self.entityTag
        succeed(now: now, random: random)
        return true
    }

    /// The running fetch has failed. The keys in use stay.
    package mutating func fail(now: MonotonicTime, random: Double) {
        begunAt = nil
        let pause = Self.failurePause * (1 << min(failureCount, Self.doublingMaximum))
        failureCount += 1
        nextFetch = now + Self.spread(min(pause, settings.refresh), random)
    }

    /// The URL is reached in another way from now on, so that it is asked at once. The keys in use stay.
    package mutating func reachAnew(now: MonotonicTime) {
        failureCount = 0
        nextFetch = now
    }

    private mutating func succeed(now: MonotonicTime, random: Double) {
        confirmedAt = begunAt ?? now
        begunAt = nil
        failureCount = 0
        nextFetch = now + Self.spread(settings.refresh, random)
    }

    /// 90 % to 110 % of a pause.
    private static func spread(_ pause: Duration, _ random: Double) -> Duration {
        pause * (0.9 + 0.2 * random)
    }
}
