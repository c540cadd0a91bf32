import HTTPMessages
import Telemetry

/// How a client abuses a connection, by frames that each obey RFC 9113 but together only cost.
package enum HTTP2Abuse: String, Equatable, Sendable, CaseIterable {
    /// Streams are opened and broken off, over and over (CVE-2023-44487), or driven into errors for the server to break off.
    case resets
    /// Frames that bring no request: PING, SETTINGS, PRIORITY, WINDOW_UPDATE, DATA of hardly any bytes, unknown ones.
    case controlFrames = "control_frames"
    /// A header block in too many pieces (CVE-2024-28182).
    case continuations
    /// A header block of far more bytes than any head that would be accepted.
    case headerBlock = "header_block"
}

/// Counts what a client of HTTP/2 sends beside requests. It has no clock: the time comes with each event.
struct HTTP2FloodGuard: Equatable, Sendable {
    /// DATA that does not end its stream and has fewer bytes counts as a control frame.
    static let dataSizeMinimum = 256
    /// How many control frames a response allows for: the acknowledgements of what it sent, window updates above all.
    static let controlFramesPerResponse = 16

    private let headerBlockSizeMaximum: Int
    private let continuationsMaximum: Int
    private var resets: TokenBucket
    private var controlFrames: TokenBucket
    private var headerBlockSize = 0
    private var continuationCount = 0

    init(limits: HTTPLimits, now: MonotonicTime) {
        // Twice what a head may have, so that one that is only somewhat too large is answered 431.
        headerBlockSizeMaximum = 2 * limits.headSizeMaximum
        continuationsMaximum = limits.http2.continuationsMaximum
        resets = TokenBucket(burst: limits.http2.resetBurstMaximum, rate: limits.http2.resetRateMaximum, now: now)
        controlFrames = TokenBucket(
            burst: limits.http2.controlFrameBurstMaximum, rate: limits.http2.controlFrameRateMaximum, now: now)
    }

    /// A frame begins; `isRequest` tells HEADERS that open a stream. Says whether it is one too many.
    mutating func received(_ frame: HTTP2FrameHeader, isRequest: Bool, now: MonotonicTime) -> HTTP2Abuse? {
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
            return resets.take(now: now) ? nil : .resets
        case .priority, .settings, .pushPromise, .ping, .goAway, .windowUpdate, .unknown:
            return countControlFrame(now)
        }
    }

    /// The server has broken a stream off because of what the client sent.
    mutating func brokeStreamOff(now: MonotonicTime) -> HTTP2Abuse? {
        resets.take(now: now) ? nil : .resets
    }

    /// A response is complete.
    mutating func answered() {
        controlFrames.give(Self.controlFramesPerResponse)
    }

    /// A frame of a response's body was sent: the client may give back the window of its stream and the connection's.
    mutating func sentData() {
        controlFrames.give(2)
    }

    private mutating func countControlFrame(_ now: MonotonicTime) -> HTTP2Abuse? {
        controlFrames.take(now: now) ? nil : .controlFrames
    }
}
