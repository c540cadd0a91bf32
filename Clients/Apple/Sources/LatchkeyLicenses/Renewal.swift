import Foundation

/// Decides when a lease is renewed, and with which token and SPC. It has no timer and no clock of its own.
///
/// Times are seconds of a clock that is never set, such as `ProcessInfo.processInfo.systemUptime`. The server's article
/// "Renewals" explains the rule. Renew at the time that the answer names, with the session token. If that fails, ask
/// again after a hundredth of the lease, and use the same SPC for at most a minute. The last third of a lease has room
/// for 33 attempts.
public struct Renewal: Equatable, Sendable {
    /// What to do next.
    public enum Step: Equatable, Sendable {
        /// Wait until this time, and then call `due`.
        case wait(until: TimeInterval)
        /// Have AVFoundation make an SPC (`renewExpiringResponseData(for:)`), then send it as `LicensePurpose.renewal`.
        case makeSPC
        /// Send the SPC of the last attempt again. The server gives the same answer and counts the request once.
        case sendAgain
        /// Get a new token from the app's own service, call `replaceToken`, and go on with `makeSPC`.
        case getToken
        /// There is no lease, or no way to renew it.
        case stop
    }

    /// The token for the next request.
    public private(set) var token: String
    private let pause: TimeInterval
    private var dueAt: TimeInterval
    private var spcMadeAt: TimeInterval?

    static let spcLife: TimeInterval = 60

    /// Plans the renewal of a licence that arrived at `now`. `token` is the token that was used for it. Returns nil if
    /// there is nothing to renew.
    public init?(after license: License, token: String, at now: TimeInterval) {
        guard let delay = license.renewalDelay else { return nil }
        // If the end of the lease is not known, its length is estimated: the renewal is at two thirds at the latest.
        pause = max(1, (license.life ?? 1.5 * delay) / 100)
        dueAt = now + delay
        self.token = license.sessionToken ?? token
    }

    /// The step to take at this time.
    public func due(at now: TimeInterval) -> Step {
        guard now >= dueAt else { return .wait(until: dueAt) }
        guard let spcMadeAt, now - spcMadeAt < Self.spcLife else { return .makeSPC }
        return .sendAgain
    }

    /// Call this when AVFoundation has made an SPC for the renewal.
    public mutating func madeSPC(at now: TimeInterval) {
        spcMadeAt = now
    }

    /// The step to take after a failed attempt. After a licence, make a new `Renewal`.
    public mutating func failed(_ failure: LicenseFailure, at now: TimeInterval) -> Step {
        switch failure.advice {
        case .tryAgain(let delay):
            dueAt = now + max(delay ?? 0, pause)
            return .wait(until: dueAt)
        case .getToken: return .getToken
        case .giveUp: return .stop
        }
    }

    /// Sets a new token of the app's own service. The next attempt uses a new SPC.
    public mutating func replaceToken(_ token: String, at now: TimeInterval) {
        self.token = token
        spcMadeAt = nil
        dueAt = now
    }
}
