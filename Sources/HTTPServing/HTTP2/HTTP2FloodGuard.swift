import HTTPMessages
import Telemetry

/// Counts the frames of an HTTP/2 client that are not requests, to detect floods.
///
/// It has no clock: the time is passed with each event.
struct HTTP2FloodGuard: Equatable, Sendable {
    /// A DATA frame with fewer bytes counts as a control frame, unless it ends its stream.
    static let dataSizeMinimum = 256
    /// The number of control frames that each response allows in addition: acknowledgements, mostly window updates.
    static let controlFramesPerResponse = 16
    /// The number of resets that each response allows in addition, because viewers cancel requests.
    static let resetsPerResponse = 1

    private let headerBlockSizeMaximum: Int
    private let continuationsMaximum: Int
    /// Whether the connection carries the requests of many clients. The resets of one client must not end it for the
    /// others.
    private let isTrustedProxy: Bool
    private var resets: TokenBucket
    private var controlFrames: TokenBucket
    private var headerBlockSize = 0
    private var continuationCount = 0
    private var hasSeenExpandedHeaders = false

    /// Makes a guard for a new connection. For a trusted proxy, resets and expanded header blocks are not counted.
    init(limits: HTTPLimits, isTrustedProxy: Bool = false, now: MonotonicTime) {
        self.isTrustedProxy = isTrustedProxy
        // The limit is twice the size of a head, so that a head which is only somewhat too large is answered with 431.
        headerBlockSizeMaximum = 2 * limits.headSizeMaximum
        continuationsMaximum = limits.http2.continuationsMaximum
        resets = TokenBucket(burst: limits.http2.resetBurstMaximum, rate: limits.http2.resetRateMaximum, now: now)
        controlFrames = TokenBucket(
            burst: limits.http2.controlFrameBurstMaximum, rate: limits.http2.controlFrameRateMaximum, now: now)
    }

    /// Counts a frame that begins. `isRequest` is true for HEADERS that open a stream.
    ///
    /// Returns the abuse if the frame exceeds a limit.
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

    /// Counts a stream that the server has reset because of the client's input.
    mutating func brokeStreamOff(now: MonotonicTime) -> ConnectionAbuse? {
        countReset(now)
    }

    /// Counts a header block whose decoded size is more than twice the maximum of a head. The second one ends the
    /// connection.
    mutating func expandedHeaders() -> ConnectionAbuse? {
        defer { hasSeenExpandedHeaders = true }
        return hasSeenExpandedHeaders && !isTrustedProxy ? .expandedHeaders : nil
    }

    /// Notes a complete response, which allows more control frames and resets.
    mutating func answered() {
        controlFrames.give(Self.controlFramesPerResponse)
        resets.give(Self.resetsPerResponse)
    }

    /// Notes a sent frame of a response's body, which the client acknowledges with two window updates: for the stream
    /// and for the connection.
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
