import Foundation

/// Decides when a lease is renewed, and with which token and SPC. It has no timer and no clock of its own.
///
/// Times are seconds of a clock that is never set, and goes on while the device sleeps. The server's documentation
/// explains the rule (apps/renewals.md). Renew at the time that the answer names, with the session token. If that
/// fails, ask again after a hundredth of the lease, and use the same SPC for at most a minute. The last third of a
/// lease has room for 33 attempts. After the end of the lease each pause is twice as long as the one before, up to a
/// minute.
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
    private var pause: TimeInterval
    private let endsAt: TimeInterval
    private var dueAt: TimeInterval
    private var spcMadeAt: TimeInterval?
    private var needsToken = false
    private var hasNewToken = false
    /// Whether there is no way to renew this lease.
    public private(set) var isStopped = false

    static let spcLife: TimeInterval = 60
    static let pauseMaximum: TimeInterval = 60

    /// Plans the renewal of a license that arrived at `now`. `token` is the token that was used for it. Returns nil if
    /// there is nothing to renew.
    public init?(after license: License, token: String, at now: TimeInterval) {
        guard let delay = license.renewalDelay else { return nil }
        // If the end of the lease is not known, its length is estimated: the renewal is at two thirds at the latest.
        let life = license.life ?? 1.5 * delay
        pause = max(1, life / 100)
        endsAt = now + life
        dueAt = now + delay
        self.token = license.sessionToken ?? token
    }

    /// The step to take at this time.
    public func due(at now: TimeInterval) -> Step {
        guard !isStopped else { return .stop }
        guard now >= dueAt else { return .wait(until: dueAt) }
        if needsToken { return .getToken }
        return hasUsableSPC(at: now) ? .sendAgain : .makeSPC
    }

    /// Whether the SPC of the last attempt may be sent again at this time.
    public func hasUsableSPC(at time: TimeInterval) -> Bool {
        spcMadeAt.map { time - $0 < Self.spcLife } ?? false
    }

    /// Call this when AVFoundation has made an SPC for the renewal.
    public mutating func madeSPC(at now: TimeInterval) {
        spcMadeAt = now
    }

    /// The step to take after a failed attempt. After a license, make a new `Renewal`.
    public mutating func failed(_ failure: LicenseFailure, at now: TimeInterval) -> Step {
        switch failure.adviceOnRenewal {
        case .tryAgain(let delay):
            wait(for: delay ?? 0, at: now)
        case .getToken:
            needsToken = true
            // A new token that is refused as well must not lead to a loop without pauses.
            if hasNewToken { wait(at: now) }
        case .giveUp: isStopped = true
        }
        return due(at: now)
    }

    /// Call this if there is no new token or no SPC. The next attempt is after a pause.
    public mutating func couldNotAsk(at now: TimeInterval) {
        wait(at: now)
    }

    private mutating func wait(for delay: TimeInterval = 0, at now: TimeInterval) {
        // A hundredth of a long lease would be a long pause for a viewer who waits.
        let hasEnded = now >= endsAt
        if hasEnded { pause = min(pause, Self.pauseMaximum) }
        dueAt = now + max(delay, pause)
        if hasEnded { pause *= 2 }
    }

    /// Sets a new token of the app's own service. The next attempt uses a new SPC.
    public mutating func replaceToken(_ token: String, at now: TimeInterval) {
        self.token = token
        (needsToken, hasNewToken) = (false, true)
        spcMadeAt = nil
        dueAt = now
    }
}
