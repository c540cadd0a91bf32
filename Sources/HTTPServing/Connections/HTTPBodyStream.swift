import EventLoops

/// The body of a response that its handler sends in pieces, for example a stream of events.
///
/// The handler gets it when the head of the response is written, sends pieces at any time, and finishes it. The stream
/// ends earlier if the client leaves or does not read. When the server shuts down, it finishes every stream.
///
/// Safe to send: it is made and used on the loop of its connection only.
package final class HTTPBodyStream: @unchecked Sendable {
    /// The most bytes that may wait for the client. A larger backlog ends the HTTP/1.1 connection or the HTTP/2 stream.
    package static let waitingSizeMaximum = 64 * 1024

    private enum Phase {
        case open
        /// The handler sends no more, but bytes may still wait for the client.
        case finished
        case ended
    }

    /// The memory that each stream is charged for, from its beginning to its end.
    private static let chargedSize = waitingSizeMaximum + HeldMemory.requestSize

    private let token: StreamToken
    private let loop: LoopContext
    private let memory: MemoryBudget
    private weak var connection: HTTPConnection?
    private var phase = Phase.open
    /// The bytes from `waitingStart` on wait for the client.
    private var waiting: [UInt8] = []
    private var waitingStart = 0
    private var endAction: (@Sendable () -> Void)?

    /// Returns nil if the memory budget has no room for the stream.
    init?(_ token: StreamToken, of connection: HTTPConnection, on loop: LoopContext, charging memory: MemoryBudget) {
        guard memory.charge(Self.chargedSize, to: .outbound) else { return nil }
        self.token = token
        self.connection = connection
        self.loop = loop
        self.memory = memory
    }

    deinit {
        end()
    }

    // MARK: Methods for the handler

    /// Whether the handler may send more. The client may leave at any time.
    package var isOpen: Bool { phase == .open }

    /// Sends a piece of the body. Does nothing if the stream is not open.
    ///
    /// The stream ends if the client has not read the earlier pieces and this one does not fit into the backlog.
    package func send(_ piece: [UInt8]) {
        guard isOpen, !piece.isEmpty else { return }
        guard waitingSize + piece.count <= Self.waitingSizeMaximum else {
            connection?.abandonBody(of: token)
            return end()
        }
        waiting += piece
        connection?.bodyChanged(of: token)
    }

    /// Ends the body after the pieces that were sent.
    package func finish() {
        guard isOpen else { return }
        phase = .finished
        connection?.bodyChanged(of: token)
    }

    /// Runs `action` once, in a later turn of the loop, when the stream has ended for any reason.
    package func whenEnded(_ action: @escaping @Sendable () -> Void) {
        if phase == .ended {
            loop.execute(action)
        } else {
            endAction = action
        }
    }

    // MARK: Methods for drivers

    /// Whether no further piece will follow those that wait.
    var isFinished: Bool { phase != .open }

    /// The number of bytes that wait for the client.
    var waitingSize: Int { waiting.count - waitingStart }

    /// Removes and returns all bytes that wait.
    func take() -> [UInt8] {
        defer { (waiting, waitingStart) = ([], 0) }
        return waitingStart == 0 ? waiting : Array(waiting[waitingStart...])
    }

    /// Moves bytes that wait to the beginning of `buffer`, as many as fit. Returns their number.
    func move(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let count = min(buffer.count, waitingSize)
        // Safe: `count` is at most the size of the buffer and of the bytes that wait.
        unsafe waiting[waitingStart..<waitingStart + count].withUnsafeBytes { part in
            unsafe UnsafeMutableRawBufferPointer(buffer).copyMemory(from: part)
        }
        waitingStart += count
        if waitingStart == waiting.count { (waiting, waitingStart) = ([], 0) }
        return count
    }

    /// Ends the stream, and drops the bytes that wait.
    func end() {
        guard phase != .ended else { return }
        phase = .ended
        (waiting, waitingStart) = ([], 0)
        connection = nil
        memory.release(Self.chargedSize, from: .outbound)
        // A handler must not run within an event of the connection.
        if let endAction = endAction.take() { loop.execute(endAction) }
    }
}
