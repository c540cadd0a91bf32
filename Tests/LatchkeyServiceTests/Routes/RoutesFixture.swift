import Administration
import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import EventLoops
import FairPlay
import Foundation
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import POSIXSockets
import PackagerAPI
import Records
import ServiceConfiguration
import Telemetry
import TestSupport

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// The routes of a daemon on their own loop, without a socket.
final class RoutesFixture: Sendable {
    static let adminToken = "an administrator's token"
    static let key = [UInt8](0x20...0x2F)
    static let iv = [UInt8](0x40...0x4F)

    let credential: TestCredential
    let clock = ManualClock()
    let log = MemoryLogSink()
    let health = Health()
    let operations = RSAOperationCount()
    let rules: LiveRulesCell
    let publicRoutes: PublicRoutes
    let adminRoutes: AdminHandler
    private let pipelines: LicensePipelines
    private let group: EventLoopGroup
    private let packagerLoop: PackagerLoop?
    private let signingKey: ES256PrivateKey

    init(
        adminToken: String? = adminToken, administrators: AdminCredentials? = nil, adminHosts: Set<String> = [],
        keys: (any ContentKeySource)? = nil,
        otherCredential: TestCredential? = nil, rates: RequestRates = RequestRates(),
        overload: OverloadLimits = OverloadLimits(),
        callback: ((ManualClock) -> CallbackDecider)? = nil, finder: TokenFinder = TokenFinder(),
        recorder: DecisionRecorder? = nil, sessions: SessionTokens? = nil, linesPerEvent: Int = 1_000_000,
        desk: ((ManualClock) -> KeyDesk)? = nil, packagers: PackagerDirectory = .empty,
        urls: SKDTemplate = .standard, cors: CORSPolicy = CORSPolicy(), ledger: String = "/nonexistent/latchkey.db",
        help: HelpFiles = .none
    ) throws {
        group = try EventLoopGroup(count: 1, computing: true)
        credential = try TestCredential.shared.get()
        signingKey = try ES256PrivateKey.generate()
        let metrics = ServiceMetrics(registry: MetricsRegistry(), rsaOperations: operations)
        let credentials = try CredentialSet([credential.credential] + [otherCredential?.credential].compactMap(\.self))
        let issuers = try IssuerSet([
            Issuer(
                name: "portal", audience: "latchkey",
                keys: [VerificationKey(id: "test", es256: signingKey.publicKey)])
        ])
        let license = LicenseRules(
            fairplay: .init(credentials: credentials),
            entitlement: .init(
                tokens: VerifiedTokenCache(verifier: TokenVerifier(issuers: issuers, sessions: sessions)),
                finder: finder),
            callback: callback?(clock), rates: rates, overload: overload)
        rules = LiveRulesCell(
            LiveRules(
                license: license, certificates: try CertificateEndpoint(credentials, crypto: CryptoContext()),
                administrators: [
                    administrators ?? AdminCredentials(tokens: adminToken.map { [Self.token("tokenFile", $0)] } ?? [])
                ],
                names: AccountNames(issuers: ["portal"]), cors: cors,
                packagers: PackagerRules(directory: packagers, keyAuthority: "keys.example.com")))
        var shared = SharedLicensing(
            keys: RecentContentKeys(
                source: try keys ?? OneStoredKey(contentID: "movie-1", key: Self.key, iv: Self.iv), clock: clock),
            operations: operations, overload: metrics.overload, revocations: KnownRevocations(RevocationView()),
            clock: clock)
        shared.recorder = recorder
        shared.pseudonyms = try SampleDecisions.pseudonyms()
        shared.challenges = ServerChallenges(
            store: MemoryCellStore(), pseudonyms: try SampleDecisions.pseudonyms())
        metrics.register(shared)
        metrics.register(health)
        let logger = Logger(
            level: .trace, sink: log, clock: clock, linesPerEvent: linesPerEvent, sampleClock: clock)
        pipelines = LicensePipelines(shared)
        var packagerParts: PackagerEndpoints.Parts?
        if let desk {
            let packagerMetrics = PackagerMetrics(in: metrics.registry)
            let loop = try PackagerLoop(firstIndex: 1)
            packagerLoop = loop
            packagerParts = PackagerEndpoints.Parts(
                desk: desk(clock),
                gate: PackagerGate(countingIn: packagerMetrics.refusedCredentials, clock: clock), loop: loop,
                metrics: packagerMetrics, urls: urls)
        } else {
            packagerLoop = nil
        }
        let routes = ServiceRoutes(
            .init(
                rules: rules, pipelines: pipelines,
                lookup: try LicenseLookup(path: ledger, logger: logger),
                pseudonyms: Pseudonymizer(
                    key: try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 7, count: 32)))),
                metrics: metrics, health: health, logger: logger, recent: RecentRefusals(), clock: clock,
                packagers: packagerParts, adminSessions: AdminSessions(clock: clock, wallClock: clock),
                help: help))
        publicRoutes = routes.public
        adminRoutes = routes.admin(0, hosts: adminHosts)
    }

    /// A token of an administrator.
    static func token(_ name: String, _ secret: String, roles: Set<AdminRole> = [.admin]) -> AdminCredentials.Token {
        AdminCredentials.Token(name: name, secret: SharedSecret(SecretBytes(copying: Array(secret.utf8))), roles: roles)
    }

    deinit {
        // The last reference may be released on the loop, which cannot wait for its own end.
        Thread.detachNewThread { [group, packagerLoop] in
            group.stop(within: .seconds(10))
            packagerLoop?.stop(within: .seconds(10))
        }
    }

    /// Replaces the rules for web pages, as a reload does.
    func use(_ cors: CORSPolicy) {
        let old = rules.current
        rules.replace(
            with: LiveRules(
                license: old.license, certificates: old.certificates,
                administrators: old.administration.credentials, names: old.administration.names, cors: cors))
    }

    /// Replaces the credentials of administrators, as a reload does.
    func use(_ credentials: AdminCredentials) {
        let old = rules.current
        rules.replace(
            with: LiveRules(
                license: old.license, certificates: old.certificates,
                administrators: [credentials], names: old.administration.names))
    }

    // MARK: Requests

    /// Calls a handler on the loop's thread, as a daemon does, and returns its answer.
    func answer(_ handler: any HTTPHandler, _ request: HTTPRequest) async -> HTTPResponse {
        let loop = group.loops[0]
        return await withCheckedContinuation { continuation in
            loop.spawn {
                switch handler.answer(request, on: loop) {
                case .now(let response): continuation.resume(returning: response)
                case .later(let work): continuation.resume(returning: await work(loop))
                case .stream(let head, _): continuation.resume(returning: head)
                }
            }
        }
    }

    /// Calls the body on the loop.
    func onLoop<Result: Sendable>(_ body: @escaping @Sendable (LoopContext) -> Result) async -> Result {
        let loop = group.loops[0]
        return await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: body(loop)) }
        }
    }

    /// Sends a request to the public listener.
    func ask(
        _ method: HTTPMethod, _ path: String, query: String? = nil, _ fields: HTTPFields = [:], body: [UInt8] = []
    ) async -> HTTPResponse {
        await answer(publicRoutes, Self.request(method, path, query: query, fields, body: body))
    }

    /// Sends a request to the admin listener. The peer is on loopback unless given.
    func askAdmin(
        _ method: HTTPMethod, _ path: String, _ fields: HTTPFields = [:], body: [UInt8] = [], from peer: HTTPPeer? = nil
    ) async -> HTTPResponse {
        await answer(adminRoutes, Self.request(method, path, fields, body: body, from: peer))
    }

    /// Requests a license as an app does.
    func license(_ message: [UInt8], token: String?, query: String? = nil) async -> HTTPResponse {
        let fields: HTTPFields = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        return await ask(.post, "/fps/license", query: query, fields, body: message)
    }

    /// The outcome for an SPC, before it gets the shape of an answer.
    func outcome(of message: [UInt8], token: String, use: LicenseUse? = nil) async throws -> LicenseOutcome {
        let loop = group.loops[0]
        return try await withCheckedThrowingContinuation { continuation in
            loop.spawn { [pipelines, rules, clock] in
                do throws(LicenseError) {
                    let pipeline = try pipelines.pipeline(on: loop)
                    let now = clock.wallTime.seconds
                    let admission = try pipeline.admissionControl.admit(
                        LicenseRequest(message: message, use: use),
                        presenting: TokenCarriers(fieldValues: { $0 == "Authorization" ? ["Bearer \(token)"] : [] }),
                        under: rules.current.license, now: now)
                    continuation.resume(returning: try await pipeline.answer(admission, now: now))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    func metrics() async throws -> MetricsText {
        let response = await askAdmin(.get, "/metrics", ["Authorization": "Bearer \(Self.adminToken)"])
        return try MetricsText(parsing: String(decoding: response.body, as: UTF8.self))
    }

    static func request(
        _ method: HTTPMethod, _ path: String, query: String? = nil, _ fields: HTTPFields = [:],
        framing: HTTPBodyFraming = .none, body: [UInt8] = [], from peer: HTTPPeer? = nil
    ) -> HTTPRequest {
        HTTPRequest(
            head: HTTPRequestHead(
                method: method, target: HTTPTarget(path: path, query: query), fields: fields,
                transfer: HTTPTransfer(framing: framing)),
            body: body, peer: peer ?? HTTPPeer(address: .internet(.v4(0x7f00_0001), port: 1), listener: "test"))
    }

    // MARK: Devices and tokens

    func deviceRequest(
        _ version: SPCVersion, assetID: String = "movie-1", _ adjust: (inout DeviceOptions) -> Void = { _ in }
    ) throws -> DeviceRequest {
        let device = try credential.makeDevice(version, using: CryptoContext())
        var options = DeviceOptions(version: version, assetID: Array(assetID.utf8))
        adjust(&options)
        return try device.makeRequest(options)
    }

    func token(
        _ rights: [Right] = [Right(.content("movie-1"))], startsIn delay: Int64 = 0, subject: String? = "viewer-1",
        tokenID: String? = nil
    ) throws -> String {
        let now = clock.wallTime.seconds + delay
        return try TokenMinter(keyID: "test", es256: signingKey).mint(
            TokenContents(
                issuer: "portal", audience: "latchkey", subject: subject, tokenID: tokenID, issuedAt: now,
                expiresAt: now + 300, rights: rights))
    }
}

/// A source with exactly one content key.
struct OneStoredKey: ContentKeySource {
    private let record: ContentKeyRecord

    init(contentID: String, key: [UInt8], iv: [UInt8]) throws {
        let attributes = ContentKeyAttributes(
            keyID: try KeyID(parsing: "00112233-4455-6677-8899-aabbccddeeff"), contentID: try ContentID(contentID),
            createdAt: 0)
        record = try ContentKeyRecord(
            attributes: attributes, key: ContentKey(SecretBytes(copying: key)), iv: Bytes16(iv, at: 0))
    }

    func record(for reference: AssetReference) async throws(StoreError) -> ContentKeyRecord? {
        reference.candidates.contains { $0.fits(record.attributes) } ? record : nil
    }
}

/// A store that cannot be reached.
struct BrokenStore: ContentKeySource {
    func record(for reference: AssetReference) async throws(StoreError) -> ContentKeyRecord? {
        throw .unavailable(.inputOutput)
    }
}

extension HTTPResponse {
    /// Whether `Retry-After` tells the client to wait for a number of seconds in this range: the minimum wait, or up to
    /// half as much again.
    func waits(_ seconds: ClosedRange<Int>) -> Bool {
        fields["Retry-After"].flatMap { Int($0) }.map(seconds.contains) ?? false
    }
}
