import ByteCoding

/// The recent decisions of a service: a bounded number of them, each for a bounded time.
///
/// Instants are seconds on a clock that never runs backwards. When the younger half of a table is full, the older half
/// is removed.
package struct CallbackMemory: Sendable {
    package struct Limits: Equatable, Sendable {
        /// For how long a permission is reused; never longer than the lease of the license.
        package var allowedSeconds: Int64
        /// The number of consecutive refusals of one token for one content and track, after which the service is not
        /// asked again for a while.
        package var denialMaximum: Int
        /// For how long a refusal counts.
        package var deniedSeconds: Int64
        /// The most permissions, and the most refusals, that are remembered; at least 2.
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

    /// The request that a permission is about: a token, a content, a device and a use.
    package struct Subject: Hashable, Sendable {
        let token: TokenDigest
        let content: CallbackQuestion.Content
        let device: DeviceIdentifier?
        let use: LicenseUse

        package init(
            token: TokenDigest, content: CallbackQuestion.Content, device: DeviceIdentifier?, use: LicenseUse
        ) {
            self.token = token
            self.content = content
            self.device = device
            self.use = use
        }

        fileprivate var refusal: Refusal { Refusal(token: token, contentID: content.contentID, track: content.track) }
    }

    /// The requests that a refusal is about: a refusal of one content and track holds for every device.
    fileprivate struct Refusal: Hashable, Sendable {
        let token: TokenDigest
        let contentID: String
        let track: String?
    }

    private struct Permission {
        let claims: Claims
        let believedUntil: Int64
        /// The end of the lease of the last license that was issued by an answer; nil if that license has no lease.
        var leaseEnd: Int64?
    }

    private struct Denials {
        var count: Int
        var until: Int64
    }

    private let limits: Limits
    private var permissions: RecentEntries<Subject, Permission>
    private var denials: RecentEntries<Refusal, Denials>

    package init(_ limits: Limits = Limits()) {
        self.limits = limits
        permissions = RecentEntries(capacity: limits.capacity)
        denials = RecentEntries(capacity: limits.capacity)
    }

    /// Returns the claims of an answer that may still be reused.
    ///
    /// An answer about an unknown device is never reused: the next request may come from another device.
    package func permission(for subject: Subject, now: Int64) -> Claims? {
        guard subject.device != nil, let known = permissions[subject], now < known.believedUntil else { return nil }
        return known.claims
    }

    /// Returns the claims of a license whose lease still runs, for use while the service does not answer.
    ///
    /// They allow at most one more lease.
    package func grace(for subject: Subject, now: Int64) -> Claims? {
        guard subject.device != nil, let known = permissions[subject], let end = known.leaseEnd, now < end else {
            return nil
        }
        return known.claims
    }

    /// Notes that a license was issued by a fresh answer of the service.
    package mutating func noteAnswer(_ claims: Claims, for subject: Subject, lease: Int64?, now: Int64) {
        denials.forget(subject.refusal)
        guard subject.device != nil else { return }
        let life = min(limits.allowedSeconds, lease ?? limits.allowedSeconds)
        permissions.remember(
            Permission(claims: claims, believedUntil: now + life, leaseEnd: lease.map { now + $0 }), for: subject)
    }

    /// Notes that a license was issued by a remembered answer.
    ///
    /// A license that was issued by grace must not be noted, because grace would then prolong itself.
    package mutating func noteRemembered(_ subject: Subject, lease: Int64?, now: Int64) {
        guard var known = permissions[subject], let lease else { return }
        known.leaseEnd = now + lease
        permissions.remember(known, for: subject)
    }

    // MARK: Refusals

    /// Notes that the service has refused a request.
    package mutating func noteDenial(of subject: Subject, now: Int64) {
        permissions.forget(subject)
        let known = denials[subject.refusal].flatMap { now < $0.until ? $0.count : nil } ?? 0
        denials.remember(Denials(count: known + 1, until: now + limits.deniedSeconds), for: subject.refusal)
    }

    /// Whether the service has refused this token, content and track so often that it is not asked again for now.
    package func isDenied(_ subject: Subject, now: Int64) -> Bool {
        guard let known = denials[subject.refusal], now < known.until else { return false }
        return known.count >= limits.denialMaximum
    }
}
