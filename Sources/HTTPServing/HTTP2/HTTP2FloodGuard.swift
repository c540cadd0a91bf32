import HTTPMessages
import Telemetry

/// Counts what a client of HTTP/2 sends beside requests. It has no clock: the time comes with each event.
struct HTTP2FloodGuard: Equatable, Sendable {
    /// DATA that does not end its stream and has fewer bytes counts as a control frame.
    static let dataSizeMinimum = 256
    /// How many control frames a response allows for: the acknowledgements of what it sent, window updates above all.
    static let controlFramesPerResponse = 16
    /// How many resets a response allows for: viewers cancel, and a proxy passes that on.
    static let resetsPerResponse = 1

    private let headerBlockSizeMaximum: Int
    private let continuationsMaximum: Int
    /// Whether the connection carries the requests of many clients, whose resets must not end it for the others.
    private let isTrustedProxy: Bool
    private var resets: TokenBucket
    private var controlFrames: TokenBucket
    private var headerBlockSize = 0
    private var continuationCount = 0
    private var hasSeenExpandedHeaders = false

    /// A guard that has seen nothing. For a trusted proxy, resets and expanded header blocks are not counted.
    init(limits: HTTPLimits, isTrustedProxy: Bool = false, now: MonotonicTime) {
        self.isTrustedProxy = isTrustedProxy
        // Twice what a head may have, so that one that is only somewhat too large is answered 431.
        headerBlockSizeMaximum = 2 * limits.headSizeMaximum
        continuationsMaximum = limits.http2.continuationsMaximum
        resets = TokenBucket(burst: limits.http2.resetBurstMaximum, rate: limits.http2.resetRateMaximum, now: now)
        controlFrames = TokenBucket(
            burst: limits.http2.controlFrameBurstMaximum, rate: limits.http2.controlFrameRateMaximum, now: now)
    }

    /// A frame begins; `isRequest` tells HEADERS that open a stream. Says whether it is one too many.
    mutating func received(_ frame: HTTP2FrameHeader, isRequest: Bool, now: MonotonicTime) -> ConnectionAbuse? {
        switch frame.type {
        case .headers:
            (headerBlockSize, continuationCount) = (frame.length, 0)
            if headerBlockSize > headerBlockSizeMaximum { return .headerBlock }
            return isRequest ? nil : countControlFrame(now)
        case .continuation:
            headerBlockSize += frame.length
            continuationCount += 1
            if continuationCount > continuationsMaximum { return .continuations }
            return headerBlockSize > headerBlockSizeMaximum ? .headerBlock : nil
        case .data:
            return frame.endsStream || frame.length >= Self.dataSizeMinimum ? nil : countControlFrame(now)
        case .reset:
            return countReset(now)
        case .priority, .settings, .pushPromise, .ping, .goAway, .windowUpdate, .unknown:
            return countControlFrame(now)
        }
    }

    /// The server has broken a stream off because of what the client sent.
    mutating func brokeStreamOff(now: MonotonicTime) -> ConnectionAbuse? {
        countReset(now)
    }

    /// A header block has decoded to more than twice what a head may have. The second one ends the connection.
    mutating func expandedHeaders() -> ConnectionAbuse? {
        defer { hasSeenExpandedHeaders = true }
        return hasSeenExpandedHeaders && !isTrustedProxy ? .expandedHeaders : nil
    }

    /// A response is complete.
    mutating func answered() {
        controlFrames.give(Self.controlFramesPerResponse)
        resets.give(Self.resetsPerResponse)
    }

    /// A frame of a response's body was sent: the client may give back the window of its stream and the connection's.
    mutating func sentData() {
        controlFrames.give(2)
    }

    private mutating func countReset(_ now: MonotonicTime) -> ConnectionAbuse? {
        isTrustedProxy || resets.take(now: now) ? nil : .resets
    }

    private mutating func countControlFrame(_ now: MonotonicTime) -> ConnectionAbuse? {
        controlFrames.take(now: now) ? nil : .controlFrames
    }
}
