// Tests the order in which `KeySession` calls AVFoundation and the server. The tests simulate the device with
// hand-written declarations. No Apple framework is used.
import AVFoundation
import Foundation
import LatchkeyLicenses
import Testing

@testable import LatchkeyPlayback

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private let certificate = Data([0x30, 0x82, 0, 2, 5, 0])
private let challenge = Data([0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77])

/// A license server that gives its answers one after the other, one for each request for a license.
final class Server: @unchecked Sendable {
    struct Answer {
        /// A request or an answer that gets lost.
        static let lost = Answer(status: 0)

        static func refusal(_ status: Int, _ code: String, retryAfter: Int? = nil) -> Answer {
            var fields = ["X-Error-Code": code]
            fields["Retry-After"] = retryAfter.map(String.init)
            return Answer(status: status, fields: fields, body: Data())
        }

        var status = 200
        var fields: [String: String] = [:]
        var body = Server.ckc
    }

    static let ckc = Data([0, 0, 0, 1]) + Data(repeating: 7, count: 60)

    private let lock = NSLock()
    private var answers: [Answer]
    private var certificates: [Answer]
    private var received: [URLRequest] = []

    /// `certificates` are the first answers to requests for the certificate. The next ones have it.
    init(_ answers: [Answer], certificates: [Answer] = []) {
        self.answers = answers
        self.certificates = certificates
    }

    var requests: [URLRequest] { lock.withLock { received } }
    var licenseRequests: [URLRequest] { requests.filter { $0.url?.path.hasSuffix("/fps/license") == true } }

    func answer(_ request: URLRequest) -> Answer {
        lock.withLock {
            received.append(request)
            switch request.url?.lastPathComponent {
            case "certificate":
                return certificates.isEmpty ? Answer(body: certificate) : certificates.removeFirst()
            case "challenge": return Answer(body: Data(#"{"challenge":"0011223344556677"}"#.utf8))
            default: return answers.isEmpty ? Answer(status: 500) : answers.removeFirst()
            }
        }
    }

    /// A client whose requests come to this server.
    func makeClient() -> LicenseClient {
        let (base, session) = makeSession()
        return LicenseClient(server: LicenseServer(base: base), session: session)
    }

    /// The URL of this server, and a session whose requests come to it. The host name identifies the server.
    func makeSession() -> (URL, URLSession) {
        let host = UUID().uuidString.lowercased()
        StandIn.servers.withLock { $0[host] = self }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [StandIn.self]
        return (URL(string: "https://\(host)")!, URLSession(configuration: configuration))
    }
}

final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}

/// Counts calls.
final class Counter: @unchecked Sendable {
    private let count = Locked(0)

    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}

final class StandIn: URLProtocol {
    static let servers = Locked<[String: Server]>([:])

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
        guard let url = request.url, let server = Self.servers.withLock({ $0[url.host ?? ""] }) else {
            client?.urlProtocol(self, didFailWithError: URLError(.cannotFindHost))
            return
        }
        let answer = server.answer(request)
        guard answer.status != 0 else {
            client?.urlProtocol(self, didFailWithError: URLError(.networkConnectionLost))
            return
        }
        let response = HTTPURLResponse(
            url: url, statusCode: answer.status, httpVersion: "HTTP/1.1", headerFields: answer.fields)!
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: answer.body)
        client?.urlProtocolDidFinishLoading(self)
    }
}

/// A key request that makes numbered SPCs, and records its answer.
final class KeyRequest: AVPersistableContentKeyRequest {
    let outcomes: AsyncStream<Result<Data, any Error>>
    private let told: AsyncStream<Result<Data, any Error>>.Continuation
    private(set) var asset: Data?
    private(set) var app: Data?
    private(set) var wasAskedToPersist = false
    private let canPersist: Bool

    init(_ keyURI: String, canPersist: Bool = true) {
        (outcomes, told) = AsyncStream.makeStream()
        self.canPersist = canPersist
        super.init(identifier: keyURI)
    }

