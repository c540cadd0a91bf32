import HTTPMessages
import Testing

typealias FieldList = [(name: String, value: String)]

/// The fewest fields that a browser sends.
private let basic: FieldList = [
    (":method", "GET"), (":scheme", "https"), (":authority", "a.example"), (":path", "/x?y=z"),
]

private func read(
    _ fields: FieldList, endsStream: Bool = true, limits: HTTPLimits = HTTPLimits()
) throws(HTTPProblem) -> HTTPRequestHead {
    var reader = HTTP2HeadReader(limits: limits)
    for (name, value) in fields { reader.append(name: Array(name.utf8).span, value: Array(value.utf8).span) }
    let head = try reader.finish(endsStream: endsStream)
    if let problem = head.problem { throw problem }
    return head
}

@Suite struct HTTP2HeadReaderTests {
    @Test func givesTheHeadThatVersionOneWouldGive() throws {
        let head = try read(
            basic + [("accept", "*/*"), ("content-length", "5"), ("te", "trailers")], endsStream: false)
        #expect(
            head
                == HTTPRequestHead(
                    method: .get, target: HTTPTarget(path: "/x", query: "y=z"), version: .http2,
                    fields: ["accept": "*/*", "content-length": "5", "te": "trailers", "host": "a.example"],
                    transfer: HTTPTransfer(framing: .length(5), keepsAlive: true, expectsContinue: false)))
    }

    @Test func takesTheHostWhereNoAuthorityIs() throws {
        let head = try read([(":method", "GET"), (":scheme", "http"), (":path", "/"), ("host", "b.example:81")])
        #expect(head.fields == ["host": "b.example:81"])
    }

    @Test func takesHostAndAuthorityThatAgree() throws {
        let head = try read(basic + [("host", "A.Example")])
        #expect(head.fields == ["host": "A.Example"])
        // 443 is the default port of https.
        #expect(try read(basic + [("host", "a.example:443")]).fields == ["host": "a.example:443"])
    }

    @Test func takesAnAsteriskForOptions() throws {
        let fields: FieldList = [
            (":path", "*"), (":authority", "[::1]:80"), (":scheme", "http"), (":method", "OPTIONS"),
        ]
        #expect(try read(fields).target == HTTPTarget(path: "*"))
    }

    /// RFC 9113 section 8.2.3.
    @Test func joinsCookies() throws {
        let head = try read(basic + [("cookie", "a=b"), ("accept", "*/*"), ("cookie", "c=d"), ("cookie", "e=f")])
        #expect(head.fields.values(of: "cookie") == ["a=b; c=d; e=f"])
        #expect(head.fields["accept"] == "*/*")
        #expect(try read(basic + [("cookie", "a=b")]).fields.values(of: "cookie") == ["a=b"])
    }

    @Test func framesBodies() throws {
        #expect(try read(basic).transfer.framing == .none)
        #expect(try read(basic + [("content-length", "0")]).transfer.framing == .none)
        #expect(try read(basic, endsStream: false).transfer.framing == .stream)
        #expect(try read(basic + [("content-length", "0")], endsStream: false).transfer.framing == .none)
        #expect(try read(basic + [("content-length", "7")], endsStream: false).transfer.framing == .length(7))
    }

    @Test func readsExpectations() throws {
        let expecting = basic + [("expect", "100-Continue")]
        #expect(try read(expecting, endsStream: false).transfer.expectsContinue)
        #expect(try read(expecting).transfer.expectsContinue == false)
        #expect(throws: HTTPProblem.expectationFailed) { try read(basic + [("expect", "200-ok")]) }
        #expect(throws: HTTPProblem.expectationFailed) {
            try read(expecting + [("expect", "a"), ("expect", "100-continue")])
        }
    }

    @Test func refusesTooManyParametersAndContentCodings() throws {
        var fields = basic
        fields[3].value = "/x?" + String(repeating: "&", count: 63)
        #expect(try read(fields + [("content-encoding", "identity")]).target.path == "/x")
        #expect(throws: HTTPProblem.contentCodingNotSupported) { try read(basic + [("content-encoding", "gzip")]) }
        fields[3].value = "/x?" + String(repeating: "&=", count: 64)
        #expect(throws: HTTPProblem.tooManyParameters) { try read(fields) }
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let fields: FieldList
        let problem: HTTPProblem

        init(_ fields: FieldList, _ problem: HTTPProblem) { (self.fields, self.problem) = (fields, problem) }
        init(_ fields: FieldList, _ malformation: HTTPMalformation) { self.init(fields, .malformed(malformation)) }

        var testDescription: String { fields.map { "\($0.name)=\($0.value)" }.joined(separator: " ") + " \(problem)" }
    }

    private static func without(_ name: String, _ more: FieldList = []) -> FieldList {
        basic.filter { $0.name != name } + more
    }

    static let pseudoFields = [
        Case(without(":method"), .pseudoField),
        Case(without(":scheme"), .pseudoField),
        Case(without(":path"), .pseudoField),
        Case(without(":authority"), .hostMissing),
        Case([], .pseudoField),
        Case(basic + [(":method", "GET")], .pseudoField),
        Case(basic + [(":path", "/")], .pseudoField),
        Case(basic + [(":scheme", "https")], .pseudoField),
        Case(basic + [(":authority", "a.example")], .pseudoField),
        Case(without(":path", [("accept", "*/*"), (":path", "/")]), .pseudoField),
        Case([("accept", "*/*")] + basic, .pseudoField),
        Case(basic + [(":status", "200")], .pseudoField),
        Case(basic + [(":protocol", "websocket")], .pseudoField),
        Case(basic + [(":", "")], .pseudoField),
        Case(basic + [(":Method", "GET")], .pseudoField),
        Case(without(":path", [(":path", "")]), .pseudoField),
        Case(without(":authority", [(":authority", "")]), .pseudoField),
        Case(without(":scheme", [(":scheme", "ftp")]), .pseudoField),
        Case(without(":scheme", [(":scheme", "httpsx")]), .pseudoField),
    ]

    static let values = [
        Case(without(":method", [(":method", "get")]), .methodNotImplemented),
        Case(without(":method", [(":method", "TRACE")]), .methodNotImplemented),
        Case([(":method", "CONNECT"), (":authority", "a:443")], .methodNotImplemented),
        Case(without(":method", [(":method", "G T")]), .requestLine),
        Case(without(":method", [(":method", "GET\u{0}")]), .controlCharacter),
        Case(without(":path", [(":path", "x")]), .target),
        Case(without(":path", [(":path", "*")]), .target),
        Case(without(":path", [(":path", "https://a.example/")]), .target),
        Case(without(":path", [(":path", "/a b")]), .target),
        Case(without(":path", [(":path", "/a#b")]), .target),
        Case(without(":path", [(":path", "/\u{e4}")]), .target),
        Case(without(":path", [(":path", "/\r\nx: y")]), .controlCharacter),
        Case(without(":authority", [(":authority", "u@a")]), .hostInvalid),
        Case(without(":authority", [(":authority", "a b")]), .hostInvalid),
        Case(without(":authority", [(":authority", "a/b")]), .hostInvalid),
        Case(without(":authority", [(":authority", "a:b")]), .hostInvalid),
        Case(basic + [("host", "b.example")], .hostDiffersFromTarget),
        Case(basic + [("host", "a.example:80")], .hostDiffersFromTarget),
        Case(basic + [("host", "a.example"), ("host", "a.example")], .hostRepeated),
        Case(basic + [("host", "")], .hostInvalid),
    ]

    static let fields = [
        Case(basic + [("", "x")], .fieldName),
        Case(basic + [("Accept", "x")], .fieldName),
        Case(basic + [("accepT", "x")], .fieldName),
        Case(basic + [("a b", "x")], .fieldName),
        Case(basic + [("a:b", "x")], .fieldName),
        Case(basic + [("a\u{0}", "x")], .fieldName),
        Case(basic + [("a\u{e4}", "x")], .fieldName),
        Case(basic + [("x", "a\r\nb")], .controlCharacter),
        Case(basic + [("x", "a\nb")], .controlCharacter),
        Case(basic + [("x", "a\u{0}b")], .controlCharacter),
        Case(basic + [("x", "a\u{7f}")], .controlCharacter),
        Case(basic + [("x", " a")], .foldedField),
        Case(basic + [("x", "a\t")], .foldedField),
        Case(basic + [("connection", "close")], .connectionField),
        Case(basic + [("connection", "te")], .connectionField),
        Case(basic + [("keep-alive", "5")], .connectionField),
        Case(basic + [("proxy-connection", "x")], .connectionField),
        Case(basic + [("transfer-encoding", "chunked")], .connectionField),
        Case(basic + [("upgrade", "h2c")], .connectionField),
        Case(basic + [("te", "gzip")], .connectionField),
        Case(basic + [("te", "trailers, gzip")], .connectionField),
        Case(basic + [("content-length", "1"), ("content-length", "1")], .contentLengthRepeated),
        Case(basic + [("content-length", "1, 1")], .contentLengthInvalid),
        Case(basic + [("content-length", "+1")], .contentLengthInvalid),
        Case(basic + [("content-length", "")], .contentLengthInvalid),
        Case(basic + [("content-length", "1000000000000000000")], .contentLengthInvalid),
        Case(basic + [("content-length", "1")], .contentLengthInvalid),
    ]

    @Test(arguments: pseudoFields + values + fields)
    func refuses(example: Case) {
        #expect(throws: example.problem) { try read(example.fields) }
    }

    // MARK: Limits

    @Test(arguments: [0, 1])
    func limitsTheNumberOfFields(excess: Int) throws {
        var limits = HTTPLimits()
        limits.fieldCountMaximum = 5
        let fields = basic + (0..<5 + excess).map { ("x-\($0)", "y") }
        if excess == 0 {
            #expect(try read(fields, limits: limits).fields.count == 6)
        } else {
            #expect(throws: HTTPProblem.headTooLarge) { try read(fields, limits: limits) }
        }
    }

    /// Each field counts with its bytes and 32 more.
    @Test(arguments: [0, 1])
    func limitsTheSizeOfAHead(excess: Int) throws {
        var limits = HTTPLimits()
        limits.headSizeMaximum = 1000
        let size = basic.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
        let fields = basic + [("x", String(repeating: "y", count: 1000 - size - 33 + excess))]
        if excess == 0 {
            #expect(try read(fields, limits: limits).fields.count == 2)
        } else {
            #expect(throws: HTTPProblem.headTooLarge) { try read(fields, limits: limits) }
        }
    }

    @Test(arguments: [0, 1])
    func limitsTheTarget(excess: Int) throws {
        var limits = HTTPLimits()
        limits.targetSizeMaximum = 100
        let path = "/" + String(repeating: "a", count: 99 + excess)
        let fields: FieldList = [(":method", "GET"), (":path", path), (":scheme", "http"), (":authority", "a")]
        if excess == 0 {
            #expect(try read(fields, limits: limits).target.path == path)
        } else {
            #expect(throws: HTTPProblem.targetTooLong) { try read(fields, limits: limits) }
        }
    }

    /// The reader keeps the first problem. A head that is refused in its middle is still known to be of a HEAD request.
    @Test func keepsTheFirstProblem() {
        var reader = HTTP2HeadReader(limits: HTTPLimits())
        reader.append(name: Array(":method".utf8).span, value: Array("HEAD".utf8).span)
        reader.append(name: Array("Bad".utf8).span, value: Array("x".utf8).span)
        reader.append(name: Array("x".utf8).span, value: [UInt8](repeating: 97, count: 1 << 20).span)
        #expect(reader.isHeadRequest)
        #expect(throws: HTTPProblem.malformed(.fieldName)) { try reader.finish(endsStream: true) }
    }
}

