import Testing

@testable import HTTPMessages

@Suite struct HTTPResponseTests {
    static let date = HTTPDate.format(secondsSinceEpoch: 784_111_777)

    private func text(
        _ response: HTTPResponse, omitsBody: Bool = false, _ connection: HTTPResponsePlan.Connection = .unmentioned
    ) -> String {
        var output: [UInt8] = []
        response.append(
            to: &output, plan: HTTPResponsePlan(omitsBody: omitsBody, connection: connection), date: Self.date)
        return String(decoding: output, as: UTF8.self)
    }

    @Test func writesHeadAndBody() {
        let response = HTTPResponse(
            status: .ok, fields: ["Content-Type": "text/plain", "X-A": ""], body: Array("hi".utf8))
        #expect(
            text(response) == "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 2\r\n"
                + "Content-Type: text/plain\r\nX-A: \r\n\r\nhi")
    }

    @Test(arguments: [
        (HTTPResponsePlan.Connection.close, "Connection: close"), (.keepAlive, "Connection: keep-alive"),
    ])
    func saysWhatBecomesOfTheConnection(connection: HTTPResponsePlan.Connection, field: String) {
        #expect(text(HTTPResponse(status: .ok), connection).contains("\r\n\(field)\r\n"))
        #expect(!text(HTTPResponse(status: .ok)).contains("Connection"))
    }

    @Test func announcesTheBodyThatHeadOmits() {
        let output = text(HTTPResponse(status: .ok, body: Array("hello".utf8)), omitsBody: true)
        #expect(output.contains("Content-Length: 5\r\n"))
        #expect(output.hasSuffix("\r\n\r\n"))
    }

    @Test(arguments: [HTTPStatus.noContent, .notModified])
    func writesNoBodyWhereNoneMayBe(status: HTTPStatus) {
        let output = text(HTTPResponse(status: status, body: Array("x".utf8)))
        #expect(!output.contains("Content-Length"))
        #expect(output.hasSuffix("\r\n\r\n"))
    }

    /// With two lengths or codings, the client could read another message than the one that was sent.
    @Test func keepsFramingToItself() {
        let response = HTTPResponse(
            status: .ok,
            fields: [
                "content-length": "99", "Transfer-Encoding": "chunked", "CONNECTION": "x", "date": "y", "Data": "z",
            ])
        #expect(
            text(response)
                == "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\nData: z\r\n\r\n")
    }

    /// A value from outside cannot begin a second field or a second response.
    @Test func makesControlCharactersHarmless() {
        var fields = HTTPFields()
        fields.append("X-Request-Id", "a\r\nSet-Cookie: b\u{0}\u{7f}c\td")
        #expect(fields["x-request-id"] == "a  Set-Cookie: b  c\td")
    }

    @Test(arguments: [(0, "0"), (9, "9"), (10, "10"), (12345, "12345")])
    func writesLengths(size: Int, digits: String) {
        let response = HTTPResponse(status: .ok, body: [UInt8](repeating: 65, count: size))
        #expect(text(response).contains("\r\nContent-Length: \(digits)\r\n"))
    }
}

@Suite struct HTTPFieldsTests {
    /// However fields came together, a response says them in their order, without those of the connection.
    @Test func writesTheSameLinesHoweverFieldsCameTogether() throws {
        func head(_ fields: HTTPFields) -> String {
            var output: [UInt8] = []
            HTTPResponse(status: .noContent, fields: fields).append(
                to: &output, plan: HTTPResponsePlan(omitsBody: false, connection: .unmentioned), date: [])
            return String(decoding: output, as: UTF8.self)
        }
        let lines = "HTTP/1.1 204 No Content\r\nDate: \r\nA: 1\r\nB: 2\r\n\r\n"
        let plain: HTTPFields = ["A": "1", "B": "2"]
        #expect(plain.areLines)
        #expect(head(plain) == lines)

        var joined: HTTPFields = ["A": "1"]
        joined.append(contentsOf: ["B": "2"])
        #expect(joined.areLines)
        #expect(head(joined) == lines)

        var replaced: HTTPFields = ["B": "1", "A": "1"]
        replaced.set("B", "2")
        #expect(!replaced.areLines)
        #expect(head(replaced) == lines)

        for name in ["Date", "Connection", "Keep-Alive", "Content-Length", "Transfer-Encoding", "Upgrade"] {
            var joined: HTTPFields = ["A": "1"]
            joined.append(contentsOf: [name: "x", "B": "2"])
            #expect(!joined.areLines)
            #expect(head(joined) == lines, "\(name)")
        }
    }

