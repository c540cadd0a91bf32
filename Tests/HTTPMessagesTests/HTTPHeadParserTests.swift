import HTTPMessages
import Testing

@Suite struct HTTPHeadParserTests {
    static let request =
        "POST /fps/license?kid=1&a=%20 HTTP/1.1\r\nHost: keys.example:8443\r\nX-Empty:\r\nX-Twice: a\r\n"
        + "x-twice:  b \t\r\nContent-Length: 5\r\nAuthorization: Bearer abc\r\n\r\n"

    @Test func readsEveryPart() throws {
        let parsed = try #require(try parse(Self.request + "hello"))
        let head = parsed.head
        #expect(parsed.size == Self.request.utf8.count)
        #expect(head.method == .post)
        #expect(head.version == .http11)
        #expect(head.target == HTTPTarget(path: "/fps/license", query: "kid=1&a=%20"))
        #expect(head.target.raw == "/fps/license?kid=1&a=%20")
        #expect(head.fields["host"] == "keys.example:8443")
        #expect(head.fields["X-EMPTY"] == "")
        #expect(head.fields.values(of: "X-Twice") == ["a", "b"])
        #expect(head.transfer.framing == .length(5))
        #expect(head.transfer.keepsAlive)
        #expect(!head.transfer.expectsContinue)
    }

    @Test(arguments: 0..<request.utf8.count)
    func waitsForTheRestOfEveryTruncation(length: Int) throws {
        #expect(try parse(Array(Self.request.utf8.prefix(length))) == nil)
    }

    @Test func readsTheSameByteByByte() throws {
        let bytes = Array(Self.request.utf8)
        var parser = HTTPHeadParser(limits: HTTPLimits())
        for length in 0..<bytes.count {
            let early = try parser.parse(bytes.span.extracting(first: length))
            #expect(early == nil)
        }
        let last = try parser.parse(bytes.span)
        let whole = try parse(bytes)
        #expect(last?.head == whole?.head)
        #expect(last?.size == whole?.size)
    }

