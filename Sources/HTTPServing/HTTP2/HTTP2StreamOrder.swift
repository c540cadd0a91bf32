/// Finds frames on streams on which the client must not send any more (RFC 9113 sections 5.1 and 5.1.1).
///
/// nghttp2 forgets a stream when it closes, and then ignores frames on it. This type remembers the latest streams that
/// the client itself has ended or skipped, so that a frame on one of them is an error. Streams that the server has
/// reset are not remembered, because the client may have sent frames before it saw the reset.
struct HTTP2StreamOrder: Equatable, Sendable {
    /// The most ended streams that are remembered.
    static let endedMaximum = 128
    /// The most gaps between new streams that are remembered.
    static let gapsMaximum = 16

    /// The error of a frame.
    enum Fault: Equatable, Sendable {
        /// PROTOCOL_ERROR.
        case `protocol`
        /// STREAM_CLOSED.
        case streamClosed
    }

    /// The highest identifier of a stream that the client has opened.
    private(set) var highest: Int32 = 0
    private var ended: Set<Int32> = []
    private var endedInOrder: [Int32] = []
    private var oldest = 0
    private var gaps: [ClosedRange<Int32>] = []

    /// Whether a frame opens a stream.
    func opensStream(_ frame: HTTP2FrameHeader) -> Bool {
        frame.type == .headers && frame.streamID > highest && frame.streamID & 1 == 1
    }

    /// Notes a frame. Returns its error; nil if the frame has no error.
    mutating func received(_ frame: HTTP2FrameHeader) -> Fault? {
        let id = frame.streamID
        switch frame.type {
        case .headers where opensStream(frame):
            if id > highest + 2 { note(gap: highest + 1...id - 1) }
            highest = id
            if frame.endsStream { end(id) }
        case .headers, .data:
            if ended.contains(id) { return .streamClosed }
            if frame.type == .headers && gaps.contains(where: { $0.contains(id) }) { return .protocol }
            if frame.endsStream { end(id) }
        case .reset:
            if id <= highest { end(id) }
        case .priority:
            // nghttp2 does not check the frame, because priorities of this kind are switched off.
            if id == 0 { return .protocol }
        case .settings, .pushPromise, .ping, .goAway, .windowUpdate, .continuation, .unknown:
            break
        }
        return nil
    }

    private mutating func note(gap: ClosedRange<Int32>) {
        if gaps.count == Self.gapsMaximum { gaps.removeFirst() }
        gaps.append(gap)
    }

    private mutating func end(_ id: Int32) {
        guard ended.insert(id).inserted else { return }
        if endedInOrder.count < Self.endedMaximum {
            endedInOrder.append(id)
        } else {
            ended.remove(endedInOrder[oldest])
            endedInOrder[oldest] = id
            oldest = (oldest + 1) % Self.endedMaximum
        }
    }
}
