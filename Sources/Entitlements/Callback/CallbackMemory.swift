/// What a service has decided lately: bounded, and never longer than it may be believed.
///
/// Instants are seconds on a clock that never runs backwards. When the younger half of a table is full, the older one
/// is forgotten.
package struct CallbackMemory: Sendable {
    package struct Limits: Equatable, Sendable {
        /// For how long an answer is believed; a licence's lease bounds it besides.
        package var allowedSeconds: Int64
        /// After how many refusals in a row of one token for one content and track the service is not asked again, and
        /// for how long.
        package var denialMaximum: Int
        package var deniedSeconds: Int64
        /// How many decisions and tokens are remembered, at least 2.
        package var capacity: Int

        package init(
            allowedSeconds: Int64 = 30, denialMaximum: Int = 3, deniedSeconds: Int64 = 10, capacity: Int = 16_384
        ) {
            self.allowedSeconds = allowedSeconds
            self.denialMaximum = denialMaximum
            self.deniedSeconds = deniedSeconds
            self.capacity = capacity
        }
    }

    /// What a decision is about.
    package struct Subject: Hashable, Sendable {
        let token: TokenDigest
        let content: CallbackQuestion.Content
        let device: DeviceIdentifier?
        let use: LicenseUse

        /// `token` is the SHA-256 of the token.
        package init(
            token: [UInt8], content: CallbackQuestion.Content, device: DeviceIdentifier?, use: LicenseUse
        ) {
            self.token = TokenDigest(token)
            self.content = content
            self.device = device
            self.use = use
        }

        fileprivate var refusal: Refusal { Refusal(token: token, contentID: content.contentID, track: content.track) }
    }

    /// What a refusal is about: the service has refused one content and track, for every device.
    fileprivate struct Refusal: Hashable, Sendable {
        let token: TokenDigest
        let contentID: String
        let track: String?
    }

    private struct Permission {
        let claims: Claims
        let believedUntil: Int64
        /// The end of the last licence that the service's own answer allowed; nil without a lease.
        var leaseEnd: Int64?
    }

    private struct Denials {
        var count: Int
        var until: Int64
    }

    private let limits: Limits
    private var permissions: RecentTable<Subject, Permission>
    private var denials: RecentTable<Refusal, Denials>

    package init(_ limits: Limits = Limits()) {
        precondition(limits.capacity >= 2, "a table has two halves")
        self.limits = limits
        permissions = RecentTable(capacity: limits.capacity)
        denials = RecentTable(capacity: limits.capacity)
    }

    /// The claims that the service's answer still allows. An answer about a device that is not known is never believed
    /// again: the next request may come from another device.
    package func permission(for subject: Subject, now: Int64) -> Claims? {
        guard subject.device != nil, let known = permissions[subject], now < known.believedUntil else { return nil }
        return known.claims
    }

    /// The claims of a licence that is still running, for a service that does not answer: they allow one more lease at
    /// most.
    package func grace(for subject: Subject, now: Int64) -> Claims? {
        guard subject.device != nil, let known = permissions[subject], let end = known.leaseEnd, now < end else {
            return nil
        }
        return known.claims
    }

    /// A licence was issued by a fresh answer of the service.
    package mutating func noteAnswer(_ claims: Claims, for subject: Subject, lease: Int64?, now: Int64) {
        denials[subject.refusal] = nil
        guard subject.device != nil else { return }
        let life = min(limits.allowedSeconds, lease ?? limits.allowedSeconds)
        permissions[subject] = Permission(
            claims: claims, believedUntil: now + life, leaseEnd: lease.map { now + $0 })
    }

    /// A licence was issued by an answer that was remembered; by grace nothing is noted, so that grace does not prolong
    /// itself.
    package mutating func noteRemembered(_ subject: Subject, lease: Int64?, now: Int64) {
        guard var known = permissions[subject], let lease else { return }
        known.leaseEnd = now + lease
        permissions[subject] = known
    }

    // MARK: Refusals

    package mutating func noteDenial(of subject: Subject, now: Int64) {
        permissions[subject] = nil
        let known = denials[subject.refusal].flatMap { now < $0.until ? $0.count : nil } ?? 0
        denials[subject.refusal] = Denials(count: known + 1, until: now + limits.deniedSeconds)
    }

    /// Whether the service has refused the token this content and track so often that it is not asked again.
    package func isDenied(_ subject: Subject, now: Int64) -> Bool {
        guard let known = denials[subject.refusal], now < known.until else { return false }
        return known.count >= limits.denialMaximum
    }
}

/// A table that holds at most `capacity` entries, and forgets older ones first.
private struct RecentTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let halfCapacity: Int
    private var younger: [Key: Value] = [:]
    private var older: [Key: Value] = [:]

    init(capacity: Int) {
        halfCapacity = capacity / 2
    }

    subscript(key: Key) -> Value? {
        get { younger[key] ?? older[key] }
        set {
            older[key] = nil
            guard let newValue else {
                younger[key] = nil
                return
            }
            if younger[key] == nil, younger.count >= halfCapacity {
                older = younger
                younger = [:]
            }
            younger[key] = newValue
        }
    }
}