    @Test(arguments: [
        ("GET / HTTP/1.0\r\n\r\n", false), ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true),
        ("GET / HTTP/1.0\r\nConnection: foo, Keep-Alive\r\n\r\n", true),
        ("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", false), ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", true),
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: CLOSE\r\n\r\n", false),
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: x ,\tclose\r\n\r\n", false),
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n", false),
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: closed\r\n\r\n", true),
    ])
    func knowsWhetherTheConnectionStays(text: String, stays: Bool) throws {
        #expect(try #require(try parse(text)).head.transfer.keepsAlive == stays)
    }

    @Test(arguments: [
        ("/", "/", nil), ("/a/b%2Fc", "/a/b%2Fc", nil), ("/?", "/", ""), ("/a?b?c", "/a", "b?c"), ("//a", "//a", nil),
        ("/a?{|}\\^`'", "/a", "{|}\\^`'"), ("http://a/b?c", "/b", "c"), ("HTTP://A", "/", nil),
        ("https://a?x", "/", "x"),
        ("/..//./%zz", "/..//./%zz", nil),
    ])
    func splitsTargets(text: String, path: String, query: String?) throws {
        let head = try #require(try parse("GET \(text) HTTP/1.1\r\nHost: a\r\n\r\n")).head
        #expect(head.target == HTTPTarget(path: path, query: query))
    }

    /// The parameters are counted before any is read, so a query cannot cost more than its bytes.
    @Test(arguments: [
        ("/a?" + String(repeating: "&", count: 63), true), ("/a?" + String(repeating: "a=b&", count: 63) + "c=d", true),
        ("/a?" + String(repeating: "&", count: 64), false), ("/a?" + String(repeating: "&=", count: 64), false),
        ("http://a/b?" + String(repeating: "a&", count: 64), false), ("/" + String(repeating: "&", count: 99), true),
    ])
    func refusesTooManyParameters(target: String, isGood: Bool) throws {
        let text = "GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n"
        guard isGood else {
            #expect(throws: HTTPProblem.tooManyParameters) { try parse(text) }
            return
        }
        #expect(try parse(text) != nil)
    }

    @Test(arguments: ["gzip", "deflate", "br", "identity, gzip", "x", "gzip\r\nContent-Encoding: identity"])
    func refusesContentCodings(value: String) {
        for method in ["GET", "POST", "OPTIONS"] {
            #expect(throws: HTTPProblem.contentCodingNotSupported) {
                try parse("\(method) / HTTP/1.1\r\nHost: a\r\nCONTENT-encoding: \(value)\r\n\r\n")
            }
        }
    }

    /// `identity` says that there is no coding.
    @Test(arguments: ["", "identity", "Identity"])
    func takesABodyWithoutACoding(value: String) throws {
        #expect(try parse("GET / HTTP/1.1\r\nHost: a\r\nContent-Encoding: \(value)\r\n\r\n") != nil)
    }

    @Test(arguments: ["*", "http://a"])
    func readsAnAsteriskForOptions(target: String) throws {
        let head = try #require(try parse("OPTIONS \(target) HTTP/1.1\r\nHost: a\r\n\r\n")).head
        #expect(head.target == HTTPTarget(path: "*"))
    }

    @Test(arguments: HTTPMethod.allCases)
    func knowsItsMethods(method: HTTPMethod) throws {
        #expect(try #require(try parse("\(method.rawValue) / HTTP/1.1\r\nHost: a\r\n\r\n")).head.method == method)
    }

    /// RFC 9110 section 2.5 and section 4.2.3, RFC 9112 section 3.2.
    @Test(arguments: [
        "GET / HTTP/1.2\r\nHost: a", "GET / HTTP/1.9\r\nHost: a", "GET / HTTP/1.1\r\nHost:",
        "GET http://a:80/ HTTP/1.1\r\nHost: a", "GET http://a/ HTTP/1.1\r\nHost: a:80",
        "GET https://a:443/ HTTP/1.1\r\nHost: A", "GET https://a/ HTTP/1.1\r\nHost: a:",
        "GET http://[::80]:80/ HTTP/1.1\r\nHost: [::80]",
    ])
    func acceptsWhatSaysTheSame(start: String) throws {
        let head = try #require(try parse("\(start)\r\n\r\n")).head
        #expect(head.version == .http11)
        #expect(head.target.path == "/")
        #expect(head.transfer.keepsAlive)
    }

    @Test(arguments: ["a", "a:1", "a:", "1.2.3.4:65535", "[::1]", "[::1]:80", "a_b.c-d~", "%41", "a%C3%a4", "A.B:8443"])
    func acceptsHosts(host: String) throws {
        #expect(try parse("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n") != nil)
    }

    @Test func ignoresOneEmptyLineBefore() throws {
        #expect(try parse("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n") != nil)
    }

    @Test(arguments: [
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n", HTTPBodyFraming.chunked),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 000000000000000012\r\n\r\n", .length(12)),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", HTTPBodyFraming.none),
        ("POST / HTTP/1.1\r\nHost: a\r\n\r\n", HTTPBodyFraming.none),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999999999999\r\n\r\n", .length(999_999_999_999_999_999)),
    ])
    func framesBodies(text: String, framing: HTTPBodyFraming) throws {
        #expect(try #require(try parse(text)).head.transfer.framing == framing)
    }

    @Test(arguments: [
        ("Expect: 100-continue\r\nContent-Length: 1\r\n", "1.1", true),
        ("Expect: 100-Continue\r\nContent-Length: 1\r\n", "1.1", true),
        ("Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n", "1.1", true),
        ("Expect: 100-continue\r\n", "1.1", false),
        ("Expect: 100-continue\r\nContent-Length: 1\r\n", "1.0", false), ("Content-Length: 1\r\n", "1.1", false),
    ])
    func knowsWhoWaitsForContinue(fields: String, version: String, expects: Bool) throws {
        let head = try #require(try parse("POST / HTTP/\(version)\r\nHost: a\r\n\(fields)\r\n")).head
        #expect(head.transfer.expectsContinue == expects)
    }

    /// The parser gives a result for any bytes. A damaged head gives the same result in one piece and byte by byte.
    @Test(arguments: [1, 2, UInt64.random(in: 3...(.max))])
    func judgesDamagedHeadsAlikeHoweverTheyArrive(seed: UInt64) {
        print("HTTPHeadParserTests seed \(seed)")
        var random = SplitMix(state: seed)
        for _ in 0..<500 {
            var bytes = Array(Self.request.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let whole = outcome(bytes, steps: [bytes.count])
            let cut = Int.random(in: 0...bytes.count, using: &random)
            #expect(outcome(bytes, steps: [cut, bytes.count]) == whole)
            #expect(outcome(bytes, steps: Array(0...bytes.count)) == whole)
        }
    }

    private func outcome(_ bytes: [UInt8], steps: [Int]) -> Result<HTTPRequestHead?, HTTPProblem> {
        var parser = HTTPHeadParser(limits: HTTPLimits())
        do throws(HTTPProblem) {
            for step in steps {
                if let (head, _) = try parser.parse(bytes.span.extracting(first: step)) { return .success(head) }
            }
            return .success(nil)
        } catch {
            return .failure(error)
        }
    }
}