    @Test func joinsFields() {
        var fields = HTTPFields(roomForFields: 4, bytes: 64)
        fields.append(contentsOf: ["A": "1", "B": "two"])
        fields.append("C", "3")
        fields.append(contentsOf: HTTPFields())
        fields.append(contentsOf: ["a": "4"])
        #expect(fields == ["A": "1", "B": "two", "C": "3", "a": "4"])
        #expect(fields.values(of: "A") == ["1", "4"])
    }

    @Test func comparesNamesWithoutCase() {
        var fields: HTTPFields = ["A": "1", "b": "2", "a": "3"]
        #expect(fields["a"] == "1")
        #expect(fields["B"] == "2")
        #expect(fields["c"] == nil)
        #expect(fields.values(of: "A") == ["1", "3"])
        #expect(fields.count(of: "a") == 2)
        #expect(fields.bytes(of: "B").map(Array.init) == [0x32])
        #expect(fields.allBytes(of: "a").map(Array.init) == [[0x31], [0x33]] && fields.allBytes(of: "c").isEmpty)
        fields.set("a", "4")
        #expect(fields.map(\.name) == ["b", "a"])
        #expect(fields.values(of: "a") == ["4"])
        #expect(fields == ["b": "2", "a": "4"])
        #expect(fields != ["a": "4", "b": "2"])
    }

    @Test func tellsLettersFromOtherBytes() {
        // "^" and "~" differ only by the bit that makes letters lower case, but they are no letters.
        let fields: HTTPFields = ["^": "1", "~": "2"]
        #expect(fields["~"] == "2")
        #expect(fields["^"] == "1")
    }
}

@Suite struct HTTPDateTests {
    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
        (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"), (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
        (Int64.min, "Sat, 01 Jan 0000 00:00:00 GMT"),
    ])
    func formats(seconds: Int64, text: String) {
        #expect(String(decoding: HTTPDate.format(secondsSinceEpoch: seconds), as: UTF8.self) == text)
    }
}

@Suite struct HTTPLimitsTests {
    @Test(arguments: [(0, 5), (1024, 6), (10 * 1024, 15), (64 * 1024, 30)])
    func allowsABodyMoreTimeAsItArrives(received: Int, seconds: Int) {
        #expect(HTTPLimits().bodyAllowance(received: received) == .seconds(seconds))
    }

    @Test func allowsTheWholeTimeWithoutALeastRate() {
        var limits = HTTPLimits()
        limits.bodyRateMinimum = 0
        #expect(limits.bodyAllowance(received: 0) == .seconds(30))
    }
}

@Suite struct HTTPProblemTests {
    @Test(arguments: [
        (HTTPProblem.malformed(.requestLine), 400, "bad_request"), (.headTimeout, 408, "request_timeout"),
        (.bodyTimeout, 408, "request_timeout"), (.bodyTooLarge, 413, "body_too_large"),
        (.targetTooLong, 414, "uri_too_long"),
        (.expectationFailed, 417, "expectation_failed"), (.headTooLarge, 431, "head_too_large"),
        (.methodNotImplemented, 501, "not_implemented"), (.transferCodingNotImplemented, 501, "not_implemented"),
        (.versionNotSupported, 505, "version_not_supported"),
    ])
    func hasTheStatusAndCodeOfTheTable(problem: HTTPProblem, status: UInt16, code: String) {
        #expect(problem.status.code == status)
        #expect(problem.code == code)
        #expect(!problem.status.reasonPhrase.isEmpty)
    }
}