    var outcome: Result<Data, any Error>? {
        get async {
            for await outcome in outcomes { return outcome }
            return nil
        }
    }

    override func makeStreamingContentKeyRequestData(
        forApp appIdentifier: Data, contentIdentifier: Data?, options: [String: Any]?
    ) async throws -> Data {
        (app, asset) = (appIdentifier, contentIdentifier)
        return Data("spc for ".utf8) + (contentIdentifier ?? Data())
    }

    override func processContentKeyResponse(_ keyResponse: AVContentKeyResponse) {
        told.yield(.success(keyResponse.data))
    }

    override func processContentKeyResponseError(_ error: any Error) {
        told.yield(.failure(error))
    }

    override func respondByRequestingPersistableContentKeyRequestAndReturnError() throws {
        guard canPersist else { throw CocoaError(.featureUnsupported) }
        wasAskedToPersist = true
    }

    override func persistableContentKey(
        fromKeyVendorResponse keyVendorResponse: Data, options: [String: Any]?
    ) throws -> Data {
        Data("kept ".utf8) + keyVendorResponse
    }
}

/// A device that renews immediately when it is asked to, and records it.
final class Device: SimulatedDevice {
    let renewals: AsyncStream<AVContentKeyRequest>
    private let told: AsyncStream<AVContentKeyRequest>.Continuation
    private(set) var processed: [String] = []

    init() {
        (renewals, told) = AsyncStream.makeStream()
        AVContentKeySession.device = self
    }

    func renew(_ request: AVContentKeyRequest) { told.yield(request) }
    func process(_ keyURI: String) { processed.append(keyURI) }
}

@Suite(.serialized) struct KeySessionTests {
    private let uri = "skd://movie-1"
    private let avSession = AVContentKeySession(keySystem: .fairPlayStreaming)
    private let failures = Locked<[String]>([])
    private let now = Locked<TimeInterval>(1000)
    private let pauses = Locked<[TimeInterval]>([])
    private let whilePausing = Locked<() async -> Void>({})
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    private let lease = [
        "X-License-Issued": "1000", "X-License-Expires": "1300", "X-License-Renew-After": "1190",
        "X-Session-Token": "session-1",
    ]

    private func makeSession(
        _ server: Server, store: KeyStore? = nil, token: KeySession.TokenSource? = nil
    ) -> KeySession {
        let (now, pauses, whilePausing, failures) = (now, pauses, whilePausing, failures)
        // A pause returns immediately, and sets the clock to its end.
        let clock = Clock(
            now: { now.withLock { $0 } },
            pause: { time in
                pauses.withLock { $0.append(time) }
                now.withLock { $0 = max($0, time) }
                await whilePausing.withLock { $0 }()
            })
        return KeySession(
            client: server.makeClient(), store: store, clock: clock, token: token ?? { "token for \($0)" },
            failed: { uri, error in
                guard case LicenseFailure.refused(let problem) = error else {
                    return failures.withLock { $0.append("\(error)") }
                }
                failures.withLock { $0.append("\(problem.status) \(problem.code ?? "")") }
            })
    }

    /// Does what the device does when it needs a key, and returns the outcome.
    private func play(_ session: KeySession, canPersist: Bool = true) async -> Result<Data, any Error>? {
        let request = KeyRequest(uri, canPersist: canPersist)
        session.contentKeySession(avSession, didProvide: request as AVContentKeyRequest)
        if request.wasAskedToPersist { session.contentKeySession(avSession, didProvide: request) }
        return await request.outcome
    }

    /// Does what the device does when a key does not work any more. Returns whether a new request is made.
    private func end(_ session: KeySession) -> Bool {
        session.contentKeySession(avSession, shouldRetry: KeyRequest(uri), reason: .receivedResponseWithExpiredLease)
    }

    private func keptKey(_ licenseID: String, _ text: String, in store: KeyStore) throws {
        let fields = ["X-License-Id": licenseID]
        let response = HTTPURLResponse(
            url: URL(string: "https://keys.example.com")!, statusCode: 200, httpVersion: nil, headerFields: fields)!
        try store.save(Data(text.utf8), of: License(Server.ckc, response), for: uri)
    }

