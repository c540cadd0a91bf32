import HTTPMessages
import Telemetry

/// One request and its response.
final class HTTP2Stream {
    enum Phase {
        /// The first header block is being read.
        case head(HTTP2HeadReader)
        case body(HTTPRequestHead, since: MonotonicTime)
        /// The handler is answering the request.
        case answering
        case responding(since: MonotonicTime)
        /// The handler sends the body in pieces. The time says since when bytes have been waiting for the client; nil
        /// if no bytes wait.
        case streaming(waitingSince: MonotonicTime?)
        /// The response is complete. The client's further bytes are dropped.
        case lingering(since: MonotonicTime)
    }

    let id: Int32
    var phase: Phase
    /// The head of a refused request, until the handler gets it.
    var refusedHead: HTTPRequestHead?
    /// Whether the client has ended its side.
    var requestHasEnded = false
    /// The bytes of the body that have arrived. Their part of the connection's window is not given back yet.
    var body: [UInt8] = []
    /// The most bytes that the body may have.
    var bodySizeMaximum = 0
    /// How many bytes of the body have arrived, whether they are kept or dropped.
    var bodySize = 0
    /// Whether the body is read but not kept, because the answer does not depend on it.
    var dropsBody = false
    /// How many bytes were dropped after the answer.
    var droppedSize = 0
    /// The part of the bytes for all arriving bodies that is reserved for this stream.
    var reservedSize = 0
    /// The bytes that are charged for the head while the body arrives, and for the stream while the rest of the request
    /// is dropped.
    var headSize = 0
    var trailer: HTTP2TrailerReader?
    /// Whether the method is HEAD.
    var isHead = false

    var exchange: HTTPExchange?
    /// The body of the response, if its handler sends it in pieces.
    var streamedBody: HTTPBodyStream?
    private var response: [UInt8] = []
    private var sentCount = 0

    init(id: Int32, limits: HTTPLimits) {
        self.id = id
        phase = .head(HTTP2HeadReader(limits: limits))
    }

    /// Begins to send a body.
    func beginResponse(_ body: [UInt8]) {
        response = body
        sentCount = 0
    }

    /// Releases the response after it was written.
    func forgetResponse() {
        (response, sentCount) = ([], 0)
    }

    /// The bytes that are held for the response's body.
    var responseSize: Int { response.count }

    /// Copies the next bytes of the response's body. Returns their number and whether they are the last ones. The
    /// number is nil while the handler has sent no more of a streamed body.
    func copyResponse(into buffer: UnsafeMutableBufferPointer<UInt8>) -> (count: Int?, isEnd: Bool) {
        if let streamedBody { return unsafe moveResponse(of: streamedBody, into: buffer) }
        let count = min(buffer.count, response.count - sentCount)
        // Safe: `count` is at most the size of the buffer and of the rest of the response.
        unsafe response[sentCount..<sentCount + count].withUnsafeBytes { part in
            unsafe UnsafeMutableRawBufferPointer(buffer).copyMemory(from: part)
        }
        sentCount += count
        return (count, sentCount == response.count)
    }

    private func moveResponse(
        of body: HTTPBodyStream, into buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> (count: Int?, isEnd: Bool) {
        let count = unsafe body.move(into: buffer)
        guard body.waitingSize == 0 else { return (count, false) }
        if body.isFinished { return (count, true) }
        if case .streaming = phase { phase = .streaming(waitingSince: nil) }
        return (count == 0 ? nil : count, false)
    }

    /// Ends the body that the handler sends in pieces, if there is one.
    func endStreamedBody() {
        streamedBody?.end()
        streamedBody = nil
    }

    /// Returns the deadline of the present phase.
    func deadline(_ limits: HTTPLimits) -> MonotonicTime {
        switch phase {
        // The session has the deadline of a header block, because no other frames can come within it.
        case .head, .answering: .distantFuture
        case .body(_, let start): start + limits.bodyAllowance(received: bodySize)
        case .responding(let start): start + limits.writeDeadline
        case .streaming(let start): start.map { $0 + limits.writeDeadline } ?? .distantFuture
        case .lingering(let start): start + limits.lingerDeadline
        }
    }
}
