import HTTPMessages
import Telemetry

/// Reads the first bytes of a connection without TLS, and chooses HTTP/2 or HTTP/1.1 (RFC 9113 section 3.3).
///
/// A client with prior knowledge of HTTP/2 begins with its preface. If a byte differs from the preface, the protocol is
/// HTTP/1.1. A client that stops within the preface is treated as an HTTP/1.1 client that stops within its head.
final class PriorKnowledgeDriver: PreludeDriver {
    private let limits: HTTPLimits
    private var preface = HTTP2PrefaceMatcher()
    /// The received beginning of the preface, while the rest is awaited.
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
            speak(verdict, beginningWith: bytes, on: connection)
            return
        }
        if held.isEmpty { connection.setDeadline(connection.now + limits.headDeadline) }
        for position in 0..<bytes.count { held.append(bytes[position]) }
        if let verdict { speakFromHeld(verdict, on: connection) }
    }

    func inputEnded(on connection: HTTPConnection) {
        // The client has sent at most a part of the preface, which is no request.
        connection.close(reset: false)
    }

    func deadlinePassed(on connection: HTTPConnection) {
        if held.isEmpty {
            // The first request may have arrived just before the deadline.
            connection.readOnceMore()
            if connection.isOpen && !hasChosen && held.isEmpty { connection.refuse(.silent) }
            return
        }
        speakFromHeld(.http1, on: connection).deadlinePassed(on: connection)
    }

    func drain(on connection: HTTPConnection) {
        // If bytes are held, the chosen driver will be told to drain.
        if held.isEmpty { connection.setDeadline(connection.now + limits.drainPatience) }
    }

    @discardableResult
    private func speakFromHeld(_ chosen: ApplicationProtocol, on connection: HTTPConnection) -> any ConnectionDriver {
        let bytes = held
        return speak(chosen, beginningWith: bytes.span, on: connection)
    }

    /// Passes the connection to the driver of this protocol, with the bytes that were read to choose the protocol.
    @discardableResult
    private func speak(
        _ chosen: ApplicationProtocol, beginningWith bytes: Span<UInt8>, on connection: HTTPConnection
    ) -> any ConnectionDriver {
        hasChosen = true
        let driver = chosen.makeDriver(for: connection.listener)
        connection.handOver(to: driver, beginningWith: bytes)
        return driver
    }

    func closed() {
        held = []
    }

    /// Does nothing, because the connection reads the input.
    func socketReady(on connection: HTTPConnection) {}
}
