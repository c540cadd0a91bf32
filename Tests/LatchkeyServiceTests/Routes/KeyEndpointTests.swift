import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
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

/// `/v1/keys`: orders, pages and forms.
@Suite struct KeyEndpointTests {
    typealias Fixture = PackagerRoutesFixture

    private static let kid = "7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"
    private static let key = "00112233445566778899aabbccddeeff"
    private static let iv = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

    private static func keys(_ response: HTTPResponse) -> [JSONObject] {
        response.json?["keys"]?.array?.compactMap(\.object) ?? []
    }

    @Test func makesKeysOnce() async throws {
        let fixture = try Fixture()
        let body = #"{"contentId": "movie-1", "tracks": ["VIDEO", "AUDIO"], "period": 3}"#
        let made = await fixture.ask(.post, "/v1/keys", body: body)
        #expect(made.status == .ok && made.fields["Cache-Control"] == "no-store", "\(made.text)")
        let found = await fixture.ask(.post, "/v1/keys", body: body)
        #expect(Self.keys(made).map { $0["outcome"]?.string } == ["created", "created"])
        #expect(Self.keys(found).map { $0["outcome"]?.string } == ["found", "found"])
        for member in ["kid", "key", "iv", "url"] {
            let values = Self.keys(made).map { $0[member]?.string }
            #expect(values == Self.keys(found).map { $0[member]?.string } && Set(values).count == 2)
        }
        for key in Self.keys(made) {
            #expect(key["url"]?.string == "skd://\(key["kid"]?.string ?? "")")
            #expect(key["key"]?.string != key["iv"]?.string)
            #expect(key["period"]?.number?.signed == 3 && key["scheme"]?.string == "cbcs")
        }
        #expect(fixture.ledger.entries.map(\.detail) == [String](repeating: "keys json period 3", count: 4))
        #expect(fixture.keepsSecrets(besides: [Fixture.secret]))
    }

    @Test func importsKeys() async throws {
        let body = """
            {"contentId": "movie-1", "tracks": [
              {"track": "HD", "kid": "\(Self.kid)", "iv": "\(Self.iv)", "key": "\(Self.key)"}]}
            """
        let fixture = try Fixture()
        let made = await fixture.ask(.post, "/v1/keys", body: body)
        #expect(Self.keys(made).map { $0["outcome"]?.string } == ["imported"])
        #expect(Self.keys(made).map { $0["key"]?.string } == [Self.key])
        #expect(Self.keys(await fixture.ask(.post, "/v1/keys", body: body)).map { $0["outcome"]?.string } == ["found"])
        let other = body.replacing(Self.key, with: String(Self.key.reversed()))
        let conflict = await fixture.ask(.post, "/v1/keys", body: other)
        #expect(conflict.status == .conflict && conflict.fields["X-Error-Code"] == "key_conflict")
        #expect(fixture.keepsSecrets(besides: [String(Self.key.reversed())]))
        let same = await fixture.ask(.post, "/v1/keys", body: body.replacing(Self.iv, with: Self.key))
        #expect(same.status == .conflict)
        let creator = try Fixture(scopes: [.read, .create])
        #expect(await creator.ask(.post, "/v1/keys", body: body).status == .forbidden)
        let importer = try Fixture(scopes: [.read, .import])
        #expect(await importer.ask(.post, "/v1/keys", body: body).status == .ok)
        let order = #"{"contentId": "movie-1", "tracks": ["SD"]}"#
        #expect(await importer.ask(.post, "/v1/keys", body: order).status == .forbidden)
    }

    @Test func namesTheMemberThatIsWrong() async throws {
        let body = #"{"contentId": "movie-1", "tracks": ["HD", {"track": "SD", "iv": "\#(Self.key)0"}]}"#
        let response = await (try Fixture()).ask(.post, "/v1/keys", body: body)
        #expect(response.status == .badRequest && response.fields["Content-Type"] == "application/problem+json")
        #expect(response.json?["member"]?.string == "tracks[1].iv")
        #expect(response.json?["code"]?.string == "request_invalid")
        #expect(!response.text.contains(Self.key))
    }

