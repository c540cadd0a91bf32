import HTTPMessages
import Telemetry

/// One request and its response.
final class HTTP2Stream {
    enum Phase {
        /// The first header block is being read.
        case head(HTTP2HeadReader)
        case body(HTTPRequestHead, since: MonotonicTime)
        /// The handler has it.
        case answering
        case responding(since: MonotonicTime)
        /// The response is complete, and what the client still sends is dropped.
        case lingering(since: MonotonicTime)
    }

    let id: Int32
    var phase: Phase
    /// Whether the client has ended its side.
    var requestHasEnded = false
    /// What has arrived of the body; also what the connection's window is still to be given back for.
    var body: [UInt8] = []
    /// How many bytes the body may have.
    var bodySizeMaximum = 0
    /// How many bytes of the body have arrived, whether they are kept or not.
    var bodySize = 0
    /// Whether the body is read and not kept: the answer does not depend on it.
    var dropsBody = false
    /// How many bytes were dropped that came after the answer.
    var droppedSize = 0
    /// What this stream takes of the bytes that bodies may have at once.
    var reservedSize = 0
    /// What is charged for the head while the body arrives, and for the stream while the rest of the request is
    /// dropped, in bytes.
    var headSize = 0
    var trailer: HTTP2TrailerReader?
    /// Whether the method is HEAD.
    var isHead = false

    var exchange: HTTPExchange?
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

    /// The whole response was written.
    func forgetResponse() {
        (response, sentCount) = ([], 0)
    }

    /// What is held of the response's body.
    var responseSize: Int { response.count }

    /// Copies the next bytes of the response's body; how many, and whether they are the last.
    func copyResponse(into buffer: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, isEnd: Bool) {
        let count = min(buffer.count, response.count - sentCount)
        // Safe: both ranges were just measured.
        unsafe response[sentCount..<sentCount + count].withUnsafeBytes { part in
            unsafe UnsafeMutableRawBufferPointer(buffer).copyMemory(from: part)
        }
        sentCount += count
        return (count, sentCount == response.count)
    }

    /// When the client's, or our own, time for the present phase is over.
    func deadline(_ limits: HTTPLimits) -> MonotonicTime {
        switch phase {
        // A header block has no other frames within it, so the session measures it.
        case .head, .answering: .distantFuture
        case .body(_, let start): start + limits.bodyAllowance(received: bodySize)
        case .responding(let start): start + limits.writeDeadline
        case .lingering(let start): start + limits.lingerDeadline
        }
    }
}
