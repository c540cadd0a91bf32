/// Which streams a client may still send on (RFC 9113 sections 5.1 and 5.1.1), judged by the client's own frames alone.
///
/// nghttp2 forgets a stream when it closes, and from then on ignores what comes for it. This remembers the streams that
/// the client itself has ended or passed over, as far as is cheap, so that a frame on one of them is the error that it
/// is. What the server has reset is not looked at: frames that were on their way are no error.
struct HTTP2StreamOrder: Equatable, Sendable {
    /// So many ended streams are remembered, the latest.
    static let endedMaximum = 128
    /// So many gaps between new streams are remembered, the latest.
    static let gapsMaximum = 16

    /// What is wrong with a frame.
    enum Fault: Equatable, Sendable {
        /// PROTOCOL_ERROR.
        case `protocol`
        /// STREAM_CLOSED.
        case streamClosed
    }

    /// The highest stream that the client has opened.
    private(set) var highest: Int32 = 0
    private var ended: Set<Int32> = []
    private var endedInOrder: [Int32] = []
    private var oldest = 0
    private var gaps: [ClosedRange<Int32>] = []

    /// Whether a frame opens a stream.
    func opensStream(_ frame: HTTP2FrameHeader) -> Bool {
        frame.type == .headers && frame.streamID > highest && frame.streamID & 1 == 1
    }

    /// Takes note of a frame, unless it is out of order.
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
            // nghttp2 does not look at it, because priorities of this kind are off.
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
