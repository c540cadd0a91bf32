import Foundation
import Synchronization
import TestSupport

/// An HTTP server on a free loopback port that accepts many connections, and answers no request before its gate opens.
///
/// The gate opens when the given number of requests wait, or by `open`.
final class GatedServer: Sendable {
    private struct State {
        var connections = 0
        var requests = 0
        var isOpen = false
    }

    let port: UInt16
    private let descriptor: Int32
    private let gate: Gate

    private final class Gate: Sendable {
        private let gathered: Int
        private let state = Mutex(State())
        private let condition = NSCondition()

        init(gathered: Int) {
            self.gathered = gathered
        }

        var counts: (connections: Int, requests: Int) { state.withLock { ($0.connections, $0.requests) } }

        func noteConnection() { state.withLock { $0.connections += 1 } }

        func open() {
            state.withLock { $0.isOpen = true }
            condition.lock()
            condition.broadcast()
            condition.unlock()
        }

        /// Waits until the gate is open.
        func pass() {
            let isFull = state.withLock { state in
                state.requests += 1
                return state.requests >= gathered
            }
            if isFull { open() }
            condition.lock()
            while !state.withLock({ $0.isOpen }) { condition.wait() }
            condition.unlock()
        }
    }

    init(gathered: Int) throws {
        let listener = try LoopbackListener(backlog: 128)
        descriptor = listener.descriptor
        gate = Gate(gathered: gathered)
        port = listener.port
        Thread.detachNewThread { [gate, descriptor] in
            defer { close(descriptor) }
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                gate.noteConnection()
                Thread.detachNewThread { Self.serve(connection, gate) }
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        gate.open()
    }

    var connectionCount: Int { gate.counts.connections }
    var requestCount: Int { gate.counts.requests }

    func open() { gate.open() }

    /// Serves a connection. Each request of these tests ends with its body, "{}".
    private static func serve(_ connection: Int32, _ gate: Gate) {
        defer { close(connection) }
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".utf8)
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            request += buffer[..<count]
            guard request.suffix(2).elementsEqual("{}".utf8) else { continue }
            request = []
            gate.pass()
            guard unsafe send(connection, answer, answer.count, Int32(MSG_NOSIGNAL)) == answer.count else { return }
        }
    }
}
