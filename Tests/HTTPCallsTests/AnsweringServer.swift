import Foundation
import Synchronization
import TestSupport

/// An HTTP server on a free loopback port that gives every request the same answer.
///
/// It serves one connection after the other. If the answer is empty, it sends nothing.
final class AnsweringServer: Sendable {
    let port: UInt16
    private let descriptor: Int32
    private let state = Mutex((connections: 0, request: ""))

    /// Starts the server. `answer` is the whole response, head included.
    init(_ answer: String) throws {
        let listener = try LoopbackListener()
        descriptor = listener.descriptor
        port = listener.port
        // The thread keeps only the descriptor and the state alive, so that the server ends with its owner. The thread
        // also closes the descriptor: if the owner closed it, the thread might accept on a number that another server
        // has got in the meantime.
        Thread.detachNewThread { [owner = Weak(self), descriptor] in
            defer { close(descriptor) }
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                Self.serve(connection, Array(answer.utf8)) { request in owner.note(request) }
                close(connection)
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private final class Weak: Sendable {
        // Safe to share: weak references are read atomically, and this one is set once.
        nonisolated(unsafe) weak var server: AnsweringServer?

        init(_ server: AnsweringServer) {
            unsafe self.server = server
        }

        func note(_ request: String?) {
            unsafe server?.note(request)
        }
    }

    var connectionCount: Int { state.withLock { $0.connections } }
    /// The last complete request.
    var lastRequest: String { state.withLock { $0.request } }

    fileprivate func note(_ request: String?) {
        state.withLock { state in
            if let request { state.request = request } else { state.connections += 1 }
        }
    }

    /// Serves the requests of a connection until the client closes it. Calls `note` with nil at the start, and with
    /// each complete request.
    private static func serve(_ connection: Int32, _ answer: [UInt8], note: (String?) -> Void) {
        note(nil)
        var received: [UInt8] = []
        while true {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = unsafe recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            received += buffer.prefix(count)
            let text = String(decoding: received, as: UTF8.self)
            guard isComplete(text) else { continue }
            note(text)
            received = []
            if !answer.isEmpty { _ = unsafe send(connection, answer, answer.count, Int32(MSG_NOSIGNAL)) }
        }
    }

    private static func isComplete(_ text: String) -> Bool {
        guard let end = text.range(of: "\r\n\r\n") else { return false }
        let length = text[..<end.lowerBound].split(separator: "\r\n")
            .first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst("content-length:".count).trimmingCharacters(in: .whitespaces)) }
        return text[end.upperBound...].utf8.count >= length ?? 0
    }
}
