import HTTPMessages
import Telemetry

/// Listens to the first bytes of a plain connection, and hands it to HTTP/2 or HTTP/1.1 (RFC 9113 section 3.3).
///
/// A client that knows of HTTP/2 begins with its preface; the first byte that differs makes it HTTP/1.1. What the two
/// have in common is short, and a client that stops in the middle of it is an HTTP/1.1 client that stops in the middle
/// of its head.
final class PriorKnowledgeDriver: PreludeDriver {
    private let limits: HTTPLimits
    private var preface = HTTP2PrefaceMatcher()
    /// The beginning of the preface, as long as more of it is awaited.
    private var held: [UInt8] = []
    private var hasChosen = false

    init(limits: HTTPLimits) {
        self.limits = limits
    }

    let isReading = true

    func started(on connection: HTTPConnection) {
        connection.setDeadline(connection.firstByteDeadline)
    }

    func received(_ bytes: Span<UInt8>, on connection: HTTPConnection) {
        let verdict = preface.match(bytes)
        if held.isEmpty, let verdict {
            hasChosen = true
            connection.speak(verdict, beginningWith: bytes)
            return
        }
        if held.isEmpty { connection.setDeadline(connection.now + limits.headDeadline) }
        for position in 0..<bytes.count { held.append(bytes[position]) }
        if let verdict { handOver(connection, to: verdict) }
    }

    func inputEnded(on connection: HTTPConnection) {
        // Not even the beginning of a request.
        connection.close(reset: false)
    }

    func deadlinePassed(on connection: HTTPConnection) {
        if held.isEmpty {
            // The first request may have come a moment ago.
            connection.readOnceMore()
            if connection.isOpen && !hasChosen && held.isEmpty { connection.refuse(.silent) }
            return
        }
        handOver(connection, to: .http1).deadlinePassed(on: connection)
    }

    func drain(on connection: HTTPConnection) {
        // What is chosen will be told to drain in its turn.
        if held.isEmpty { connection.setDeadline(connection.now + limits.drainPatience) }
    }

    @discardableResult
    private func handOver(_ connection: HTTPConnection, to chosen: ApplicationProtocol) -> any ConnectionDriver {
        let bytes = held
        hasChosen = true
        return connection.speak(chosen, beginningWith: bytes.span)
    }

    func closed() {
        held = []
    }

    /// The connection reads.
    func socketReady(on connection: HTTPConnection) {}
}

/// Compares the beginning of a connection with the preface of HTTP/2 (RFC 9113 section 3.4), however it is cut.
struct HTTP2PrefaceMatcher: Equatable {
    /// What an HTTP/2 client sends first, 24 bytes.
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private var matchedCount = 0

    /// Compares the next bytes; `nil` while what has come is a beginning of the preface. Not to be called after a
    /// verdict.
    mutating func match(_ bytes: Span<UInt8>) -> ApplicationProtocol? {
        let count = min(bytes.count, Self.preface.count - matchedCount)
        for position in 0..<count where bytes[position] != Self.preface[matchedCount + position] { return .http1 }
        matchedCount += count
        return matchedCount == Self.preface.count ? .http2 : nil
    }
}
