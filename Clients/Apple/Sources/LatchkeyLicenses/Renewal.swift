import Foundation

/// Decides when a lease is renewed, and with what. It has no timer and no clock of its own.
///
/// Times are seconds of a clock that is never set, such as `ProcessInfo.processInfo.systemUptime`. The rule is the
/// server's (its article "Renewals"): renew when the answer says, with the session token; if that fails, ask again
/// after a hundredth of the lease, with the same SPC for a minute at most. A lease leaves room for 33 attempts in its
/// last third.
public struct Renewal: Equatable, Sendable {
    /// What to do next.
    public enum Step: Equatable, Sendable {
        /// Nothing until this time; then call `due`.
        case wait(until: TimeInterval)
        /// Have AVFoundation make an SPC (`renewExpiringResponseData(for:)`), then send it as `LicensePurpose.renewal`.
        case makeSPC
        /// Send the SPC of the last attempt again: the server answers it as it did before, and counts it once.
        case sendAgain
        /// Get a new token from the app's own service, call `replaceToken`, and go on with `makeSPC`.
        case getToken
        /// There is no lease, or no way to renew it.
        case stop
    }

    /// What the next request presents.
    public private(set) var token: String
    private let pause: TimeInterval
    private var dueAt: TimeInterval
    private var spcMadeAt: TimeInterval?

    static let spcLife: TimeInterval = 60

    /// Begins with a licence that came at a time; nil if it has nothing to renew. `token` is what asked for it.
    public init?(after license: License, token: String, at now: TimeInterval) {
        guard let delay = license.renewalDelay else { return nil }
        // Without the end of the lease its length follows from the first renewal, which is at two thirds at the latest.
        pause = max(1, (license.life ?? 1.5 * delay) / 100)
        dueAt = now + delay
        self.token = license.sessionToken ?? token
    }

    /// What to do at this time.
    public func due(at now: TimeInterval) -> Step {
        guard now >= dueAt else { return .wait(until: dueAt) }
        guard let spcMadeAt, now - spcMadeAt < Self.spcLife else { return .makeSPC }
        return .sendAgain
    }

    /// Call this when AVFoundation has made an SPC for the renewal.
    public mutating func madeSPC(at now: TimeInterval) {
        spcMadeAt = now
    }

    /// What to do after an attempt that brought no licence. After a licence, begin with a new `Renewal`.
    public mutating func failed(_ failure: LicenseFailure, at now: TimeInterval) -> Step {
        switch failure.advice {
        case .tryAgain(let delay):
            dueAt = now + max(delay ?? 0, pause)
            return .wait(until: dueAt)
        case .getToken: return .getToken
        case .giveUp: return .stop
        }
    }

    /// Goes on with a new token of the app's own service. The next attempt has a new SPC.
    public mutating func replaceToken(_ token: String, at now: TimeInterval) {
        self.token = token
        spcMadeAt = nil
        dueAt = now
    }
}
