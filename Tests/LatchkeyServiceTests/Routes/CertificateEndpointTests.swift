import ByteCoding
import FairPlay
import HTTPMessages
import HTTPServing
import KeyCrypto
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

@Suite struct CertificateEndpointTests {
    private static let other = Result { try TestCredential(name: "second") }

    private let fixture: RoutesFixture
    private let first: TestCredential
    private let second: TestCredential

    init() throws {
        second = try Self.other.get()
        fixture = try RoutesFixture(otherCredential: second)
        first = fixture.credential
    }

    private func ask(_ query: String?, _ fields: HTTPFields = [:]) async -> HTTPResponse {
        await fixture.ask(.get, "/fps/certificate", query: query, fields)
    }

    @Test(arguments: [nil, "", "x=y", "credential=test", "&&", "size", "bust=123&credential=test"])
    func givesTheFirstCredentialsBundle(query: String?) async {
        let response = await ask(query)
        #expect(response.status == .ok)
        #expect(response.fields["Content-Type"] == "application/octet-stream")
        #expect(response.fields["Cache-Control"] == "public, max-age=3600")
        #expect(response.body == first.certificate1024.der + first.certificate2048.der)
    }

    @Test func givesOneCertificateByItsSize() async {
        #expect(await ask("size=1024").body == first.certificate1024.der)
        #expect(await ask("size=2048").body == first.certificate2048.der)
        #expect(await ask("credential=second&size=2048").body == second.certificate2048.der)
        #expect(await ask("size=1024&credential=second").body == second.certificate1024.der)
    }

    /// The same certificates in each format that apps and tools can request.
    @Test func writesCertificatesInEveryFormat() async throws {
        let bundle = first.certificate1024.der + first.certificate2048.der
        let base64 = await ask("format=base64")
        #expect(base64.body == Array(Base64.encode(bundle).utf8))
        #expect(base64.fields["Content-Type"] == "text/plain; charset=utf-8")
        let json = await ask("format=json")
        #expect(json.body == Array(#"{"certificate":"\#(Base64.encode(bundle))"}"#.utf8))
        #expect(json.fields["Content-Type"] == "application/json")
        let pem = await ask("format=pem")
        #expect(pem.fields["Content-Type"] == "application/x-pem-file")
        let lines = String(decoding: pem.body, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.filter { $0 == "-----BEGIN CERTIFICATE-----" }.count == 2 && lines.last == "")
        #expect(lines.allSatisfy { $0.utf8.count <= 64 })
        let certificates = lines.split(separator: "-----BEGIN CERTIFICATE-----").compactMap { block in
            try? Base64.decode(block.prefix { $0 != "-----END CERTIFICATE-----" }.joined())
        }
        #expect(certificates == [first.certificate1024.der, first.certificate2048.der].filter { !$0.isEmpty })
        #expect(await ask("format=raw").body == bundle)
        #expect(await ask("size=2048&format=base64").body == Array(Base64.encode(first.certificate2048.der).utf8))
    }

    @Test(arguments: ["format=der", "format=", "format=PEM"])
    func saysWhichFormatsThereAre(query: String) async throws {
        let response = await ask(query)
        #expect(response.status == .badRequest && response.fields["X-Error-Code"] == "request_invalid")
        let body = try #require(try JSONReader.parse(response.body).object)
        #expect(body["parameter"]?.string == "format")
        #expect(body["hint"]?.string?.contains("raw, base64, pem, json") == true)
    }

    @Test func anEntityTagIsThatOfOneFormat() async throws {
        var tags: Set<String> = []
        for format in ["raw", "base64", "pem", "json"] {
            let tag = try #require(await ask("format=\(format)").fields["ETag"])
            #expect(await ask("format=\(format)", ["If-None-Match": tag]).status == .notModified)
            tags.insert(tag)
        }
        #expect(tags.count == 4)
        let pem = try #require(await ask("format=pem").fields["ETag"])
        #expect(await ask(nil, ["If-None-Match": pem]).status == .ok)
        #expect(await fixture.ask(.head, "/fps/certificate", query: "format=pem").fields["ETag"] == pem)
    }

