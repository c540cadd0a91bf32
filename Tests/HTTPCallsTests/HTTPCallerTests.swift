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

    private func get(
        _ answer: String, ifNot entityTag: String? = nil, reach: HTTPCallSettings.Reach = .loopback
    ) async throws -> (Result<HTTPCallAnswer, HTTPCallError>, request: String) {
        let fixture = try Fixture(answer, reach: reach)
        let (loop, caller) = (fixture.group.loops[0], fixture.caller)
        let result: Result<HTTPCallAnswer, HTTPCallError> = await withCheckedContinuation { continuation in
            loop.spawn {
                do throws(HTTPCallError) {
                    continuation.resume(returning: .success(try await caller.get(ifNot: entityTag)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return (result, fixture.server.lastRequest)
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

    @Test func getsADocumentAndItsEntityTag() async throws {
        let (result, request) = try await get(Self.response("200 OK", "{}", "eTag: \"a\"\r\n"))
        #expect(result == .success(HTTPCallAnswer(status: 200, body: Array("{}".utf8), entityTag: "\"a\"")))
        #expect(request.hasPrefix("GET /entitle HTTP/1.1\r\n") && request.hasSuffix("\r\n\r\n"))
        #expect(!request.contains("If-None-Match") && !request.contains("Content-"))
    }

    @Test func asksWhetherADocumentHasChanged() async throws {
        let (result, request) = try await get(Self.response("304 Not Modified", ""), ifNot: "W/\"a\"")
        #expect(result == .success(HTTPCallAnswer(status: 304, body: [])))
        #expect(request.contains("\r\nIf-None-Match: W/\"a\"\r\n"))
    }

    /// "Not modified" says nothing if no entity tag was sent.
    @Test(arguments: ["301 Moved", "302 Found", "304 Not Modified", "404 Not Found", "500 Internal Server Error"])
    func getsNothingButASuccess(status: String) async throws {
        let (result, _) = try await get(Self.response(status, "", "Location: http://127.0.0.1:1/other\r\n"))
        #expect(result == .failure(.status(Int(status.prefix(3)) ?? 0)))
    }

    @Test(arguments: ["", "\"a b\"", "\"\u{E4}\"", "\"" + String(repeating: "a", count: 255) + "\""])
    func doesNotTakeAnEntityTagThatItCannotSendBack(tag: String) async throws {
        let (result, _) = try await get(Self.response("200 OK", "{}", "ETag: \(tag)\r\n"))
        #expect(try result.get().entityTag == nil)
    }

    @Test func getsNothingFromAPrivateAddress() async throws {
        let (result, _) = try await get(Self.response("200 OK", "{}"), reach: .publicAddresses)
        #expect(result == .failure(.addressForbidden))
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