@Suite struct HTTP2TrailerReaderTests {
    private func problem(_ fields: FieldList, limits: HTTPLimits = HTTPLimits()) -> HTTPProblem? {
        var reader = HTTP2TrailerReader(limits: limits)
        for (name, value) in fields { reader.append(name: Array(name.utf8).span, value: Array(value.utf8).span) }
        return reader.problem
    }

    @Test func takesAnyField() {
        #expect(problem([("x", "y"), ("connection", "")]) == nil)
    }

    @Test func refusesWhatNoFieldMayBe() {
        #expect(problem([(":path", "/")]) == .malformed(.pseudoField))
        #expect(problem([("X", "y")]) == .malformed(.fieldName))
        #expect(problem([("x", "y\n")]) == .malformed(.controlCharacter))
    }

    @Test func limitsSizeAndCount() {
        var limits = HTTPLimits()
        (limits.trailerSizeMaximum, limits.fieldCountMaximum) = (102, 3)
        let field = ("x", "y")
        #expect(problem([field, field, field], limits: limits) == nil)
        #expect(problem([field, field, ("x", "yy")], limits: limits) == .headTooLarge)
        limits.trailerSizeMaximum = 1000
        #expect(problem([field, field, field, field], limits: limits) == .headTooLarge)
    }
}

