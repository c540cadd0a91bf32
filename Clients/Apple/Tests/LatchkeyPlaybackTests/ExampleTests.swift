// Tests the code of Documentation/apps/ios.md. Tests/Interop/test_clients.py compares the article with its sources.
import AVFoundation
import Foundation
import LatchkeyLicenses
import Testing

@testable import Example

@Suite struct ExampleTests {
    private let avSession = AVContentKeySession(keySystem: .fairPlayStreaming)

    private let failures = Locked<[any Error]>([])

    private func ask(
        _ server: Server, for uri: String = "skd://movie-1"
    ) async -> (KeyRequest, Result<Data, any Error>?) {
        let (base, session) = server.makeSession()
        let failures = failures
        let keys = FilmKeys(
            server: base, token: { "token for \($0)" }, failed: { error in failures.withLock { $0.append(error) } })
        keys.urlSession = session
        let request = KeyRequest(uri)
        keys.contentKeySession(avSession, didProvide: request as AVContentKeyRequest)
        return (request, await request.outcome)
    }

    @Test func getsALicenseWithoutTheKit() async throws {
        let server = Server([Server.Answer()])
        let (request, outcome) = await ask(server)
        #expect(try outcome?.get() == Server.ckc)
        #expect(request.asset == Data("movie-1".utf8))
        let (sent, spc) = (try #require(server.licenseRequests.first), Data("spc for movie-1".utf8))
        #expect(server.licenseRequests.count == 1)
        #expect(sent.httpMethod == "POST")
        #expect(sent.value(forHTTPHeaderField: "Authorization") == "Bearer token for skd://movie-1")
        #expect(sent.value(forHTTPHeaderField: "Content-Type") == "application/octet-stream")
        #expect(sent.httpBody == spc || sent.httpBodyStream.map(allBytes) == spc)
    }

    @Test func tellsARefusalWithoutTheKit() async {
        let (_, outcome) = await ask(Server([.refusal(403, "content_mismatch")]))
        let refusal = FilmKeys.Refusal(status: 403, code: "content_mismatch", requestID: nil)
        #expect(throws: refusal) { try outcome?.get() }
        #expect(failures.withLock { $0.map { $0 as? FilmKeys.Refusal } } == [refusal])
    }

    @Test func refusesAnotherKindOfURIWithoutTheKit() async {
        let server = Server([])
        let (_, outcome) = await ask(server, for: "https://example.com/key")
        #expect(throws: URLError.self) { try outcome?.get() }
        #expect(server.requests.isEmpty)
    }

    @Test func namesTheCauseOfAFailure() {
        #expect(FilmPlayer.message(for: LicenseFailure.unreachable) == "the license server does not answer")
        #expect(FilmPlayer.message(for: CocoaError(.featureUnsupported)) != "")
    }

    private func allBytes(_ stream: InputStream) -> Data {
        stream.open()
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: 256)
        return Data(buffer.prefix(max(0, stream.read(&buffer, maxLength: buffer.count))))
    }
}

/// These tests share the device with those of the kit, so they run one after the other.
extension KeySessionTests {
    @Test func renewsALeaseWithoutTheKit() async throws {
        let device = Device()
        let lease = ["X-License-Issued": "1000", "X-License-Renew-After": "1001"]
        let answers = (1...2).map { number in
            Server.Answer(fields: lease.merging(["X-Session-Token": "session-\(number)"]) { $1 })
        }
        let server = Server(answers + [Server.Answer()])
        let (base, urlSession) = server.makeSession()
        let keys = FilmKeys(server: base, token: { "token for \($0)" }, failed: { _ in })
        keys.urlSession = urlSession
        let avSession = AVContentKeySession(keySystem: .fairPlayStreaming)
        var renewals = device.renewals.makeAsyncIterator()

        let first = KeyRequest("skd://movie-1")
        keys.contentKeySession(avSession, didProvide: first as AVContentKeyRequest)
        #expect(try await first.outcome?.get() == Server.ckc)
        #expect(await renewals.next() === first)
        let second = KeyRequest("skd://movie-1")
        keys.contentKeySession(avSession, didProvideRenewingContentKeyRequest: second)
        #expect(try await second.outcome?.get() == Server.ckc)
        #expect(await renewals.next() === second)
        let third = KeyRequest("skd://movie-1")
        keys.contentKeySession(avSession, didProvideRenewingContentKeyRequest: third)
        #expect(try await third.outcome?.get() == Server.ckc)

        let sent = server.requests
        #expect(sent.map { $0.url?.lastPathComponent } == ["certificate", "license", "license", "license"])
        #expect(server.licenseRequests.map { $0.url?.query } == [nil, "renew=true", "renew=true"])
        let tokens = server.licenseRequests.map { $0.value(forHTTPHeaderField: "Authorization") }
        #expect(tokens == ["Bearer token for skd://movie-1", "Bearer session-1", "Bearer session-2"])
    }
}