    private func authorization(_ request: URLRequest) -> String? { request.value(forHTTPHeaderField: "Authorization") }

    @Test func getsAKeyForStreaming() async throws {
        let server = Server([Server.Answer(), Server.Answer()])
        let session = makeSession(server)
        for _ in 0..<2 {
            let request = KeyRequest(uri)
            session.contentKeySession(avSession, didProvide: request as AVContentKeyRequest)
            #expect(try await request.outcome?.get() == Server.ckc)
            #expect((request.app, request.asset) == (certificate, Data("movie-1".utf8)))
            #expect(!request.wasAskedToPersist)
        }
        #expect(server.requests.map { $0.url?.lastPathComponent } == ["certificate", "license", "license"])
        #expect(server.licenseRequests.allSatisfy { authorization($0) == "Bearer token for skd://movie-1" })
        #expect(failures.withLock { $0 } == [])
    }

    @Test func tellsWhyThereIsNoKey() async throws {
        let server = Server([Server.Answer(status: 403, fields: ["X-Error-Code": "content_mismatch"], body: Data())])
        let session = makeSession(server)
        let request = KeyRequest(uri)
        session.contentKeySession(avSession, didProvide: request as AVContentKeyRequest)
        let failure = await #expect(throws: LicenseFailure.self) { try await request.outcome?.get() }
        #expect(failure?.advice == .giveUp)
        #expect(server.licenseRequests.count == 1)
    }

    @Test func refusesAnotherKindOfURI() async {
        let session = makeSession(Server([]))
        let request = KeyRequest("https://example.com/key")
        session.contentKeySession(avSession, didProvide: request as AVContentKeyRequest)
        await #expect(throws: CocoaError.self) { try await request.outcome?.get() }
    }

    @Test func renewsALease() async throws {
        let device = Device()
        var renewed = lease
        renewed["X-Session-Token"] = "session-2"
        let server = Server([
            Server.Answer(fields: lease), Server.Answer(status: 503, fields: ["Retry-After": "5"]),
            Server.Answer(fields: renewed),
        ])
        let session = makeSession(server)
        let request = KeyRequest(uri)
        session.contentKeySession(avSession, didProvide: request as AVContentKeyRequest)
        #expect(try await request.outcome?.get() == Server.ckc)
        var renewals = device.renewals.makeAsyncIterator()
        #expect(await renewals.next() === request)

        let renewing = KeyRequest(uri)
        session.contentKeySession(avSession, didProvideRenewingContentKeyRequest: renewing)
        #expect(try await renewing.outcome?.get() == Server.ckc)
        #expect(server.licenseRequests.map { $0.url?.query } == [nil, "renew=true", "renew=true"])
        let tokens = server.licenseRequests.map { authorization($0) }
        #expect(tokens == ["Bearer token for skd://movie-1", "Bearer session-1", "Bearer session-1"])

        #expect(await renewals.next() === renewing)
        // The times that the answer names, that the refusal names, and that the next answer names.
        #expect(pauses.withLock { $0 } == [1190, 1195, 1385])
        session.stop()
    }

    @Test func renewsNothingAfterItWasStopped() async throws {
        let device = Device()
        let server = Server([Server.Answer(fields: lease), Server.Answer(status: 503), Server.Answer(fields: lease)])
        let session = makeSession(server)
        let request = KeyRequest(uri)
        session.contentKeySession(avSession, didProvide: request as AVContentKeyRequest)
        _ = try await request.outcome?.get()
        var renewals = device.renewals.makeAsyncIterator()
        _ = await renewals.next()
        whilePausing.withLock { $0 = { session.stop() } }
        let renewing = KeyRequest(uri)
        session.contentKeySession(avSession, didProvideRenewingContentKeyRequest: renewing)
        await #expect(throws: CancellationError.self) { try await renewing.outcome?.get() }
        #expect(server.licenseRequests.count == 2)
    }

