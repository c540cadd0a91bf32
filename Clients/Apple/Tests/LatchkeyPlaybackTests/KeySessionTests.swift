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

private let certificate = Data("certificate".utf8)
private let challenge = Data([0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77])

/// A licence server that gives its answers one after the other, one for each request for a licence.
final class Server: @unchecked Sendable {
    struct Answer {
        var status = 200
        var fields: [String: String] = [:]
        var body = Server.ckc
    }

    static let ckc = Data([0, 0, 0, 1]) + Data(repeating: 7, count: 60)

    private let lock = NSLock()
    private var answers: [Answer]
    private var received: [URLRequest] = []

    init(_ answers: [Answer]) {
        self.answers = answers
    }

    var requests: [URLRequest] { lock.withLock { received } }
    var licenseRequests: [URLRequest] { requests.filter { $0.url?.path.hasSuffix("/fps/license") == true } }

    func answer(_ request: URLRequest) -> Answer {
        lock.withLock {
            received.append(request)
            switch request.url?.lastPathComponent {
            case "certificate": return Answer(body: certificate)
            case "challenge": return Answer(body: Data(#"{"challenge":"0011223344556677"}"#.utf8))
            default: return answers.isEmpty ? Answer(status: 500) : answers.removeFirst()
            }
        }
    }

    /// A client whose requests come to this server. The host name identifies the server.
    func makeClient() -> LicenseClient {
        let host = UUID().uuidString.lowercased()
        StandIn.servers.withLock { $0[host] = self }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [StandIn.self]
        let base = URL(string: "https://\(host)")!
        return LicenseClient(server: LicenseServer(base: base), session: URLSession(configuration: configuration))
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
    private let whilePausing = Locked<() -> Void>({})
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    private let lease = [
        "X-License-Issued": "1000", "X-License-Expires": "1300", "X-License-Renew-After": "1190",
        "X-Session-Token": "session-1",
    ]

    private func makeSession(_ server: Server, store: KeyStore? = nil) -> KeySession {
        let (now, pauses, whilePausing, failures) = (now, pauses, whilePausing, failures)
        // A pause returns immediately, and sets the clock to its end.
        let clock = Clock(
            now: { now.withLock { $0 } },
            pause: { time in
                pauses.withLock { $0.append(time) }
                now.withLock { $0 = max($0, time) }
                whilePausing.withLock { $0 }()
            })
        return KeySession(
            client: server.makeClient(), store: store, clock: clock, token: { "token for \($0)" },
            failed: { uri, error in failures.withLock { $0.append("\(uri): \(error)") } })
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
    }
}