@Suite struct HTTP2FieldBlockTests {
    private func texts(_ block: HTTP2FieldBlock) -> [String] {
        block.fields.map {
            String(decoding: block.storage[$0.name], as: UTF8.self) + "="
                + String(decoding: block.storage[$0.value], as: UTF8.self)
        }
    }

    @Test func writesLowerCaseNamesAndDropsFieldsOfTheConnection() {
        let response = HTTPResponse(
            status: .ok,
            fields: [
                "Content-Type": "text/plain", "Connection": "close", "X-Error-Code": "A b", "Keep-Alive": "5",
                "Transfer-Encoding": "chunked", "Content-Length": "9", "Date": "x", "Upgrade": "h2c", "X-Space": " a ",
            ], body: [1, 2, 3])
        #expect(
            texts(HTTP2FieldBlock(response, date: Array("now".utf8))) == [
                ":status=200", "date=now", "content-length=3", "content-type=text/plain", "x-error-code=A b",
                "x-space=a",
            ])
    }

    @Test(arguments: [HTTPStatus.noContent, .notModified])
    func declaresNoLengthWhereNoBodyMayBe(status: HTTPStatus) {
        #expect(
            texts(HTTP2FieldBlock(HTTPResponse(status: status), date: Array("d".utf8))) == [
                ":status=\(status.code)", "date=d",
            ])
    }

    @Test func writesTheInterimResponse() {
        #expect(texts(.interimContinue) == [":status=100"])
    }
}
