import Foundation
import TestSupport
import Testing

@testable import HTTPCalls

/// Single exchanges with a loopback server whose answers the test chooses.
@Suite struct HTTPRoundTripTests {
    private func settings(_ adjust: (inout HTTPRoundTripSettings) -> Void = { _ in }) -> HTTPRoundTripSettings {
        var settings = HTTPRoundTripSettings()
        settings.proxy = .none
        settings.timeout = .seconds(20)
        adjust(&settings)
        return settings
    }

    private func exchange(
        _ method: HTTPRoundTripRequest.Method, with server: AnsweringServer, scheme: String = "http",
        fields: [String] = [], _ adjust: (inout HTTPRoundTripSettings) -> Void = { _ in }
    ) throws(HTTPRoundTripError) -> HTTPRoundTripAnswer {
        let request = HTTPRoundTripRequest(method, "\(scheme)://127.0.0.1:\(server.port)/path?x=1", fields: fields)
        return try HTTPRoundTrip.perform(request, settings(adjust))
    }

    private static let empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    @Test func postsTheBodyAndNoFieldOfItsOwn() throws {
        let server = try AnsweringServer(Self.empty)
        _ = try exchange(.post(Array("spc=\u{0}+".utf8)), with: server)
        let lines = server.lastRequest.components(separatedBy: "\r\n")
        #expect(lines.first == "POST /path?x=1 HTTP/1.1")
        let names = lines.dropFirst().prefix { !$0.isEmpty }.map { $0.prefix { $0 != ":" }.lowercased() }
        #expect(Set(names) == ["host", "content-length", "accept-encoding"])
        #expect(server.lastRequest.hasSuffix("\r\n\r\nspc=\u{0}+"))
    }