    @Test func givesAnotherCredentialByItsName() async {
        #expect(await ask("credential=second").body == second.certificate1024.der + second.certificate2048.der)
    }

    @Test(arguments: [
        "size=4096", "size=", "size=01024", "credential=third", "credential=", "credential=Second",
        "credential=test%20",
    ])
    func knowsNoOther(query: String) async {
        #expect(await ask(query).status == .notFound)
    }

    /// The operator learns what was wrong with the query.
    @Test(arguments: [
        ("credential=third", "no credential has the name", "credential=third"),
        ("size=4096", "no certificate of this size", "credential test, size=4096"),
        ("credential=second&size=0", "no certificate of this size", "credential second, size=0"),
    ])
    func logsWhyThereIsNone(query: String, cause: String, found: String) async throws {
        let id = try #require(await ask(query).fields["X-Request-Id"])
        let text = try #require(fixture.log.lines.first { $0.contains(id) })
        let line = try #require(try JSONReader.parse(Array(text.utf8)).object)
        #expect(line["cause"]?.string?.contains(cause) == true, "\(text)")
        #expect(line["found"]?.string == found, "\(text)")
        #expect(line["expected"]?.string?.contains("latchkey credentials list") == true, "\(text)")
    }

    @Test func sendsNothingAgainThatTheClientHas() async throws {
        let tag = try #require(await ask(nil).fields["ETag"])
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count == 34)
        let again = await ask(nil, ["If-None-Match": tag])
        #expect(again.status == .notModified)
        #expect(again.fields["ETag"] == tag)
        #expect(again.body.isEmpty)
        #expect(await ask("size=1024", ["If-None-Match": tag]).status == .ok)
        #expect(await ask(nil, ["If-None-Match": "\"other\""]).status == .ok)
    }

    @Test(arguments: ["W/%", "\"a\", %", "%, \"a\"", "  %  ", "*"])
    func readsEveryFormOfTheCondition(form: String) async throws {
        let tag = try #require(await ask(nil).fields["ETag"])
        #expect(await ask(nil, ["If-None-Match": form.replacing("%", with: tag)]).status == .notModified)
    }

    // MARK: Stages

    /// Which credentials are given out without a name, and by name.
    @Test func givesOutWhatTheStagesAllow() throws {
        let stages: [CredentialStage] = [.staged, .draining, .serving, .serving]
        let credentials = try CredentialSet(
            stages.enumerated().map { index, stage in
                let key = try RSAPrivateKey.generate(bits: 1024)
                let certificate = try Certificate.makeDevelopment(for: key, commonName: "\(index)", now: 1_700_000_000)
                return try Credential(
                    name: "c\(index)", stage: stage, pair1024: .init(certificate: certificate, privateKey: key),
                    pair2048: nil,
                    ladder: .applicationSecret(ApplicationSecretKeyLadder(.applicationSecret, SecretBytes(count: 16))))
            })
        let endpoint = try CertificateEndpoint(credentials, crypto: CryptoContext())
        func body(_ query: String?) -> [UInt8]? {
            let request = RoutesFixture.request(.get, "/fps/certificate", query: query)
            guard case .found(let response) = endpoint.answer(to: request, id: RequestID(1)) else { return nil }
            return response.body
        }
        #expect(body(nil) == credentials.credentials[2].bundle)
        #expect(
            (0..<4).map { body("credential=c\($0)") }
                == credentials.credentials.map { $0.stage == .draining ? nil : $0.bundle })
        let draining = RoutesFixture.request(.get, "/fps/certificate", query: "credential=c1")
        guard case .notFound(let absence) = endpoint.answer(to: draining, id: RequestID(1)) else {
            Issue.record("the draining credential is given out")
            return
        }
        #expect(absence.cause.contains("is draining") && absence.found == "credential=c1")
        // In each stage SPCs are opened.
        #expect(credentials.hashes(for: .v1).count == 4)
    }
}
