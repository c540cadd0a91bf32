import EventLoops
import Foundation
import POSIXSockets
import TestSupport
import Testing

@testable import HTTPCalls

/// Calls to a loopback server whose answers the test chooses.
@Suite struct HTTPCallerTests {
    private final class Fixture {
        let group: EventLoopGroup
        let server: AnsweringServer
        let caller: HTTPCaller

        init(
            _ answer: String, reach: HTTPCallSettings.Reach = .loopback,
            _ adjust: (inout HTTPCallSettings) -> Void = { _ in }
        )
            throws
        {
            group = try EventLoopGroup(count: 1)
            server = try AnsweringServer(answer)
            var settings = HTTPCallSettings(url: "http://127.0.0.1:\(server.port)/entitle", reach: reach)
            settings.timeout = .seconds(10)
            settings.callMaximum = 1
            adjust(&settings)
            caller = try HTTPCaller(settings)
        }

        deinit {
            // The last reference may be released on the loop, which cannot wait for its own end.
            Thread.detachNewThread { [caller, group] in
                caller.stop()
                group.stop(within: .seconds(10))
            }
        }

        func post(_ body: String = "{}", fields: [String] = []) async -> Result<[UInt8], HTTPCallError> {
            let loop = group.loops[0]
            let caller = caller
            return await withCheckedContinuation { continuation in
                loop.spawn {
                    do throws(HTTPCallError) {
                        continuation.resume(
                            returning: .success(try await caller.post(Array(body.utf8), fields: fields)))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            }
        }
    }

    private static func response(_ status: String, _ body: String, _ fields: String = "") -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
    }

    @Test func postsABodyAndGivesTheAnswers() async throws {
        let fixture = try Fixture(Self.response("200 OK", "{\"a\":1}"))
        #expect(await fixture.post("{\"q\":1}", fields: ["X-Test: yes"]) == .success(Array("{\"a\":1}".utf8)))
        let request = fixture.server.lastRequest
        #expect(request.hasPrefix("POST /entitle HTTP/1.1\r\n"))
        #expect(request.contains("\r\nX-Test: yes\r\n") && request.contains("\r\nContent-Type: application/json\r\n"))
        #expect(request.hasSuffix("\r\n\r\n{\"q\":1}"))
        #expect(!request.contains("Expect"))
    }

    @Test(arguments: ["301 Moved", "302 Found", "204 No Content", "403 Forbidden", "500 Internal Server Error"])
    func takesNothingButASuccess(status: String) async throws {
        let fixture = try Fixture(Self.response(status, "", "Location: http://127.0.0.1:1/other\r\n"))
        #expect(await fixture.post() == .failure(.status(Int(status.prefix(3)) ?? 0)))
        #expect(fixture.server.connectionCount == 1, "a redirection is not followed")
    }

    @Test func boundsTheAnswer() async throws {
        let body = String(repeating: "a", count: 101)
        let fixture = try Fixture(Self.response("200 OK", body)) { $0.answerSizeMaximum = 100 }
        #expect(await fixture.post() == .failure(.answerTooLarge))
        let exact = try Fixture(Self.response("200 OK", body)) { $0.answerSizeMaximum = 101 }
        #expect(await exact.post() == .success(Array(body.utf8)))
    }

    @Test func givesUpOnAServiceThatSaysNothing() async throws {
        let fixture = try Fixture("") { $0.timeout = .milliseconds(200) }
        #expect(await fixture.post() == .failure(.timedOut))
    }

    @Test func goesNowhereInsideUnlessItIsNamed() async throws {
        let fixture = try Fixture(Self.response("200 OK", "{}"), reach: .publicAddresses)
        #expect(await fixture.post() == .failure(.addressForbidden))
        #expect(fixture.server.connectionCount == 0)
        let named = try Fixture(Self.response("200 OK", "{}"), reach: .anyAddress)
        #expect(await named.post() == .success(Array("{}".utf8)))
    }

    @Test func saysThatNobodyListens() async throws {
        let port = try AnsweringServer("").port
        let fixture = try Fixture("") { $0 = HTTPCallSettings(url: "http://127.0.0.1:\(port)/", reach: .loopback) }
        guard case .failure(.failed) = await fixture.post() else {
            Issue.record("a server answered")
            return
        }
    }
}
