import ByteCoding
import ContentKeys
import Entitlements
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import PackagerAPI
import Records
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// SPEKE over HTTP: authentication, answers, metrics and ledger rows.
@Suite struct SPEKEEndpointTests {
    typealias Fixture = PackagerRoutesFixture

    private static let good = [
        "v1_vod_fairplay", "v1_live_fairplay_period7_iv", "v2_vod_fairplay_video_audio", "v2_live_fairplay_period",
        "v2_odd_prefixes", "v2_vod_fairplay_encrypted_delivery", "v21_live_fairplay_start_end_multivariant",
    ]

    @Test(arguments: good)
    func answersEveryGoodDocument(name: String) async throws {
        let fixture = try Fixture()
        let response = try await fixture.post(name)
        #expect(response.status == .ok, "\(response.text)")
        #expect(response.fields["Content-Type"] == "application/xml")
        #expect(response.fields["Cache-Control"] == "no-store")
        let version = Fixture.version(of: name).header
        #expect(response.fields["X-Speke-Version"] == version)
        let agent = response.fields[version == nil ? "Speke-User-Agent" : "X-Speke-User-Agent"]
        #expect(agent?.hasPrefix("Latchkey/") == true)
        for record in fixture.store.records {
            let isThere = response.text.contains(Base64.encode(record.key.bytes.revealed()))
            #expect(isThere == (name != "v2_vod_fairplay_encrypted_delivery"))
            #expect(response.text.contains(Base64.encode(record.iv.bytes)))
        }
        // A repeated request gets the same keys.
        let again = try await fixture.post(name, Fixture.version(of: name).header == nil ? nil : "/speke")
        #expect(again.status == .ok)
        if name != "v2_vod_fairplay_encrypted_delivery" { #expect(again.body == response.body) }
        let kinds = fixture.ledger.commits.map { Set($0.map(\.kind)) }
        #expect(kinds == [[.keyCreated], [.keyDelivered]])
        #expect(fixture.ledger.entries.allSatisfy { $0.actor == "packager:p1" && $0.request != nil })
        #expect(fixture.keepsSecrets(besides: [Fixture.secret, Fixture.basic]))
    }

    @Test(
        arguments: [
            ("neg_no_contentid", "Missing CPIX@contentId"), ("neg_bad_version", "Unsupported CPIX@version"),
            ("neg_mixed_scheme", "Non compliant ContentKey@commonEncryptionScheme combination"),
            (
                "neg_fairplay_cenc",
                "ContentKey@commonEncryptionScheme non compatible with DRMSystem 94ce86fb-07ff-4f43-adb8-93d2fa968ca2"
            ),
            ("neg_no_filters", "Missing CPIX encryption contract"),
            ("neg_all_plus_video", "Malformed encryption contract"),
            ("neg_no_tracktype", "Malformed encryption contract"), ("neg_xxe", "Malformed CPIX document"),
        ])
    func refusesEveryBadDocument(name: String, text: String) async throws {
        let fixture = try Fixture()
        let response = try await fixture.post(name)
        #expect(response.status == .unprocessableContent)
        #expect(response.text == text)
        #expect(response.fields["Content-Type"] == "text/plain; charset=utf-8")
        #expect(response.fields["X-Error-Code"] == "cpix_rejected")
        #expect(response.fields["X-Speke-Version"] == "2.0" && response.fields["X-Speke-User-Agent"] != nil)
        #expect(response.fields["Cache-Control"] == "no-store")
        #expect(fixture.store.callCount == 0 && fixture.ledger.entries.isEmpty)
    }

    /// An encoder that repeats its request without end gets the same bytes. Each delivery is counted, with a limited
    /// number of rows.
    @Test func answersTheSameDocumentAgainAndAgain() async throws {
        let fixture = try Fixture(linesPerEvent: 20)
        let first = try await fixture.post("v2_vod_fairplay_video_audio")
        for _ in 1...30 {
            let response = try await fixture.post("v2_vod_fairplay_video_audio")
            #expect(response.status == .ok && response.body == first.body)
            #expect(response.fields["Content-Type"] == "application/xml")
            #expect(response.fields["X-Request-Id"] != first.fields["X-Request-Id"])
        }
        #expect(fixture.ledger.commits.count == 10)
        // Of the 21 deliveries that the ledger only counts, the log has as many lines as one event may write per
        // second.
        #expect(fixture.routes.log.lines.filter { $0.contains("packager_served") }.count == 10 + 20)
        let metrics = try await fixture.routes.metrics()
        let served = #"latchkey_packager_requests_total{packager="p1",interface="speke-2.0",outcome="served"}"#
        #expect(metrics[served] == 31)
        #expect(metrics[#"latchkey_packager_keys_total{packager="p1",outcome="found"}"#] == 60)
        // Another document does not count as a repetition. The same is true of a document whose answer differs each
        // time.
        let encrypted = try await fixture.post("v2_vod_fairplay_encrypted_delivery")
        for _ in 1...15 {
            #expect(try await fixture.post("v2_vod_fairplay_encrypted_delivery").body != encrypted.body)
        }
        #expect(fixture.keepsSecrets(besides: [Fixture.secret, Fixture.basic]))
    }

    /// A cached answer opens nothing: the credential, the contents and the rate are checked each time.
    @Test func judgesEachOfManyRequests() async throws {
        let fixture = try Fixture(rate: Rate(perSecond: 1, burst: 20))
        for _ in 1...20 { #expect(try await fixture.post("v2_vod_fairplay_video_audio").status == .ok) }
        #expect(try await fixture.post("v2_vod_fairplay_video_audio").status == .tooManyRequests)
        let stranger = try await fixture.post("v2_vod_fairplay_video_audio", authorization: "Basic x")
        #expect(stranger.status == .unauthorized)
    }

    // MARK: - The head

    @Test func letsNoStrangerIn() async throws {
        let fixture = try Fixture()
        for authorization in [nil, "Basic x", "Bearer wrong-secret-of-somebody"] {
            let response = try await fixture.post("neg_xxe", authorization: authorization)
            // The document is not read.
            #expect(response.status == .unauthorized && response.fields["X-Error-Code"] == "packager_invalid")
            #expect(response.fields.values(of: "WWW-Authenticate").count == 2)
            #expect(response.fields["X-Speke-Version"] == "2.0")
            #expect(!response.text.isEmpty && response.fields["Content-Type"] == "text/plain; charset=utf-8")
        }
        let metrics = try await fixture.routes.metrics()
        #expect(metrics[#"latchkey_packager_credentials_refused_total{reason="wrong"}"#] == 2)
    }

    /// Without packagers every credential is wrong. Nothing else reveals that there are no packagers.
    @Test func refusesEverybodyWithoutPackagers() async throws {
        let fixture = try Fixture(hasPackager: false)
        #expect(try await fixture.post("v2_vod_fairplay_video_audio").status == .unauthorized)
        #expect(await fixture.ask(.get, "/speke/v1.0/heartbeat").status == .unauthorized)
        #expect(await fixture.ask(.post, "/v1/keys", body: "{}").status == .unauthorized)
    }

    @Test(arguments: ["Bearer \(Fixture.secret)", "bearer  \(Fixture.secret)", Fixture.basic])
    func takesEachFormOfASecret(authorization: String) async throws {
        let fixture = try Fixture()
        #expect(try await fixture.post("v2_vod_fairplay_video_audio", authorization: authorization).status == .ok)
    }

    /// A network may send ten wrong secrets, and then one each second. A right secret is always accepted.
    @Test func answersMostWrongSecretsWithAWait() async throws {
        let fixture = try Fixture()
        for _ in 0..<10 {
            #expect(try await fixture.post("neg_xxe", authorization: "Bearer wrong-secret").status == .unauthorized)
        }
        let slowed = try await fixture.post("neg_xxe", authorization: "Bearer wrong-secret")
        #expect(slowed.status == .tooManyRequests && slowed.fields["Retry-After"] == "1")
        #expect(try await fixture.post("v2_vod_fairplay_video_audio").status == .ok)
        fixture.routes.clock.advance(by: .seconds(1))
        let later = try await fixture.post("neg_xxe", authorization: "Bearer wrong-secret")
        #expect(later.status == .unauthorized)
    }

    @Test func keepsAPackagerToItsRate() async throws {
        let fixture = try Fixture(rate: Rate(perSecond: 1, burst: 2))
        #expect(try await fixture.post("v2_vod_fairplay_video_audio").status == .ok)
        #expect(try await fixture.post("v2_vod_fairplay_video_audio").status == .ok)
        let slowed = try await fixture.post("v2_vod_fairplay_video_audio")
        #expect(slowed.status == .tooManyRequests && slowed.fields["X-Error-Code"] == "rate_limited")
        #expect(slowed.fields["Retry-After"] == "1" && slowed.fields["X-Speke-Version"] == "2.0")
        fixture.routes.clock.advance(by: .seconds(1))
        #expect(try await fixture.post("v2_vod_fairplay_video_audio").status == .ok)
        let metrics = try await fixture.routes.metrics()
        let name = { (outcome: String) in
            "latchkey_packager_requests_total{packager=\"p1\",interface=\"speke-2.0\",outcome=\"\(outcome)\"}"
        }
        #expect(metrics[name("served")] == 3 && metrics[name("slowed")] == 1)
        #expect(metrics[#"latchkey_packager_keys_total{packager="p1",outcome="created"}"#] == 2)
        #expect(metrics[#"latchkey_packager_keys_total{packager="p1",outcome="found"}"#] == 4)
    }

    @Test(
        arguments: [
            ("/speke/v2.0/copyProtection", nil), ("/speke/v2.0/copyProtection", "2.1"),
            ("/speke/v2.1/copyProtection", "2.0"), ("/speke/v1.0/copyProtection", "2.0"), ("/speke", "3.0"),
            ("/speke", "1.0"), ("/speke", ""),
        ] as [(String, String?)])
    func wantsOneVersion(path: String, version: String?) async throws {
        let fixture = try Fixture()
        let body = try Fixture.document("v2_vod_fairplay_video_audio")
        let response = await fixture.post(body, path, version: version)
        #expect(response.status == .unprocessableContent && response.text == "Unsupported SPEKE version")
    }

    @Test(arguments: ["application/json", "text/plain", "application/xml; charset=latin1", nil] as [String?])
    func wantsXML(type: String?) async throws {
        let response = try await Fixture().post("v2_vod_fairplay_video_audio", type: type)
        #expect(response.status == .unsupportedMediaType && response.fields["X-Error-Code"] == "media_type_unsupported")
        #expect(response.fields["X-Speke-Version"] == "2.0")
    }

    @Test func boundsTheSize() async throws {
        let fixture = try Fixture()
        let limit = SPEKEEndpoint.bodySizeMaximum
        let document = try Fixture.document("v2_vod_fairplay_video_audio")
        let padded = document + [UInt8](repeating: 0x0A, count: limit - document.count)
        #expect(await fixture.post(padded).status == .ok)
        #expect(await fixture.post(padded + [0x0A]).status == .contentTooLarge)
    }

    @Test func answersOtherMethods() async throws {
        let fixture = try Fixture()
        for (method, path, allowed) in [
            (HTTPMethod.get, "/speke", "POST"), (.options, "/speke", "POST"),
            (.post, "/speke/v1.0/heartbeat", "GET, HEAD"),
        ] {
            let response = await fixture.ask(method, path)
            #expect(response.status == .methodNotAllowed && response.fields["Allow"] == allowed)
            #expect(response.fields["Speke-User-Agent"] != nil)
        }
        let heartbeat = await fixture.ask(.get, "/speke/v1.0/heartbeat")
        #expect(heartbeat.status == .ok && heartbeat.text == SPEKERoute.heartbeatText)
        #expect(heartbeat.fields["Speke-User-Agent"] != nil)
        #expect(await fixture.ask(.get, "/speke/v2.0/heartbeat").status == .notFound)
    }

    /// Web pages are refused with any policy for the other addresses.
    @Test func opensNothingToWebPages() async throws {
        let fixture = try Fixture(cors: CORSPolicy(origins: .any))
        let fields: HTTPFields = ["Authorization": Fixture.basic, "Origin": "https://page.example"]
        for (method, path) in [(HTTPMethod.get, "/speke/v1.0/heartbeat"), (.get, "/v1/keys/c"), (.options, "/speke")] {
            let response = await fixture.routes.ask(method, path, fields)
            #expect(response.fields["Access-Control-Allow-Origin"] == nil)
        }
        #expect(await fixture.routes.ask(.get, "/livez", fields).fields["Access-Control-Allow-Origin"] != nil)
    }

    // MARK: - What a packager may have

    @Test func keepsAPackagerToItsContents() async throws {
        let fixture = try Fixture(contents: ContentScope(["movie-002", "live/*"]))
        let response = try await fixture.post("v2_vod_fairplay_video_audio")
        #expect(response.status == .forbidden && response.fields["X-Error-Code"] == "packager_forbidden")
        #expect(response.text == "This packager may not have keys of this content")
        #expect(fixture.store.callCount == 0)
    }

    @Test func makesNoKeyForAReader() async throws {
        let fixture = try Fixture(scopes: [.read])
        let response = try await fixture.post("v2_vod_fairplay_video_audio")
        #expect(response.status == .forbidden && response.text.contains("may not create keys"))
        #expect(fixture.store.records.isEmpty)
        let creator = try Fixture(scopes: [.create])
        #expect(try await creator.post("v2_vod_fairplay_video_audio").status == .forbidden)
    }

    /// A certificate that only the request contains proves nothing: keys are encrypted only to pinned certificates.
    @Test func encryptsToPinnedCertificatesAlone() async throws {
        let open = try Fixture(isPinned: false)
        let refused = try await open.post("v2_vod_fairplay_encrypted_delivery")
        #expect(refused.status == .forbidden && refused.text.contains("pinned"))
        #expect(open.store.records.isEmpty)
        let strict = try Fixture(requiresEncryptedDelivery: true)
        let clear = try await strict.post("v2_vod_fairplay_video_audio")
        #expect(clear.status == .forbidden && clear.text.contains("DeliveryDataList"))
        #expect(strict.store.records.isEmpty)
        #expect(try await strict.post("v2_vod_fairplay_encrypted_delivery").status == .ok)
        #expect(strict.ledger.entries.allSatisfy { $0.detail == "speke-2.0 encrypted" })
    }

    // MARK: - Refused keys

    @Test func tellsWhatAStoredKeyHasOtherwise() async throws {
        let fixture = try Fixture()
        #expect(try await fixture.post("v2_vod_fairplay_video_audio").status == .ok)
        let text = String(decoding: try Fixture.document("v2_vod_fairplay_video_audio"), as: UTF8.self)
        let kid = "7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"
        let changes = [
            ("contentId=\"movie-001\"", "contentId=\"movie-002\"", "KID \(kid) is stored for another content"),
            ("intendedTrackType=\"VIDEO\"", "intendedTrackType=\"HD\"", "KID \(kid) is stored for another track"),
            (
                "<cpix:ContentKey kid=\"\(kid)\"",
                "<cpix:ContentKey kid=\"\(kid)\" explicitIV=\"AAAAAAAAAAAAAAAAAAAAAA==\"",
                "ContentKey@explicitIV differs from that of KID \(kid)"
            ),
        ]
        for (old, new, expected) in changes {
            try #require(text.contains(old))
            let response = await fixture.post(Array(text.replacing(old, with: new, maxReplacements: 1).utf8))
            #expect(response.status == .unprocessableContent && response.text == expected)
        }
        try fixture.store.withdraw(try KeyID(parsing: kid))
        fixture.routes.clock.advance(by: .seconds(3))
        let withdrawn = try await fixture.post("v2_vod_fairplay_video_audio")
        #expect(withdrawn.status == .unprocessableContent && withdrawn.text == "KID \(kid) was withdrawn")
    }

    /// While the store is unavailable, known keys are delivered, but no key is made.
    @Test func servesWhatItKnowsWhileTheStoreIsAway() async throws {
        let fixture = try Fixture()
        let before = try await fixture.post("v2_vod_fairplay_video_audio")
        fixture.store.fail(with: .store(.unavailable(.unreachable)))
        fixture.routes.clock.advance(by: .seconds(600))
        #expect(try await fixture.post("v2_vod_fairplay_video_audio").body == before.body)
        let other = try await fixture.post("v1_vod_fairplay")
        #expect(other.status == .serviceUnavailable && other.fields["X-Error-Code"] == "storage_unavailable")
        #expect(other.fields["Retry-After"] != nil)
        let metrics = try await fixture.routes.metrics()
        let name = #"latchkey_packager_requests_total{packager="p1",interface="speke-1.0",outcome="failed"}"#
        #expect(metrics[name] == 1)
    }

    @Test func givesNoKeyWithoutItsRow() async throws {
        let fixture = try Fixture()
        fixture.ledger.fail(with: .unavailable(.diskFull))
        let response = try await fixture.post("v2_vod_fairplay_video_audio")
        #expect(response.status == .serviceUnavailable && response.fields["Retry-After"] != nil)
        for record in fixture.store.records {
            #expect(!response.text.contains(Base64.encode(record.key.bytes.revealed())))
        }
        let relaxed = try Fixture(mode: .bestEffort)
        relaxed.ledger.fail(with: .unavailable(.diskFull))
        #expect(try await relaxed.post("v2_vod_fairplay_video_audio").status == .ok)
    }

    @Test func logsWhatWasAskedFor() async throws {
        let fixture = try Fixture()
        _ = try await fixture.post("v2_vod_fairplay_video_audio")
        let line = try #require(fixture.routes.log.lines.first { $0.contains("packager_served") })
        for part in [
            #""packager":"p1""#, #""interface":"speke-2.0""#, #""content":"movie-001""#, #""keys":2"#, #""created":2"#,
        ] {
            #expect(line.contains(part), "\(line)")
        }
    }

    // MARK: - The body

    /// A body is kept only for a packager.
    @Test func decidesAboutABodyByTheHead() async throws {
        let fixture = try Fixture(rate: Rate(perSecond: 1, burst: 1))
        func decision(_ authorization: String) async -> String {
            let request = RoutesFixture.request(
                .post, "/speke", ["Authorization": authorization], framing: .length(100_000))
            return await fixture.routes.onLoop { [routes = fixture.routes.publicRoutes] loop in
                switch routes.decideBody(of: request, on: loop) {
                case .keep: "keep"
                case .drop: "drop"
                case .refuse(let response): "refuse \(response.status.code)"
                }
            }
        }
        #expect(await decision(Fixture.basic) == "keep")
        #expect(await decision("Basic x") == "refuse 401")
        // The decision has counted nothing.
        #expect(try await fixture.post("v2_vod_fairplay_video_audio").status == .ok)
    }
}