@Suite struct HTTPHeadLimitsTests {
    private func limits(_ change: (inout HTTPLimits) -> Void) -> HTTPLimits {
        var limits = HTTPLimits()
        change(&limits)
        return limits
    }

    @Test(arguments: [(-1, false), (0, true), (1, true)])
    func limitsTheHead(excess: Int, isAllowed: Bool) throws {
        let text = "GET / HTTP/1.1\r\nHost: a\r\nX: yyyyyyyyyy\r\n\r\n"
        let limits = limits { $0.headSizeMaximum = text.utf8.count + excess }
        if isAllowed {
            #expect(try parse(text, limits) != nil)
        } else {
            #expect(throws: HTTPProblem.headTooLarge) { try parse(text, limits) }
        }
    }

    /// A head that never ends is refused as soon as it reaches the limit.
    @Test(arguments: [16 * 1024 - 1, 16 * 1024, 20_000])
    func refusesAnEndlessHead(size: Int) throws {
        let text = "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "y", count: size - 28)
        if size < 16 * 1024 {
            #expect(try parse(text) == nil)
        } else {
            #expect(throws: HTTPProblem.headTooLarge) { try parse(text) }
        }
    }

    @Test(arguments: [(0, true), (99, true), (100, false)])
    func limitsTheFields(besidesHost: Int, isAllowed: Bool) throws {
        let text = "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: y\r\n", count: besidesHost) + "\r\n"
        if isAllowed {
            #expect(try #require(try parse(text)).head.fields.count == besidesHost + 1)
        } else {
            #expect(throws: HTTPProblem.headTooLarge) { try parse(text) }
        }
    }

    @Test(arguments: [(1, true), (8192, true), (8193, false), (16_000, false), (17_000, false)])
    func limitsTheTarget(size: Int, isAllowed: Bool) throws {
        let text = "GET /" + String(repeating: "a", count: size - 1) + " HTTP/1.1\r\nHost: a\r\n\r\n"
        if isAllowed {
            #expect(try parse(text) != nil)
        } else {
            #expect(throws: HTTPProblem.targetTooLong) { try parse(text) }
        }
    }

    @Test func refusesALongTargetBeforeItEnds() throws {
        #expect(throws: HTTPProblem.targetTooLong) { try parse("GET /" + String(repeating: "a", count: 8192)) }
        #expect(throws: HTTPProblem.headTooLarge) { try parse(String(repeating: "G", count: 17_000)) }
        #expect(throws: HTTPProblem.headTooLarge) {
            try parse("GET / HTTP/1.1" + String(repeating: "1", count: 17_000))
        }
    }
}

/// Parses a head that arrives in one piece.
func parse(_ text: String, _ limits: HTTPLimits = HTTPLimits()) throws(HTTPProblem) -> ParsedHead? {
    try parse(Array(text.utf8), limits)
}

func parse(_ bytes: [UInt8], _ limits: HTTPLimits = HTTPLimits()) throws(HTTPProblem) -> ParsedHead? {
    var parser = HTTPHeadParser(limits: limits)
    guard let (head, size) = try parser.parse(bytes.span) else { return nil }
    if let problem = head.problem { throw problem }
    return ParsedHead(head: head, size: size)
}

struct ParsedHead: Equatable {
    let head: HTTPRequestHead
    let size: Int
}

/// A small random generator with a seed, so that a failure can be repeated.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
