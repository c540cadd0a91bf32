import HTTPMessages
import KeyCrypto
import TestSupport
import Testing

@testable import LatchkeyService

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
}
