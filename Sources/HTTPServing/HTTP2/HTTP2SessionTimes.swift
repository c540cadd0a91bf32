import HTTPMessages
import Telemetry

/// How far a session has come, and the deadlines that follow from it. Each stream has a deadline of its own.
struct HTTP2SessionTimes {
    private let openedAt: MonotonicTime
    private var settings = Settings.awaited
    /// When the head that is arriving began to arrive.
    private var headStartedAt: MonotonicTime?
    /// Since when no stream is open and no request is being answered.
    private(set) var idleSince: MonotonicTime?
    var drain = Drain.none

    private enum Settings {
        /// The client has not sent its settings yet.
        case awaited
        /// The client has sent its settings, but has not acknowledged those of the server.
        case received
        case acknowledged
    }

    enum Drain: Equatable {
        case none
        /// The client got a notice; the final GOAWAY follows.
        case noticed(at: MonotonicTime)
        case final
    }

    init(openedAt now: MonotonicTime) {
        openedAt = now
        idleSince = now
    }

    mutating func receivedSettings(isAcknowledgement: Bool) {
        // The first frame of a client has its settings. An acknowledgement comes later.
        if isAcknowledgement { settings = .acknowledged } else if settings == .awaited { settings = .received }
    }

    /// Notes what is arriving. `hasBegun` says whether a head began since the last call.
    mutating func noteHead(hasBegun: Bool, isArriving: Bool, now: MonotonicTime) {
        if hasBegun { headStartedAt = now }
        if !isArriving { headStartedAt = nil }
    }

    mutating func noteIdleness(_ isIdle: Bool, now: MonotonicTime) {
        idleSince = isIdle ? idleSince ?? now : nil
    }

    // MARK: Deadlines

    func settingsDeadline(_ limits: HTTPLimits) -> MonotonicTime {
        switch settings {
        case .awaited: openedAt + limits.headDeadline
        case .received: openedAt + limits.http2.settingsDeadline
        case .acknowledged: .distantFuture
        }
    }

    func headDeadline(_ limits: HTTPLimits) -> MonotonicTime {
        headStartedAt.map { $0 + limits.headDeadline } ?? .distantFuture
    }

    /// When the session ends, because it is idle or drained.
    func endDeadline(_ limits: HTTPLimits) -> MonotonicTime {
        let idleDeadline = idleSince.map { $0 + limits.idleDeadline } ?? .distantFuture
        guard case .noticed(let instant) = drain else { return idleDeadline }
        return min(idleDeadline, instant + limits.http2.drainNoticeDeadline)
    }
}