    @Test func getsANewTokenForARenewal() async throws {
        let device = Device()
        let server = Server([
            Server.Answer(fields: lease), Server.Answer(status: 401, fields: ["X-Error-Code": "token_expired"]),
            Server.Answer(fields: lease),
        ])
        let session = makeSession(server)
        let request = KeyRequest(uri)
        session.contentKeySession(avSession, didProvide: request as AVContentKeyRequest)
        _ = try await request.outcome?.get()
        var renewals = device.renewals.makeAsyncIterator()
        _ = await renewals.next()
        let first = KeyRequest(uri)
        session.contentKeySession(avSession, didProvideRenewingContentKeyRequest: first)
        await #expect(throws: LicenseFailure.self) { try await first.outcome?.get() }
        #expect(await renewals.next() === first, "it asks for a new SPC at once")
        let second = KeyRequest(uri)
        session.contentKeySession(avSession, didProvideRenewingContentKeyRequest: second)
        #expect(try await second.outcome?.get() == Server.ckc)
        #expect(authorization(server.licenseRequests[2]) == "Bearer token for skd://movie-1")
        session.stop()
    }

    @Test func keepsAKey() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let device = Device()
        let store = KeyStore(folder: folder)
        let server = Server([Server.Answer()])
        let session = makeSession(server, store: store)
        session.keep(uri)
        #expect(device.processed == [uri])
        let kept = Data("kept ".utf8) + Server.ckc
        for _ in 0..<2 {
            let request = KeyRequest(uri)
            session.contentKeySession(avSession, didProvide: request as AVContentKeyRequest)
            #expect(request.wasAskedToPersist)
            session.contentKeySession(avSession, didProvide: request)
            #expect(try await request.outcome?.get() == kept)
        }
        #expect(server.licenseRequests.map { $0.url?.query } == ["offline=1"], "the second time the key is there")
        session.contentKeySession(
            avSession, didUpdatePersistableContentKey: Data("played".utf8), forContentKeyIdentifier: uri)
        #expect(store.key(for: uri) == Data("played".utf8))
    }

    @Test func streamsWhatCannotBeKept() async throws {
        let store = KeyStore(folder: folder)
        let server = Server([Server.Answer()])
        let session = makeSession(server, store: store)
        session.keep(uri)
        let request = KeyRequest(uri, canPersist: false)
        session.contentKeySession(avSession, didProvide: request as AVContentKeyRequest)
        #expect(try await request.outcome?.get() == Server.ckc)
        #expect(store.key(for: uri) == nil)
    }

    // MARK: Lost requests and refusals

    @Test func asksForTheCertificateAgain() async throws {
        let server = Server([Server.Answer()], certificates: [.lost, .refusal(503, "overloaded", retryAfter: 7)])
        let session = makeSession(server)
        #expect(try await play(session)?.get() == Server.ckc)
        #expect(pauses.withLock { $0 } == [1001, 1008])
        #expect(failures.withLock { $0 } == [])
    }

    @Test(arguments: [
        Data("<html>Sign in to this network</html>".utf8), Data(), Data([0x30, 0x82, 0, 3, 5, 0]),
    ])
    func keepsNothingElseForTheCertificate(body: Data) async throws {
        let server = Server([Server.Answer()], certificates: [Server.Answer(body: body)])
        let session = makeSession(server)
        let outcome = await play(session)
        #expect(throws: LicenseFailure.notALicense) { try outcome?.get() }
        #expect(try await play(session)?.get() == Server.ckc)
        #expect(server.requests.map { $0.url?.lastPathComponent } == ["certificate", "certificate", "license"])
    }

    @Test func getsAKeyForAURIWithoutSlashes() async throws {
        let session = makeSession(Server([Server.Answer()]))
        let request = KeyRequest("skd:movie-42")
        session.contentKeySession(avSession, didProvide: request as AVContentKeyRequest)
        #expect(try await request.outcome?.get() == Server.ckc)
        #expect(request.asset == Data("movie-42".utf8))
    }

    @Test func renewsAfterAnAnswerOfAProxy() async throws {
        let device = Device()
        let page = Server.Answer(body: Data("<html>Sign in to this network</html>".utf8))
        let server = Server([
            Server.Answer(fields: lease), page, Server.Answer(status: 403), Server.Answer(fields: lease),
        ])
        let session = makeSession(server)
        _ = await play(session)
        var renewals = device.renewals.makeAsyncIterator()
        _ = await renewals.next()
        let renewing = KeyRequest(uri)
        session.contentKeySession(avSession, didProvideRenewingContentKeyRequest: renewing)
        #expect(try await renewing.outcome?.get() == Server.ckc)
        #expect(failures.withLock { $0 } == [])
        session.stop()
    }

    @Test func sendsALostRequestAgain() async throws {
        let server = Server([.lost, .refusal(503, "overloaded", retryAfter: 7), Server.Answer()])
        let session = makeSession(server)
        #expect(try await play(session)?.get() == Server.ckc)
        #expect(Set(server.licenseRequests.map { $0.httpBody }).count == 1, "the server counts the same SPC once")
        #expect(pauses.withLock { $0 } == [1001, 1008])
        #expect(failures.withLock { $0 } == [])
    }

    @Test func givesUpAServerThatIsDown() async throws {
        let server = Server([.lost, .lost, .lost, .refusal(503, "overloaded", retryAfter: 2), Server.Answer()])
        let session = makeSession(server)
        _ = await play(session)
        #expect(failures.withLock { $0 } == ["503 overloaded"])
        #expect(pauses.withLock { $0 } == [1001, 1003, 1007])
        #expect(server.licenseRequests.count == 4)
    }

    @Test func tellsTheAppToWaitForALongTime() async throws {
        let server = Server([.refusal(503, "overloaded", retryAfter: 90)])
        let session = makeSession(server)
        _ = await play(session)
        #expect(failures.withLock { $0 } == ["503 overloaded"])
        #expect(server.licenseRequests.count == 1)
    }

    @Test func getsANewTokenOnce() async throws {
        let server = Server([.refusal(401, "token_expired"), .refusal(401, "token_revoked"), Server.Answer()])
        let asked = Counter()
        let session = makeSession(server, token: { _ in "token \(asked.next())" })
        _ = await play(session)
        #expect(server.licenseRequests.map { authorization($0) } == ["Bearer token 1", "Bearer token 2"])
        #expect(failures.withLock { $0 } == ["401 token_revoked"])
    }

    @Test func tellsTheServersReasonIfThereIsNoNewToken() async throws {
        let server = Server([.refusal(401, "token_expired")])
        let asked = Counter()
        let session = makeSession(
            server,
            token: { _ in
                if asked.next() > 1 { throw URLError(.notConnectedToInternet) }
                return "old"
            })
        _ = await play(session)
        #expect(failures.withLock { $0 } == ["401 token_expired"])
    }

    @Test func tellsAFailureOnce() async throws {
        let session = makeSession(Server([.refusal(403, "content_mismatch")]))
        _ = await play(session)
        let secondary = CocoaError(.featureUnsupported)
        session.contentKeySession(avSession, contentKeyRequest: KeyRequest(uri), didFailWithError: secondary)
        #expect(failures.withLock { $0 } == ["403 content_mismatch"])
        session.contentKeySession(avSession, contentKeyRequest: KeyRequest(uri), didFailWithError: secondary)
        #expect(failures.withLock { $0.count } == 2, "the next one is AVFoundation's own")
    }

    @Test func takesEachTokenForItsOwnFilm() async throws {
        let server = Server(Array(repeating: Server.Answer(fields: lease), count: 6))
        let session = makeSession(server)
        let uris = ["skd://movie-1", "skd://movie-2", "skd://movie-3"]
        for uri in uris + uris {
            let request = KeyRequest(uri)
            session.contentKeySession(avSession, didProvide: request as AVContentKeyRequest)
            _ = try await request.outcome?.get()
        }
        #expect(server.licenseRequests.map { authorization($0) } == (uris + uris).map { "Bearer token for \($0)" })
        session.stop()
    }

    @Test func asksNothingMoreAfterItWasStopped() async throws {
        let server = Server([.lost, Server.Answer()])
        let session = makeSession(server)
        whilePausing.withLock { $0 = { session.stop() } }
        let outcome = await play(session)
        #expect(throws: CancellationError.self) { try outcome?.get() }
        #expect(server.licenseRequests.count == 1)
        #expect(failures.withLock { $0 } == [])
    }

    @Test func doesNotLoopIfNoTokenHelpsARenewal() async throws {
        let device = Device()
        let server = Server(
            [Server.Answer(fields: lease)] + Array(repeating: .refusal(401, "token_revoked"), count: 5))
        let session = makeSession(server)
        _ = await play(session)
        var renewals = device.renewals.makeAsyncIterator()
        for _ in 0..<5 {
            _ = await renewals.next()
            let renewing = KeyRequest(uri)
            session.contentKeySession(avSession, didProvideRenewingContentKeyRequest: renewing)
            _ = await renewing.outcome
        }
        // The first new token is tried at once. Each other one follows after a hundredth of the lease.
        #expect(pauses.withLock { $0 }.prefix(5) == [1190, 1193, 1196, 1199, 1202])
        session.stop()
    }

    @Test func doesNotLoopIfThereIsNoToken() async throws {
        let device = Device()
        let server = Server([
            Server.Answer(fields: lease), .refusal(401, "token_expired"), Server.Answer(fields: lease),
        ])
        let asked = Counter()
        let session = makeSession(
            server,
            token: { _ in
                if (2...3).contains(asked.next()) { throw URLError(.timedOut) }
                return "token"
            })
        _ = await play(session)
        var renewals = device.renewals.makeAsyncIterator()
        for index in 0..<4 {
            _ = await renewals.next()
            let renewing = KeyRequest(uri)
            session.contentKeySession(avSession, didProvideRenewingContentKeyRequest: renewing)
            let outcome = await renewing.outcome
            if index == 3 { #expect(try outcome?.get() == Server.ckc) }
        }
        #expect(pauses.withLock { $0 }.prefix(3) == [1190, 1193, 1196])
        #expect(server.licenseRequests.count == 3, "without a token the server is not asked")
        session.stop()
    }

    @Test func endsARenewalThatMustWaitLong() async throws {
        let device = Device()
        let server = Server([
            Server.Answer(fields: lease), .refusal(503, "overloaded", retryAfter: 90), Server.Answer(fields: lease),
        ])
        let session = makeSession(server)
        _ = await play(session)
        var renewals = device.renewals.makeAsyncIterator()
        for expected in [["503 overloaded"], ["503 overloaded"]] {
            _ = await renewals.next()
            let renewing = KeyRequest(uri)
            session.contentKeySession(avSession, didProvideRenewingContentKeyRequest: renewing)
            _ = await renewing.outcome
            #expect(failures.withLock { $0 } == expected)
        }
        #expect(pauses.withLock { $0 }.prefix(2) == [1190, 1280])
        session.stop()
    }

    @Test func goesOnWithTheNewestRequest() async throws {
        let device = Device()
        let server = Server([Server.Answer(fields: lease), .lost, Server.Answer(fields: lease)])
        let session = makeSession(server)
        _ = await play(session)
        var renewals = device.renewals.makeAsyncIterator()
        _ = await renewals.next()
        let (first, second) = (KeyRequest(uri), KeyRequest(uri))
        // While the first renewal waits, the device asks for another one.
        whilePausing.withLock {
            $0 = { [avSession, whilePausing] in
                whilePausing.withLock { $0 = {} }
                session.contentKeySession(avSession, didProvideRenewingContentKeyRequest: second)
                #expect(await (try? second.outcome?.get()) == Server.ckc)
            }
        }
        session.contentKeySession(avSession, didProvideRenewingContentKeyRequest: first)
        await #expect(throws: CancellationError.self) { try await first.outcome?.get() }
        #expect(server.licenseRequests.count == 3)
        #expect(failures.withLock { $0 } == [])
        session.stop()
    }

    @Test func waitsNoLongerThanTheDeviceSleeps() async throws {
        let (now, sleeps) = (Locked<TimeInterval>(0), Locked<[TimeInterval]>([]))
        // In the second part, the device sleeps for an hour.
        let sleep = { (seconds: TimeInterval) in
            sleeps.withLock { $0.append(seconds) }
            now.withLock { $0 += sleeps.withLock { $0.count } == 2 ? 3600 : seconds }
        }
        try await Clock.pause(until: 1000, now: { now.withLock { $0 } }, sleep: sleep)
        #expect(sleeps.withLock { $0 } == [10, 10])
    }

    @Test func itsClockGoesOnWhileTheDeviceSleeps() {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        #expect(abs(Clock().now() - TimeInterval(time.tv_sec)) < 60)
    }

    @Test func waitsForATimeThatNeverComes() async {
        let task = Task { try await Clock().pause(1e20) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    // MARK: Renewal of kept keys

    @Test func renewsAKeptKeyThatHasExpired() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = KeyStore(folder: folder)
        try keptKey("0042", "old", in: store)
        let server = Server([Server.Answer(fields: ["X-License-Id": "0043"])])
        let session = makeSession(server, store: store)
        #expect(try await play(session)?.get() == Data("old".utf8))
        #expect(server.licenseRequests.isEmpty, "playback needs no server")
        #expect(end(session))
        let new = Data("kept ".utf8) + Server.ckc
        for _ in 0..<2 { #expect(try await play(session)?.get() == new) }
        #expect(server.licenseRequests.map { $0.url?.query } == ["offline=1&renew=true&previous=0042"])
        #expect((store.key(for: uri), store.licenseID(for: uri)) == (new, "0043"))
    }

    @Test func renewsAKeptKeyBeforeItsEnd() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let device = Device()
        let store = KeyStore(folder: folder)
        try keptKey("0042", "old", in: store)
        let server = Server([.lost, Server.Answer(fields: ["X-License-Id": "0043"])])
        let session = makeSession(server, store: store)
        try session.renew(uri)
        #expect(device.processed == [uri])
        #expect(store.key(for: uri) == Data("old".utf8))
        #expect(try await play(session)?.get() == Data("kept ".utf8) + Server.ckc)
        let previous = "offline=1&renew=true&previous=0042"
        #expect(server.licenseRequests.map { $0.url?.query } == [previous, previous])
        #expect(try await play(session)?.get() == store.key(for: uri))
        #expect(server.licenseRequests.count == 2, "it is renewed once")
    }

    @Test(arguments: [
        ([Server.Answer.lost, .lost, .lost, .lost], "unreachable"),
        ([.refusal(403, "offline_not_allowed")], "403 offline_not_allowed"),
    ])
    func playsTheOldKeyWhileItHolds(answers: [Server.Answer], failure: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = KeyStore(folder: folder)
        try keptKey("0042", "old", in: store)
        let server = Server(answers)
        let session = makeSession(server, store: store)
        try session.renew(uri)
        #expect(try await play(session)?.get() == Data("old".utf8))
        #expect(failures.withLock { $0 } == [failure])
        #expect(try await play(session)?.get() == Data("old".utf8))
        #expect(server.licenseRequests.count == answers.count, "the next playback does not ask the server")
        #expect((store.key(for: uri), store.licenseID(for: uri)) == (Data("old".utf8), "0042"))
    }

    @Test func asksAgainForAKeyThatHasExpired() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = KeyStore(folder: folder)
        try keptKey("0042", "old", in: store)
        let server = Server([.refusal(403, "right_expired"), Server.Answer()])
        let session = makeSession(server, store: store)
        #expect(end(session))
        let outcome = await play(session)
        #expect(throws: LicenseFailure.self) { try outcome?.get() }
        #expect(failures.withLock { $0 } == ["403 right_expired"])
        #expect(try await play(session)?.get() == Data("kept ".utf8) + Server.ckc)
        #expect(store.licenseID(for: uri) == nil, "the id of the older license is not the new key's")
    }

    @Test func renewsAfterTheDevicesReport() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = KeyStore(folder: folder)
        try keptKey("0042", "old", in: store)
        let report = Data(#"{"expiresInSeconds":0,"challengeAccepted":false}"#.utf8)
        let server = Server([Server.Answer(body: report), Server.Answer()])
        let session = makeSession(server, store: store)
        #expect(try await session.report(on: uri).expiresInSeconds == 0)
        #expect(try await play(session)?.get() == Data("kept ".utf8) + Server.ckc)
        #expect(server.licenseRequests.map { $0.url?.query } == [nil, "offline=1&renew=true&previous=0042"])
    }

    @Test func doesNotLoopIfTheNewKeyHasExpiredToo() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = KeyStore(folder: folder)
        try keptKey("0042", "old", in: store)
        let server = Server(Array(repeating: Server.Answer(), count: 50))
        let session = makeSession(server, store: store)
        while end(session) { _ = await play(session) }
        #expect(server.licenseRequests.count == 3)
        now.withLock { $0 += 60 }
        #expect(end(session), "a minute later it may be tried again")
    }

    @Test func renewsOnceForTwoRequests() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let device = Device()
        let store = KeyStore(folder: folder)
        try keptKey("0042", "old", in: store)
        let server = Server([.lost, Server.Answer()])
        let session = makeSession(server, store: store)
        let player = KeyRequest(uri)
        // While the renewal waits, the app asks for it again and the player needs the key.
        whilePausing.withLock {
            $0 = { [avSession] in
                try? session.renew(uri)
                session.contentKeySession(avSession, didProvide: player)
            }
        }
        try session.renew(uri)
        #expect(try await play(session)?.get() == Data("kept ".utf8) + Server.ckc)
        #expect(device.processed == [uri])
        #expect(server.licenseRequests.count == 2)
        let played = try await player.outcome?.get()
        #expect(played == Data("old".utf8) || played == store.key(for: uri), "it did not wait for the server")
    }

    @Test func storesNothingAfterTheKeyWasGivenUp() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = KeyStore(folder: folder)
        try keptKey("0042", "old", in: store)
        let report = Data(#"{"expiresInSeconds":0,"challengeAccepted":true}"#.utf8)
        let server = Server([.lost, Server.Answer(body: report)])
        let session = makeSession(server, store: store)
        // The key is given up between the lost request and the one after it.
        whilePausing.withLock { $0 = { [uri] in _ = try? await session.giveUp(uri) } }
        try session.renew(uri)
        let outcome = await play(session)
        #expect(throws: CancellationError.self) { try outcome?.get() }
        #expect(server.licenseRequests.count == 2, "the server is not asked again")
        #expect((store.key(for: uri), store.licenseID(for: uri)) == (nil, nil))
        #expect(failures.withLock { $0 } == [])
    }

    @Test func reportsOnAKeyAndGivesItUp() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = KeyStore(folder: folder)
        try store.save(Data("key".utf8), for: uri)
        let report = Data(#"{"expiresInSeconds":60,"challengeAccepted":true}"#.utf8)
        let server = Server([Server.Answer(body: report), Server.Answer(body: report)])
        let session = makeSession(server, store: store)
        #expect(try await session.report(on: uri).expiresInSeconds == 60)
        #expect(try await session.giveUp(uri).challengeAccepted)
        #expect(store.key(for: uri) == nil)
        let bodies = server.licenseRequests.map { $0.httpBody }
        #expect(bodies == [Data("report on key".utf8), Data("given up key for ".utf8) + challenge])
        await #expect(throws: CocoaError.self) { try await session.report(on: uri) }
        #expect(throws: CocoaError.self) { try session.renew(uri) }
    }
}
