import Administration
import ByteCoding
import ContentKeys
import EventLoops
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import Records
import StorageSQLite
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// What operators read, with a key store and a ledger in files.
@Suite struct AdminDataEndpointTests {
    /// The endpoint as a handler of its own, without roles and tokens.
    private struct Handler: HTTPHandler {
        let endpoint: AdminDataEndpoint

        func answer(_ request: HTTPRequest, on loop: LoopContext) -> HTTPAnswer {
            guard case .data(let data) = AdminAddress(path: request.path) else {
                return .now(HTTPResponse(status: .notFound))
            }
            let names = AccountNames(issuers: ["portal"])
            return endpoint.answer(request, at: data, by: "token:x", names: names, id: RequestID(1)) { true }
        }

        func refusal(
            of problem: HTTPProblem, in head: HTTPRequestHead?, from peer: HTTPPeer, on loop: LoopContext
        ) -> HTTPResponse {
            HTTPResponse(status: .badRequest)
        }
    }

    private static let now: Int64 = 1_700_000_000

    private let folder: TemporaryDirectory
    private let fixture: RoutesFixture
    private let store: SQLiteKeyStore
    private let recent = RecentRefusals(capacity: 100)
    private let health = Health()
    private let pseudonyms: Pseudonymizer
    private let handler: Handler
    private let pages: LedgerPageQueue
    private let tally = DeviceTally(in: MetricsRegistry())