    @Test func asksForACredential() async throws {
        let fixture = try Fixture()
        let response = await fixture.ask(.get, "/v1/keys/movie-1", authorization: nil)
        #expect(response.status == .unauthorized && response.json?["code"]?.string == "packager_invalid")
        #expect(
            Set(response.fields.values(of: "WWW-Authenticate").compactMap { $0.split(separator: " ").first })
                == ["Basic", "Bearer"])
        #expect(await fixture.ask(.get, "/v1/keys").status == .methodNotAllowed)
        let post = await fixture.ask(.post, "/v1/keys/movie-1")
        #expect(post.status == .methodNotAllowed && post.fields["Allow"] == "GET, HEAD")
    }

    // MARK: - Pages

    private static func filled(_ fixture: Fixture, _ tracks: [String]) async throws {
        let list = tracks.map { #""\#($0)""# }.joined(separator: ",")
        let body = #"{"contentId": "a/b", "tracks": [\#(list)]}"#
        #expect(await fixture.ask(.post, "/v1/keys", body: body).status == .ok)
    }

    @Test func givesPages() async throws {
        let fixture = try Fixture()
        try await Self.filled(fixture, ["SD", "HD", "UHD", "AUDIO", "STEREO_AUDIO"])
        var seen: [String] = []
        var query: String? = "limit=2"
        var pageCount = 0
        while let current = query {
            let page = await fixture.ask(.get, "/v1/keys/a%2Fb", query: current)
            #expect(page.status == .ok && page.json?["contentId"]?.string == "a/b")
            seen += Self.keys(page).compactMap { $0["kid"]?.string }
            let next = page.json?["next"]?.string
            #expect(page.fields["Link"] == next.map { "</v1/keys/a%2Fb?limit=2&after=\($0)>; rel=\"next\"" })
            query = next.map { "limit=2&after=\($0)" }
            pageCount += 1
        }
        #expect(pageCount == 3 && seen.count == 5 && seen == seen.sorted())
        // A slash in a content's name need not be escaped.
        #expect(Self.keys(await fixture.ask(.get, "/v1/keys/a/b", query: "track=HD")).count == 1)
        let rows = fixture.ledger.entries.filter { $0.kind == .keyDelivered }
        #expect(rows.count == 6 && rows.allSatisfy { $0.detail == "keys json" && $0.actor == "packager:p1" })
    }

    @Test(arguments: KeyExportFormat.allCases)
    func givesEveryForm(format: KeyExportFormat) async throws {
        let fixture = try Fixture()
        try await Self.filled(fixture, ["HD", "AUDIO"])
        let path = "/v1/keys/a%2Fb"
        let one = await fixture.ask(.get, path, query: "format=\(format.rawValue)&track=HD")
        #expect(one.status == .ok && one.fields["Content-Type"] == format.contentType, "\(one.text)")
        let record = try #require(fixture.store.records.first { $0.attributes.trackLabel == .hd })
        let key = record.key.bytes.revealed()
        let holdsKey = [Array(Hexadecimal.encode(key).utf8), Array(Base64.encode(key).utf8), key].contains { form in
            (0...max(0, one.body.count - form.count)).contains { one.body.dropFirst($0).starts(with: form) }
        }
        #expect(holdsKey == !format.isPublic)
        // Playlist lines have no key, so they are no delivery.
        let rows = fixture.ledger.entries.filter { $0.kind == .keyDelivered }
        #expect(rows.map(\.detail) == (format.isPublic ? [] : ["keys \(format.rawValue)"]))
        let both = await fixture.ask(.get, path, query: "format=\(format.rawValue)")
        #expect(both.status == (format.takesOneKey ? .badRequest : .ok))
        let none = await fixture.ask(.get, path, query: "format=\(format.rawValue)&track=SD")
        #expect(none.status == .notFound && none.json?["code"]?.string == "key_not_found")
    }

    /// HEAD answers like GET, but delivers no key.
    @Test func answersHEADWithoutADelivery() async throws {
        let fixture = try Fixture()
        try await Self.filled(fixture, ["HD"])
        let rows = fixture.ledger.entries.count
        let head = await fixture.ask(.head, "/v1/keys/a%2Fb")
        #expect(head.status == .ok && fixture.ledger.entries.count == rows)
        #expect(await fixture.ask(.head, "/v1/keys/other").status == .notFound)
    }

    @Test(
        arguments: [
            ("format=mp3", "format"), ("limit=0", "limit"), ("limit=65", "limit"), ("period=-1", "period"),
            ("after=x", "after"), ("track=", "track"), ("limit=1&limit=2", "limit"), ("x=1", nil),
        ] as [(String, String?)])
    func refusesOtherQueries(query: String, member: String?) async throws {
        let response = await (try Fixture()).ask(.get, "/v1/keys/movie-1", query: query)
        #expect(response.status == .badRequest && response.json?["member"]?.string == member)
    }

    @Test func keepsPackagersToTheirContentsAndTheirEncryption() async throws {
        let other = try Fixture(contents: ContentScope(["live/*"]))
        #expect(await other.ask(.get, "/v1/keys/movie-1").status == .forbidden)
        let order = #"{"contentId": "movie-1", "tracks": ["SD"]}"#
        #expect(await other.ask(.post, "/v1/keys", body: order).status == .forbidden)
        #expect(await other.ask(.post, "/v1/keys", body: order.replacing("movie-1", with: "live/1")).status == .ok)
        let strict = try Fixture(requiresEncryptedDelivery: true)
        #expect(await strict.ask(.post, "/v1/keys", body: order).status == .forbidden)
        #expect(await strict.ask(.get, "/v1/keys/movie-1").status == .forbidden)
        #expect(try await strict.post("v2_vod_fairplay_encrypted_delivery").status == .ok)
        #expect(await strict.ask(.get, "/v1/keys/movie-001", query: "format=hls").status == .ok)
    }

    /// Each preset's URL is in every answer, with the authority of the public URL.
    @Test(arguments: SKDTemplate.Preset.allCases)
    func writesTheURLOfThePreset(preset: SKDTemplate.Preset) async throws {
        let fixture = try Fixture(urls: SKDTemplate(presetOrTemplate: preset.rawValue))
        try await Self.filled(fixture, [preset == .content ? "ALL" : "HD"])
        let record = try #require(fixture.store.records.first)
        let url = try SKDTemplate(presetOrTemplate: preset.rawValue)
            .url(for: SKDNames(of: record, authority: "keys.example.com"))
        let page = await fixture.ask(.get, "/v1/keys/a%2Fb")
        #expect(Self.keys(page).map { $0["url"]?.string } == [url])
        let lines = await fixture.ask(.get, "/v1/keys/a%2Fb", query: "format=hls")
        #expect(lines.text.contains("URI=\"\(url)\""))
        // A device whose asset id is the URL gets the key, with and without the URL's scheme.
        for assetID in [url, String(url.dropFirst("skd://".count))] {
            let request = try fixture.routes.deviceRequest(.v1, assetID: assetID)
            let token = try fixture.routes.token([Right(.content("a/b"))])
            let license = await fixture.routes.license(request.message, token: token)
            #expect(license.status == .ok, "\(assetID): \(license.text)")
            let opened = try CKCOpener(secrets: request.secrets, using: CryptoContext()).open(license.body)
            #expect(opened.contentKey.bytes.revealed() == record.key.bytes.revealed())
        }
    }
}
