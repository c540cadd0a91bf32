import HTTPMessages
import Testing

/// Decisions about bodies whose heads arrive before them.
@Suite struct HTTP1BodyDecisionTests {
    private static let sized = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n"
    private static let chunked = "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"

    private func connection(_ change: (inout HTTPLimits) -> Void = { _ in }) -> HTTP1Connection {
        var limits = HTTPLimits()
        change(&limits)
        return HTTP1Connection(limits: limits)
    }

    private func request(_ action: HTTP1Connection.Action) throws -> HTTPRequestMessage {
        guard case .dispatch(let message) = action else { throw NoRequest() }
        return message
    }

    private struct NoRequest: Error {}

    @Test func tellsAHeadWhoseBodyIsStillArrivingOnce() throws {
        var connection = connection()
        #expect(connection.receive(String(Self.sized.dropLast())) == .read)
        #expect(connection.takeUndecidedHead() == nil)
        #expect(connection.receive("\r\nnine") == .read)
        #expect(connection.takeUndecidedHead()?.target.path == "/a")
        #expect(connection.takeUndecidedHead() == nil)
        #expect(try request(connection.receive(" byte")).body == Array("nine byte".utf8))
    }

    @Test func tellsNoHeadOfARequestThatIsComplete() throws {
        var connection = connection()
        #expect(try request(connection.receive(Self.sized + "nine byte")).body.count == 9)
        #expect(connection.takeUndecidedHead() == nil)
    }

    @Test(arguments: [sized, chunked])
    func dropsABodyAndGoesOn(head: String) throws {
        var connection = connection()
        let (first, second) = head == Self.sized ? ("nin", "e byte") : ("3\r\nnin", "\r\n6\r\ne byte\r\n0\r\n\r\n")
        for _ in 0..<2 {
            #expect(connection.receive(head + first) == .read)
            #expect(connection.takeUndecidedHead() != nil)
            #expect(connection.bodyMemory > 0)
            connection.dropBody()
            #expect(connection.bodyMemory == 0)
            #expect(connection.phase == .body(received: 3))
            #expect(connection.receive(String(second.dropLast())) == .read)
            #expect(connection.bodyMemory == 0)
            #expect(connection.phase == .body(received: head == Self.sized ? 8 : 9))
            let message = try request(connection.receive(String(second.suffix(1))))
            #expect(message.body == [])
            #expect(connection.respond(closing: false).connection == .unmentioned)
            #expect(connection.responseSent() == .read)
        }
        // The next body is kept, as by default.
        #expect(try request(connection.receive(Self.sized + "nine byte")).body.count == 9)
    }

    @Test(arguments: [0, 1])
    func limitsAChunkedBodyThatIsDropped(excess: Int) throws {
        var connection = connection { $0.bodySizeMaximum = 10 }
        #expect(connection.receive(Self.chunked) == .read)
        connection.dropBody()
        #expect(connection.receive("6\r\nabcdef\r\n") == .read)
        let action = connection.receive("\(4 + excess)\r\n")
        #expect(action == (excess == 0 ? .read : .refuse(.bodyTooLarge)))
    }

    /// One path may have larger bodies. The limit for all other paths is unchanged.
    @Test(arguments: [0, 1])
    func limitsTheBodiesOfAPathOfItsOwn(excess: Int) {
        func answer(to head: String) -> HTTP1Connection.Action {
            var connection = connection {
                $0.bodySizeMaximum = 8
                $0.bodySizesByPath = ["/large": 20, "/small": 2]
            }
            return connection.receive(head)
        }
        for (path, size) in [("/large", 20), ("/large/", 8), ("/a", 8), ("/small", 8)] {
            let expected: HTTP1Connection.Action = excess == 0 ? .read : .refuse(.bodyTooLarge)
            let sized = "POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: \(size + excess)\r\n\r\n"
            #expect(answer(to: sized) == expected, "\(path)")
            let chunk = String(size + excess, radix: 16)
            let chunked = "POST \(path) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)\r\n"
            #expect(answer(to: chunked) == expected, "\(path)")
        }
    }

    @Test func refusesByTheHeadAndReadsNothingMore() {
        var connection = connection()
        #expect(connection.receive(Self.sized + "nine") == .read)
        connection.refuseBody()
        #expect(connection.bodyMemory == 0)
        #expect(connection.phase == .answering)
        #expect(connection.takeUndecidedHead() == nil)
        #expect(connection.respond(closing: false) == HTTPResponsePlan(omitsBody: false, connection: .close))
        #expect(connection.responseSent() == .linger)
        #expect(connection.receive(" byte" + HTTP1ConnectionTests.get) == .close)
    }

    @Test func decidesBeforeTheBodyIsInvited() {
        var connection = connection()
        let head = Self.sized.replacing("\r\n\r\n", with: "\r\nExpect: 100-continue\r\n\r\n")
        #expect(connection.receive(head) == .sendContinue)
        #expect(connection.takeUndecidedHead() != nil)
    }
}
