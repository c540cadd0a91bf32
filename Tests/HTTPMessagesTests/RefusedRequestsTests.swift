import HTTPMessages
import Testing

/// Byte sequences that another parser might read differently, each with the problem that it is refused for.
@Suite struct RefusedRequestsTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let bytes: [UInt8]
        let problem: HTTPProblem

        init(_ text: String, _ problem: HTTPProblem) {
            bytes = Array(text.utf8)
            self.problem = problem
        }

        init(_ text: String, _ malformation: HTTPMalformation) {
            self.init(text, .malformed(malformation))
        }

        var testDescription: String { String(String(decoding: bytes, as: UTF8.self).debugDescription.prefix(120)) }
    }

    static func get(_ fields: String) -> String { "GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n" }
    static func post(_ fields: String, _ body: String = "") -> String {
        "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n\(body)"
    }
    static func chunked(_ body: String) -> String { post("Transfer-Encoding: chunked", body) }

    static let requestLines = [
        Case("GET / HTTP/1.1\nHost: a\n\n", .bareLineFeed),
        Case("GET / HTTP/1.1\r\nHost: a\n\r\n", .bareLineFeed),
        Case("GET / HTTP/1.1\rHost: a\r\n\r\n", .bareCarriageReturn),
        Case("\nGET / HTTP/1.1\r\n", .bareLineFeed),
        Case("\r\n\r\nGET / HTTP/1.1\r\n", .emptyLineBeforeRequest),
        Case(" GET / HTTP/1.1\r\n", .requestLine),
        Case("GET  / HTTP/1.1\r\n", .requestLine),
        Case("GET /  HTTP/1.1\r\n", .requestLine),
        Case("GET / HTTP/1.1 \r\n", .requestLine),
        Case("GET\t/ HTTP/1.1\r\n", .controlCharacter),
        Case("GET /\r\n", .requestLine),
        Case("GET\r\n", .requestLine),
        Case("GET / \r\n", .requestLine),
        Case("GET / a HTTP/1.1\r\n", .requestLine),
        Case("GET / http/1.1\r\n", .requestLine),
        Case("GET / HTTP/1\r\n", .requestLine),
        Case("GET / HTTP/11\r\n", .requestLine),
        Case("GET / HTTP/1.10\r\n", .requestLine),
        Case("GET / HTTP/+1.1\r\n", .requestLine),
        Case("GET / HTTPS/1.1\r\n", .requestLine),
        Case("GET / HTTP/0.9\r\n", .versionNotSupported),
        Case("GET / HTTP/2.0\r\n", .versionNotSupported),
        Case("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .versionNotSupported),
        Case("GE\u{7f}T / HTTP/1.1\r\n", .controlCharacter),
        // A TLS handshake; and the same byte where it begins none.
        Case("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", .tlsOnPlainPort),
        Case("\u{16}\u{16}~", .controlCharacter),
        Case("\r\n\u{16}\u{3}\u{1}", .controlCharacter),
        Case("GET /\u{16} HTTP/1.1\r\n", .controlCharacter),
        Case("G@T / HTTP/1.1\r\n", .requestLine),
        Case("(GET) / HTTP/1.1\r\n", .requestLine),
        Case("get / HTTP/1.1\r\n", .methodNotImplemented),
        Case("TRACE / HTTP/1.1\r\n", .methodNotImplemented),
        Case("CONNECT a:443 HTTP/1.1\r\n", .methodNotImplemented),
        Case("BREW / HTTP/1.1\r\n", .methodNotImplemented),
        Case("GETT / HTTP/1.1\r\n", .methodNotImplemented),
        Case("GET a HTTP/1.1\r\n", .target),
        Case("GET * HTTP/1.1\r\n", .target),
        Case("OPTIONS ** HTTP/1.1\r\n", .target),
        Case("GET ?a HTTP/1.1\r\n", .target),
        Case("GET /a#b HTTP/1.1\r\n", .target),
        Case("GET /\"a\" HTTP/1.1\r\n", .target),
        Case("GET /<a> HTTP/1.1\r\n", .target),
        Case("GET /\u{e4} HTTP/1.1\r\n", .target),
        Case("GET /\u{0} HTTP/1.1\r\n", .controlCharacter),
        Case("GET ftp://a/ HTTP/1.1\r\n", .target),
        Case("GET http:///a HTTP/1.1\r\n", .target),
        Case("GET http:// HTTP/1.1\r\n", .target),
        Case("GET http:a HTTP/1.1\r\n", .target),
    ]

    static let fields = [
        Case("GET / HTTP/1.1\r\n\r\n", .hostMissing),
        Case("GET http://a/ HTTP/1.1\r\n\r\n", .hostMissing),
        Case(get("Host: a"), .hostRepeated),
        Case("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", .hostRepeated),
        Case("GET http://a/ HTTP/1.1\r\nHost:\r\n\r\n", .hostDiffersFromTarget),
        Case("GET / HTTP/1.1\r\nHost: a%zz\r\n\r\n", .hostInvalid),
        Case("GET / HTTP/1.1\r\nHost: a%4\r\n\r\n", .hostInvalid),
        Case("GET / HTTP/1.1\r\nHost: %\r\n\r\n", .hostInvalid),
        Case("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", .hostInvalid),
        Case("GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", .hostInvalid),
        Case("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", .hostInvalid),
        Case("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", .hostInvalid),
        Case("GET / HTTP/1.1\r\nHost: a:b\r\n\r\n", .hostInvalid),
        Case("GET / HTTP/1.1\r\nHost: a:123456\r\n\r\n", .hostInvalid),
        Case("GET / HTTP/1.1\r\nHost: :80\r\n\r\n", .hostInvalid),
        Case("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", .hostInvalid),
        Case("GET / HTTP/1.1\r\nHost: []\r\n\r\n", .hostInvalid),
        Case("GET / HTTP/1.1\r\nHost: [::1]a\r\n\r\n", .hostInvalid),
        Case("GET / HTTP/1.1\r\nHost: \u{e4}\r\n\r\n", .hostInvalid),
        Case("GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", .hostDiffersFromTarget),
        Case("GET http://a:443/ HTTP/1.1\r\nHost: a\r\n\r\n", .hostDiffersFromTarget),
        Case("GET https://a:80/ HTTP/1.1\r\nHost: a\r\n\r\n", .hostDiffersFromTarget),
        Case("GET http://a:8080/ HTTP/1.1\r\nHost: a\r\n\r\n", .hostDiffersFromTarget),
        Case("GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", .target),
        Case(get(" X: y"), .foldedField),
        Case(get("X: y\r\n folded"), .foldedField),
        Case(get("X: y\r\n\tfolded"), .foldedField),
        Case("GET / HTTP/1.1\r\n Host: a\r\n\r\n", .foldedField),
        Case(get("X : y"), .fieldName),
        Case(get("X\t: y"), .fieldName),
        Case(get("X y"), .fieldName),
        Case(get(": y"), .fieldName),
        Case(get("X"), .fieldName),
        Case(get("X(a): y"), .fieldName),
        Case(get("X\u{e4}: y"), .fieldName),
        Case(get("X: a\u{0}b"), .controlCharacter),
        Case(get("X: a\u{b}b"), .controlCharacter),
        Case(get("X: a\u{7f}b"), .controlCharacter),
        Case(get("X: a\rb: c"), .bareCarriageReturn),
        Case(get("X: a\nb: c"), .bareLineFeed),
        Case(get("X: a\r\r\nb: c"), .bareCarriageReturn),
    ]

    static let framing = [
        Case(post("Content-Length: +5"), .contentLengthInvalid),
        Case(post("Content-Length: -5"), .contentLengthInvalid),
        Case(post("Content-Length: 0x5"), .contentLengthInvalid),
        Case(post("Content-Length: 5 5"), .contentLengthInvalid),
        Case(post("Content-Length: 5, 5"), .contentLengthInvalid),
        Case(post("Content-Length: 5,"), .contentLengthInvalid),
        Case(post("Content-Length: 5.0"), .contentLengthInvalid),
        Case(post("Content-Length: 1e3"), .contentLengthInvalid),
        Case(post("Content-Length: five"), .contentLengthInvalid),
        Case(post("Content-Length:"), .contentLengthInvalid),
        Case(post("Content-Length: 9223372036854775808"), .contentLengthInvalid),
        Case(post("Content-Length: 18446744073709551621"), .contentLengthInvalid),
        Case(post("Content-Length: 5\r\nContent-Length: 5"), .contentLengthRepeated),
        Case(post("Content-Length: 5\r\ncontent-length: 6"), .contentLengthRepeated),
        Case(post("Content-Length : 5"), .fieldName),
        Case(post("Content-Length: 5\r\nTransfer-Encoding: chunked"), .contentLengthWithTransferEncoding),
        Case(post("Transfer-Encoding: chunked\r\nContent-Length: 0"), .contentLengthWithTransferEncoding),
        Case(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"), .transferEncodingRepeated),
        Case(post("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"), .transferEncodingRepeated),
        Case(post("Transfer-Encoding:"), .transferEncodingInvalid),
        Case(post("Transfer-Encoding: chunked,"), .transferEncodingInvalid),
        Case(post("Transfer-Encoding: ,chunked"), .transferEncodingInvalid),
        Case(post("Transfer-Encoding: chunked, chunked"), .transferEncodingInvalid),
        Case(post("Transfer-Encoding: chunked, identity"), .transferEncodingInvalid),
        Case(post("Transfer-Encoding: \u{b}chunked"), .controlCharacter),
        Case(post("Transfer-Encoding : chunked"), .fieldName),
        Case("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", .transferEncodingInVersion10),
        Case(post("Transfer-Encoding: gzip, chunked"), .transferCodingNotImplemented),
        Case(post("Transfer-Encoding: gzip"), .transferCodingNotImplemented),
        Case(post("Transfer-Encoding: identity"), .transferCodingNotImplemented),
        Case(post("Transfer-Encoding: xchunked"), .transferCodingNotImplemented),
        Case(post("Transfer-Encoding: \"chunked\""), .transferCodingNotImplemented),
        Case(post("Transfer-Encoding: chunked;a=b"), .transferCodingNotImplemented),
        Case(post("Transfer-Encoding: chunked chunked"), .transferCodingNotImplemented),
        Case(post("Expect: 200-ok\r\nContent-Length: 1"), .expectationFailed),
        Case(post("Expect: 100-continue, x\r\nContent-Length: 1"), .expectationFailed),
        Case(post("Expect: x\r\nExpect: 100-continue\r\nContent-Length: 1"), .expectationFailed),
        Case(post("Expect: \r\nContent-Length: 1"), .expectationFailed),
        Case(post("Content-Length: 65537"), .bodyTooLarge),
        Case(post("Content-Length: 999999999999999999"), .bodyTooLarge),
    ]

    static let chunks = [
        Case(chunked(" 5\r\nhello\r\n0\r\n\r\n"), .chunkSize),
        Case(chunked("5 \r\nhello\r\n0\r\n\r\n"), .chunkSize),
        Case(chunked("5 ;a\r\nhello\r\n0\r\n\r\n"), .chunkSize),
        Case(chunked("0x5\r\nhello\r\n0\r\n\r\n"), .chunkSize),
        Case(chunked("+5\r\nhello\r\n0\r\n\r\n"), .chunkSize),
        Case(chunked("-5\r\nhello\r\n0\r\n\r\n"), .chunkSize),
        Case(chunked("g\r\n"), .chunkSize),
        Case(chunked("\r\n0\r\n\r\n"), .chunkSize),
        Case(chunked(";a\r\n"), .chunkSize),
        Case(chunked("00000000000000005\r\nhello\r\n0\r\n\r\n"), .chunkSize),
        Case(chunked("5\nhello\r\n0\r\n\r\n"), .bareLineFeed),
        Case(chunked("5\rhello\r\n0\r\n\r\n"), .bareCarriageReturn),
        Case(chunked("5;a\nhello\r\n0\r\n\r\n"), .bareLineFeed),
        Case(chunked("5;a\u{0}\r\nhello\r\n0\r\n\r\n"), .chunkExtension),
        Case(chunked("5;\r\nhello\r\n0\r\n\r\n"), .chunkExtension),
        Case(chunked("5;a=\"b\r\nhello\r\n0\r\n\r\n"), .chunkExtension),
        Case(chunked("5;a=\"b\\\"\r\nhello\r\n0\r\n\r\n"), .chunkExtension),
        Case(chunked("5;a=\r\nhello\r\n0\r\n\r\n"), .chunkExtension),
        Case(chunked("5;=b\r\nhello\r\n0\r\n\r\n"), .chunkExtension),
        Case(chunked("5;a=b=c\r\nhello\r\n0\r\n\r\n"), .chunkExtension),
        Case(chunked("5;a=\"b\"c\r\nhello\r\n0\r\n\r\n"), .chunkExtension),
        Case(chunked("5;a;;b\r\nhello\r\n0\r\n\r\n"), .chunkExtension),
        Case(chunked("5; a\r\nhello\r\n0\r\n\r\n"), .chunkExtension),
        Case(chunked("5;a =b\r\nhello\r\n0\r\n\r\n"), .chunkExtension),
        Case(chunked("5;a= b\r\nhello\r\n0\r\n\r\n"), .chunkExtension),
        Case(chunked("5;" + String(repeating: "a", count: 1025)), .chunkExtension),
        Case(chunked("5\r\nhello0\r\n\r\n"), .chunkEnd),
        Case(chunked("5\r\nhello\n0\r\n\r\n"), .chunkEnd),
        Case(chunked("5\r\nhello\r0\r\n\r\n"), .chunkEnd),
        Case(chunked("5\r\nhello!\r\n0\r\n\r\n"), .chunkEnd),
        Case(chunked("0\r\nX: y\n\r\n"), .bareLineFeed),
        Case(chunked("0\r\nX y\r\n\r\n"), .fieldName),
        Case(chunked("0\r\n X: y\r\n\r\n"), .foldedField),
        Case(chunked("0\r\nX: \u{1}\r\n\r\n"), .controlCharacter),
        Case(chunked("0\r\n\rX"), .bareCarriageReturn),
        Case(chunked("10001\r\n"), .bodyTooLarge),
        Case(chunked("ffffffffffffffff\r\n"), .bodyTooLarge),
        Case(chunked("0\r\n" + String(repeating: "X: y\r\n", count: 101)), .headTooLarge),
        Case(chunked("0\r\nX: " + String(repeating: "y", count: 4096)), .headTooLarge),
    ]

    static let all = requestLines + fields + framing + chunks

    /// There is one refusal and nothing more: a second request after the refused one must not be read.
    @Test(arguments: all)
    func refusesOnceAndReadsNothingMore(refused: Case) {
        var connection = HTTP1Connection(limits: HTTPLimits())
        let next = Array("GET /second HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        #expect(connection.received((refused.bytes + next).span) == .refuse(refused.problem))
        #expect(connection.received(next.span) == .read)
        let plan = connection.respond(closing: false)
        #expect(plan.connection == .close)
        #expect(connection.responseSent() == .linger)
        #expect(connection.resume() == .close)
        #expect(connection.received(next.span) == .close)
        #expect(connection.phase == .closed)
    }

    /// The result does not depend on how the bytes are cut.
    @Test(arguments: all)
    func refusesByteByByteToo(refused: Case) {
        var connection = HTTP1Connection(limits: HTTPLimits())
        var action = HTTP1Connection.Action.read
        for byte in refused.bytes where action == .read { action = connection.received([byte].span) }
        if refused.problem == .expectationFailed || refused.problem == .bodyTooLarge || action != .read {
            #expect(action == .refuse(refused.problem))
        } else {
            // The input ends in a control character, which is only detected with the next byte.
            #expect(connection.received([0x0a].span) == .refuse(refused.problem))
        }
    }

    @Test func hasEnoughCases() {
        #expect(Self.all.count >= 140)
    }
}