    init() throws {
        folder = try TemporaryDirectory()
        fixture = try RoutesFixture()
        let path = folder.path("latchkey.db")
        store = try SQLiteKeyStore.open(path: path, keyRing: SampleKeys.keyRing(), maximumReaders: 1)
        pseudonyms = Pseudonymizer(key: try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 7, count: 32))))
        let clock = ManualClock(wallTime: WallTime(seconds: Self.now))
        let logger = Logger(level: .error, sink: MemoryLogSink(), clock: clock)
        let node = try NodeID("node-1")
        pages = try LedgerPageQueue(path: path, node: node, logger: logger)
        let trusted = TrustedClock(
            .init(stepTolerance: .seconds(5), settleTime: .seconds(60), leeway: .seconds(60)), wall: clock, boot: clock)
        let history = History([:], wallClock: clock, clock: clock)
        let preflights = RefusedPreflights()
        preflights.note(RefusedPreflight(origin: "https://a.example", fields: ["x-mine"]), at: 7)
        let status = StatusSource(
            .init(
                node: "edge-1", memory: ServerResources(), nodes: { [] },
                listeners: { [.init(name: "admin[0]", address: "127.0.0.1:1", hasTLS: false)] },
                certificates: {
                    [
                        .init(kind: .tls, name: "public[0]", end: Self.now + 900),
                        .init(kind: .fairPlay, name: "main-2048", end: Self.now + 500),
                    ]
                },
                trust: { trusted.trust }, preflights: { preflights.entries(under: CORSPolicy()) }),
            health: health, wallClock: clock, clock: clock)
        clock.advance(by: .seconds(60))
        handler = Handler(
            endpoint: AdminDataEndpoint(
                .init(
                    status: status, history: history,
                    devices: DeviceHistory(tally, wallClock: clock, clock: clock),
                    events: EventStreams(history, status, clock: clock), pages: pages, contents: ContentDesk(store),
                    pseudonyms: pseudonyms),
                recent: recent, refusals: Refusals(logger: logger, recent: recent, clock: clock), clock: clock))
    }

    private func ask(_ path: String, _ query: String? = nil) async -> HTTPResponse {
        await fixture.answer(handler, RoutesFixture.request(.get, path, query: query))
    }

    private func json(_ path: String, _ query: String? = nil) async throws -> JSONObject {
        let response = await ask(path, query)
        #expect(response.status == .ok, "\(path)?\(query ?? ""): \(String(decoding: response.body, as: UTF8.self))")
        return try #require(JSONReader.parse(response.body, limits: JSONLimits(sizeMaximum: 1 << 20)).object)
    }

    private func texts(_ objects: JSONNode?, _ name: String) -> [String] {
        (objects?.array ?? []).compactMap { $0.object?[name]?.string }
    }

    // MARK: Addresses and parameters

    @Test(arguments: AdminData.allCases)
    func refusesParametersThatItDoesNotKnow(data: AdminData) async throws {
        let path = data.path.replacing("{contentId}", with: "movie-1")
        #expect(AdminAddress(path: path) == .data(data))
        let response = await ask(path, "unknown=1")
        #expect(response.status == .badRequest && response.fields["X-Error-Code"] == "request_invalid")
    }

    @Test(arguments: [
        ("/v1/history", "since=-1"), ("/v1/history", "since=nan"), ("/v1/history", "since=1&since=2"),
        ("/v1/refusals", "limit=0"), ("/v1/refusals", "limit=201"), ("/v1/refusals", "limit=+1"),
        ("/v1/refusals", "before=x"), ("/v1/refusals", "before=99999999999999999999"), ("/v1/refusals", "code="),
        ("/v1/refusals", "series=licenses_v1"), ("/v1/refusals", "series=token"), ("/v1/refusals", "series="),
        ("/v1/ledger", "limit=201"), ("/v1/ledger", "after=0"), ("/v1/ledger", "license=00"),
        ("/v1/ledger", "key=none"), ("/v1/ledger", "deviceClass=Mobile"), ("/v1/ledger", "securityLevel=MAIN"),
        ("/v1/ledger", "osVersion=17."), ("/v1/ledger", "device=none"), ("/v1/ledger", "issuer=portal"),
        ("/v1/ledger", "subject=a&issuer=other"), ("/v1/ledger", "content="), ("/v1/ledger", "request=%FF"),
        ("/v1/contents", "limit=101"), ("/v1/contents", "after=%20"), ("/v1/contents", "prefix=%E4"),
        ("/v1/contents/movie-1/keys", "after=1"), ("/v1/contents/movie-1/keys", "limit=501"),
    ])
    func refusesValuesOfAWrongForm(path: String, query: String) async {
        let response = await ask(path, query)
        #expect(response.status == .badRequest && response.fields["X-Error-Code"] == "request_invalid")
    }

    @Test(arguments: ["/v1/contents//keys", "/v1/contents/a/keys/", "/v1/contents/", "/v1/contents/a"])
    func knowsNoOtherPaths(path: String) {
        #expect(AdminAddress(path: path) == nil)
    }

    // MARK: Status and plots

    @Test func tellsTheState() async throws {
        let starting = try await json("/v1/status")
        #expect(starting["ready"]?.bool == false && starting["stopping"]?.bool == false)
        health.setReady(true)
        let status = try await json("/v1/status")
        #expect(status["node"]?.string == "edge-1" && status["ready"]?.bool == true)
        #expect(status["readiness"]?.string == "ready" && status["drained"]?.isNull == true)
        #expect(status["now"]?.number?.signed == Self.now + 60 && status["startedAt"]?.number?.signed == Self.now)
        #expect(texts(status["ends"], "name") == ["main-2048", "public[0]"])
        #expect(texts(status["listeners"], "name") == ["admin[0]"])
        #expect(status["clock"]?.object?["databaseOffsetSeconds"]?.isNull == true)
        let preflight = try #require(status["refusedPreflights"]?.array?.first?.object)
        #expect(preflight["origin"]?.string == "https://a.example" && preflight["header"]?.string == "x-mine")
        #expect(preflight["count"]?.number?.signed == 1 && preflight["lastAt"]?.number?.signed == 7)
        #expect(preflight["remedy"]?.string?.contains("add x-mine to cors.allowedHeaders") == true)
        _ = health.drain(by: "token:x", at: MonotonicTime(nanoseconds: 0) + .seconds(30))
        let drained = try await json("/v1/status")
        #expect(drained["ready"]?.bool == false && drained["readiness"]?.string == "not ready: drained by token:x")
        #expect(drained["drained"]?.object?["since"]?.number?.signed == Self.now + 30)
        _ = health.endDrain()
        health.setReady(false)
        #expect(try await json("/v1/status")["stopping"]?.bool == true)
    }

    @Test func beginsAStreamOfEvents() async {
        let response = await ask("/v1/events")
        #expect(response.status == .ok && response.fields["Content-Type"] == "text/event-stream")
        #expect(response.fields["Cache-Control"] == "no-store")
    }

    // MARK: Refusals

    @Test func listsRefusalsPageByPage() async throws {
        for number in 0..<5 {
            recent.note(
                .init(
                    "id-\(number)", at: WallTime(seconds: Self.now), event: "license_refused",
                    code: number == 3 ? "token_expired" : "spc_malformed", cause: "a cause",
                    facts: [("listener", "public")]),
                of: .init(isProven: true, network: nil as String?))
        }
        let first = try await json("/v1/refusals", "limit=2")
        #expect(texts(first["refusals"], "request_id") == ["id-4", "id-3"])
        #expect(texts(first["refusals"], "listener") == ["public", "public"])
        let next = try #require(first["next"]?.string)
        let second = try await json("/v1/refusals", "before=\(next)")
        #expect(texts(second["refusals"], "request_id") == ["id-2", "id-1", "id-0"] && second["next"]?.isNull == true)
        let expired = try await json("/v1/refusals", "code=token_expired")
        #expect(texts(expired["refusals"], "request_id") == ["id-3"])
    }

    /// A click on a colour of the plot shows what the colour has counted, and nothing else.
    @Test func listsTheRefusalsOfASeries() async throws {
        let noted = [
            ("license_refused", "token_expired"), ("query_refused", "token_missing"),
            ("packager_refused", "token_missing"), ("license_refused", "internal"), ("license_refused", "no-such-code"),
        ]
        for (number, (event, code)) in noted.enumerated() {
            recent.note(
                .init("id-\(number)", at: WallTime(seconds: Self.now), event: event, code: code, cause: "a cause"),
                of: .init(isProven: true, network: nil as String?))
        }
        func listed(_ series: String) async throws -> [String] {
            texts(try await json("/v1/refusals", "series=\(series)")["refusals"], "request_id")
        }
        #expect(try await listed("refusals_token") == ["id-0"])
        #expect(try await listed("refusals_anonymous") == ["id-1"])
        #expect(try await listed("refusals_fault") == ["id-3"])
        #expect(try await listed("refusals_key").isEmpty)
        #expect(try await listed("refusals") == ["id-4", "id-3", "id-1", "id-0"])
        // A page may be empty and still have a next one.
        let newest = try await json("/v1/refusals", "series=refusals_token&limit=2")
        #expect(texts(newest["refusals"], "request_id").isEmpty && newest["next"]?.string != nil)
    }

    // MARK: The ledger

    private func appendEntries() throws {
        let secret = SecretBytes(copying: [UInt8](repeating: 0x5A, count: 32))
        let chain = LedgerChain(key: try HMACSHA256Key(secret), node: try NodeID("node-1"))
        var appender = try LedgerAppender.open(path: folder.path("latchkey.db"), chain: chain)
        for number in 1...9 as ClosedRange<Int64> {
            var entry = LedgerEntry(
                kind: .licenseIssued, at: Self.now + number,
                license: LicenseID(milliseconds: UInt64(Self.now), random: Bytes16(high: 0, low: UInt64(number))),
                content: "movie-\(number % 2)", detail: "streaming")
            entry.subject = try pseudonyms.subject(issuer: "portal", "viewer-\(number % 3)").shortened
            entry.device = try pseudonyms.pseudonym(of: .device, [UInt8](repeating: UInt8(number), count: 20)).shortened
            entry.keyID = SampleKeys.keyID(UInt64(number))
            try appender.append([entry], at: Self.now + number)
        }
    }

    private func sequences(_ query: String) async throws -> [Int64] {
        let page = try await json("/v1/ledger", query)
        return (page["entries"]?.array ?? []).compactMap { $0.object?["sequence"]?.number?.signed }
    }

    @Test func findsEntriesByEachParameter() async throws {
        try appendEntries()
        #expect(try await sequences("content=movie-1&limit=3") == [9, 7, 5])
        #expect(try await sequences("subject=viewer-1&issuer=portal") == [7, 4, 1])
        #expect(try await sequences("subject=viewer-1&content=movie-0") == [4])
        #expect(try await sequences("device=\(String(repeating: "03", count: 20))") == [3])
        #expect(try await sequences("key=\(SampleKeys.keyID(6).description)") == [6])
        #expect(try await sequences("request=none").isEmpty)
        #expect(try await sequences("playback=none").isEmpty)
        let page = try await json("/v1/ledger", "limit=4")
        #expect(page["isComplete"]?.bool == false && page["order"]?.string == "newestFirst")
        let next = try #require(page["next"]?.string)
        #expect(try await sequences("after=\(next)") == [5, 4, 3, 2, 1])
        let entry = try #require(page["entries"]?.array?.first?.object)
        #expect(entry["node"]?.string == "node-1" && entry["kind"]?.string == "license_issued")
        #expect(entry["at"]?.number?.signed == Self.now + 9 && entry["time"]?.string == "2023-11-14T22:13:29Z")
        let license = try #require(entry["license"]?.string)
        #expect(entry["text"]?.string?.hasPrefix("license_issued  streaming  license \(license)  kid ") == true)
        #expect(try await sequences("license=\(license)") == [9])
        // The digits of an entry find the rows of the same device and subject.
        let (device, subject) = (try #require(entry["device"]?.string), try #require(entry["subject"]?.string))
        #expect(try await sequences("device=pseudonym:\(device)") == [9])
        #expect(try await sequences("subject=pseudonym:\(subject)") == [9, 6, 3])
    }

    @Test func saysThatTheLedgerCannotBeRead() async {
        pages.stop()
        let response = await ask("/v1/ledger")
        #expect(response.status == .serviceUnavailable && response.fields["Retry-After"] != nil)
    }

    // MARK: Contents

    @Test func listsContentsAndTheirKeysWithoutSecrets() async throws {
        _ = try await store.insert(
            try SampleKeys.record(1, content: "movie/1", track: Track(.hd), createdAt: Self.now))
        var record = try SampleKeys.record(2, content: "movie/1", track: Track(.audio), createdAt: Self.now + 5)
        _ = try await store.insert(record)
        for period in 0..<3 as Range<UInt32> {
            record = try SampleKeys.record(10 + UInt64(period), content: "live-1", period: period)
            _ = try await store.insert(record)
        }
        let page = try await json("/v1/contents")
        #expect(texts(page["contents"], "contentId") == ["live-1", "movie/1"] && page["next"]?.isNull == true)
        let lines = try #require(page["contents"]?.array)
        #expect(lines[1].object?["tracks"]?.array?.compactMap(\.string) == ["AUDIO", "HD"])
        #expect(lines[1].object?["createdAt"]?.number?.signed == Self.now)
        #expect(lines[1].object?["newestAt"]?.number?.signed == Self.now + 5)
        #expect(lines[0].object?["periodCount"]?.number?.signed == 3)
        let first = try await json("/v1/contents", "limit=1")
        #expect(first["next"]?.string == "live-1")
        let rest = try await json("/v1/contents", "limit=1&after=live-1")
        #expect(texts(rest["contents"], "contentId") == ["movie/1"])
        let prefixed = try await json("/v1/contents", "prefix=mov")
        #expect(texts(prefixed["contents"], "contentId") == ["movie/1"])

        let keys = try await json("/v1/contents/movie%2F1/keys", "limit=1")
        #expect(keys["contentId"]?.string == "movie/1")
        let key = try #require(keys["keys"]?.array?.first?.object)
        #expect(key["keyId"]?.string == SampleKeys.keyID(1).description && key["track"]?.string == "HD")
        #expect(
            key.members.map(\.name) == [
                "keyId", "track", "type", "period", "scheme", "createdAt", "state", "floors",
            ])
        let next = try #require(keys["next"]?.string)
        let second = try await json("/v1/contents/movie%2F1/keys", "after=\(next)")
        #expect(texts(second["keys"], "track") == ["AUDIO"] && second["next"]?.isNull == true)
    }

    @Test func namesPeriodsAndTheNextRotation() async throws {
        for period in 0..<3 as Range<UInt32> {
            _ = try await store.insert(try SampleKeys.record(10 + UInt64(period), content: "live-1", period: period))
        }
        let id = try ContentID("live-1")
        try await store.note([KnownPeriod(index: 2, start: Self.now + 600, end: Self.now + 1200)], of: id)
        let told = try await json("/v1/contents/live-1/keys")
        let periods = try #require(told["periods"]?.array)
        #expect(periods.compactMap { $0.object?["index"]?.number?.signed } == [2, 1, 0])
        #expect(periods[0].object?["startsAt"]?.number?.signed == Self.now + 600)
        #expect(periods[1].object?["startsAt"]?.isNull == true)
        #expect(told["nextRotation"]?.object?["at"]?.number?.signed == Self.now + 600)
        let schedule = try #require(
            PeriodSchedule(firstIndex: 0, firstStart: Self.now - 120, length: 120, tracks: [PeriodTrack(.unlabelled)]))
        #expect(try await store.set(LiveContent(id, schedule: schedule)))
        let scheduled = try await json("/v1/contents/live-1/keys")
        #expect(scheduled["nextRotation"]?.object?["index"]?.number?.signed == 2)
        #expect(scheduled["nextRotation"]?.object?["at"]?.number?.signed == Self.now + 120)
    }

    @Test func knowsNoContentWithoutKeys() async {
        for path in ["/v1/contents/none/keys", "/v1/contents/%FF/keys", "/v1/contents/%/keys"] {
            #expect(await ask(path).status == .notFound)
        }
    }
}