    @Test func sendsTheFieldsThatAreGiven() throws {
        let server = try AnsweringServer(Self.empty)
        let fields = ["Content-Type: text/plain", "accept: */*", "User-Agent: a", "Authorization: Bearer b"]
        _ = try exchange(.post([1]), with: server, fields: fields)
        for line in fields { #expect(server.lastRequest.contains("\r\n\(line)\r\n"), "\(line)") }
    }

    @Test func gets() throws {
        let server = try AnsweringServer(Self.empty)
        _ = try exchange(.get, with: server)
        #expect(server.lastRequest.hasPrefix("GET /path?x=1 HTTP/1.1\r\n"))
        #expect(!server.lastRequest.lowercased().contains("content-"))
    }

    @Test(arguments: [200, 204, 302, 401, 503])
    func givesEveryAnswer(status: Int) throws {
        let body = status == 204 ? "" : "abc"
        let server = try AnsweringServer(
            "HTTP/1.1 \(status) X\r\nContent-Length: \(body.count)\r\nLocation: /other\r\nX-Twice: 1\r\nx-twice: 2\r\n"
                + "\r\n\(body)")
        let answer = try exchange(.post([1]), with: server)
        #expect(answer.status == status)
        #expect(answer.version == "1.1")
        #expect(answer.body == Array(body.utf8))
        #expect(answer.value(of: "LOCATION") == "/other")
        #expect(answer.value(of: "X-Twice") == "1")
        #expect(answer.fields.filter { $0.name.lowercased() == "x-twice" }.map(\.value) == ["1", "2"])
        #expect(answer.value(of: "X-None") == nil)
        #expect(answer.duration > .zero)
        #expect(server.connectionCount == 1)
    }

    @Test(arguments: [(4, true), (5, false)])
    func boundsTheAnswer(size: Int, fits: Bool) throws {
        let body = String(repeating: "a", count: size)
        let server = try AnsweringServer("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n\(body)")
        let result = Result { () throws(HTTPRoundTripError) in
            try exchange(.get, with: server) { $0.answerSizeMaximum = 4 }.body.count
        }
        #expect(result == (fits ? .success(size) : .failure(.answerTooLarge)))
    }

    @Test func takesAnEncodingOff() throws {
        // "eee" compressed by zlib (RFC 1950). All of these bytes are ASCII.
        let body = "x\u{1}KMM\u{5}\u{0}\u{2}a\u{1}0"
        let server = try AnsweringServer(
            "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(try exchange(.get, with: server).body == Array("eee".utf8))
        #expect(server.lastRequest.lowercased().contains("\r\naccept-encoding: "))
    }

    @Test func saysThatNothingListens() throws {
        let listener = try LoopbackListener()
        close(listener.descriptor)
        let request = HTTPRoundTripRequest(.get, "http://127.0.0.1:\(listener.port)/")
        let error = #expect(throws: HTTPRoundTripError.self) { try HTTPRoundTrip.perform(request, settings()) }
        guard case .notConnected = error else { return #expect(error == .notConnected("")) }
    }

    @Test func saysThatNoHostHasTheName() {
        // No such host can exist (RFC 6761 section 6.4).
        let request = HTTPRoundTripRequest(.get, "http://nothing.invalid/")
        #expect(throws: HTTPRoundTripError.hostUnknown) { try HTTPRoundTrip.perform(request, settings()) }
    }

    @Test func waitsNoLongerThanItsTime() throws {
        let server = try AnsweringServer("")
        #expect(throws: HTTPRoundTripError.timedOut) {
            try exchange(.post([1]), with: server) { $0.timeout = .milliseconds(50) }
        }
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", ""])
    func saysThatTheConnectionEnded(answer: String) throws {
        let server = try ClosingServer(answer)
        let request = HTTPRoundTripRequest(.get, "http://127.0.0.1:\(server.port)/")
        #expect(throws: HTTPRoundTripError.closedEarly) { try HTTPRoundTrip.perform(request, settings()) }
    }

    // MARK: Proxies and TLS

    @Test func asksAProxyByTheWholeAddress() throws {
        let proxy = try AnsweringServer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let request = HTTPRoundTripRequest(.get, "http://keys.invalid/path")
        let answer = try HTTPRoundTrip.perform(request, settings { $0.proxy = .url("http://127.0.0.1:\(proxy.port)") })
        #expect(answer.body == Array("ok".utf8))
        #expect(proxy.lastRequest.hasPrefix("GET http://keys.invalid/path HTTP/1.1\r\n"))
    }

    @Test func saysThatTheProxyRefuses() throws {
        let proxy = try AnsweringServer("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        let request = HTTPRoundTripRequest(
            .post([1]), "https://keys.invalid/path", fields: ["Authorization: Bearer secret"])
        #expect(throws: HTTPRoundTripError.proxyRefused(status: 403)) {
            try HTTPRoundTrip.perform(request, settings { $0.proxy = .url("http://127.0.0.1:\(proxy.port)") })
        }
        #expect(proxy.lastRequest.hasPrefix("CONNECT keys.invalid:443 HTTP/1.1\r\n"))
        #expect(!proxy.lastRequest.contains("secret"))
    }

    @Test func saysThatNoProxyHasTheName() {
        let request = HTTPRoundTripRequest(.get, "http://127.0.0.1:1/")
        #expect(throws: HTTPRoundTripError.proxyUnknown) {
            try HTTPRoundTrip.perform(request, settings { $0.proxy = .url("http://nothing.invalid:1") })
        }
    }

    @Test func refusesAuthoritiesThatAreNoCertificates() throws {
        let server = try AnsweringServer("")
        #expect(throws: HTTPRoundTripError.authoritiesUnusable) {
            try exchange(.get, with: server, scheme: "https") { $0.authorities = Array("nothing".utf8) }
        }
    }
}

/// A server that answers one connection with a text, complete or not, and closes it.
private final class ClosingServer: Sendable {
    let port: UInt16

    init(_ answer: String) throws {
        let listener = try LoopbackListener()
        port = listener.port
        let bytes = Array(answer.utf8)
        Thread.detachNewThread { [descriptor = listener.descriptor] in
            defer { close(descriptor) }
            let connection = accept(descriptor, nil, nil)
            guard connection >= 0 else { return }
            defer { close(connection) }
            var buffer = [UInt8](repeating: 0, count: 1 << 12)
            // A request of a few hundred bytes arrives in one piece.
            _ = unsafe recv(connection, &buffer, buffer.count, 0)
            _ = unsafe send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            shutdown(connection, Int32(SHUT_WR))
            while unsafe recv(connection, &buffer, buffer.count, 0) > 0 {}
        }
    }
}
