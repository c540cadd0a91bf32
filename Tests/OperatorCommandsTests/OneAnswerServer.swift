import Foundation
import Synchronization
import TestSupport

/// An HTTP server on a free loopback port that gives one fixed answer to one request, and records the request.
final class OneAnswerServer: Sendable {
    let url: String
    private let descriptor: Int32
    private let received = Mutex<[UInt8]>([])

    /// Starts the server. `answer` is the whole response, head included.
    init(answer: [UInt8]) throws {
        let listener = try LoopbackListener()
        descriptor = listener.descriptor
        url = "http://127.0.0.1:\(listener.port)"
        Thread.detachNewThread { [self] in serve(answer) }
    }

    deinit {
        close(descriptor)
    }

    /// The received request. It is complete when the client has its answer.
    var request: String { received.withLock { String(decoding: $0, as: UTF8.self) } }

    /// Ends the wait for a request that will not come.
    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private func serve(_ answer: [UInt8]) {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return }
        defer { close(connection) }
        while !isComplete {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = unsafe recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            received.withLock { $0 += buffer.prefix(count) }
        }
        _ = unsafe send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
        shutdown(connection, Int32(SHUT_WR))
        // Waits until the client closes too. Otherwise a reset could overtake the answer.
        var rest = [UInt8](repeating: 0, count: 256)
        while unsafe recv(connection, &rest, rest.count, 0) > 0 {}
    }

    private var isComplete: Bool {
        received.withLock { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            guard let end = text.range(of: "\r\n\r\n"), let bodyStart = Self.offset(ofBodyIn: bytes) else {
                return false
            }
            let length = text[..<end.lowerBound].split(separator: "\r\n")
                .first { $0.lowercased().hasPrefix("content-length:") }
                .flatMap { Int($0.dropFirst("content-length:".count).trimmingCharacters(in: .whitespaces)) }
            return bytes.count - bodyStart >= length ?? 0
        }
    }

    private static func offset(ofBodyIn bytes: [UInt8]) -> Int? {
        let separator = Array("\r\n\r\n".utf8)
        return bytes.indices.first { bytes[$0...].starts(with: separator) }.map { $0 + separator.count }
    }
}
