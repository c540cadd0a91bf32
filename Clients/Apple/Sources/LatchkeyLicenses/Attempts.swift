import Foundation

/// Decides whether a request for a key is sent again. It has no timer and no clock of its own.
///
/// It is for requests that somebody waits for: the first key of a playback, and a key that the device keeps. `Renewal`
/// is for leases. A lost request is repeated after 1, 2 and 4 seconds, or after the time that the server names. All
/// attempts send the same SPC, so that the server counts them once. Therefore they end a minute after it was made.
public struct Attempts: Sendable {
    /// What to do next.
    public enum Step: Equatable, Sendable {
        /// Wait until this time, and send the same SPC.
        case wait(until: TimeInterval)
        /// Get a new token from the app's own service, and send the same SPC with it.
        case getToken
        /// Report the failure.
        case stop
    }

    static let pauses: [TimeInterval] = [1, 2, 4]

    private let began: TimeInterval
    private var pauses = Attempts.pauses[...]
    private var hasNewToken = false

    /// Begins when the SPC is made.
    public init(at now: TimeInterval) {
        began = now
    }

    /// The step to take after a failed attempt.
    public mutating func failed(_ failure: LicenseFailure, at now: TimeInterval) -> Step {
        switch failure.advice {
        case .tryAgain(let delay):
            guard let pause = pauses.popFirst() else { return .stop }
            let next = now + max(delay ?? 0, pause)
            return next < began + Renewal.spcLife ? .wait(until: next) : .stop
        case .getToken:
            // If a new token is refused as well, a third one is not better.
            guard !hasNewToken else { return .stop }
            hasNewToken = true
            return .getToken
        case .giveUp: return .stop
        }
    }
}

/// Limits how often AVFoundation makes a key request again, because it does so without a pause.
public struct RetryLimit: Sendable {
    static let most = 3
    static let window: TimeInterval = 60

    private var times: [String: [TimeInterval]] = [:]

    public init() {}

    /// Whether the request for this key URI may be made again now. Each `true` counts for a minute.
    public mutating func allows(_ keyURI: String, at now: TimeInterval) -> Bool {
        let recent = times[keyURI, default: []].filter { now - $0 < Self.window }
        let isAllowed = recent.count < Self.most
        times[keyURI] = isAllowed ? recent + [now] : recent
        return isAllowed
    }
}
