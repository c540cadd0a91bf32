import ByteCoding
import Entitlements
import Foundation
import KeyCrypto
import TestSupport
import Testing

@testable import LatchkeyService

@Suite struct TokenCommandTests {
    private let fixture: DevelopmentFixture

    init() throws {
        fixture = try DevelopmentFixture()
    }

    private func mint(_ words: String...) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(
            arguments: ["token", "mint", "--config", fixture.configuration, "--content", "movie-1"] + words)
    }

    /// The payload of a token, as JSON.
    private func payload(_ run: LatchkeyProcess) throws -> JSONObject {
        try #require(run.status == 0, "\(run.messages)")
        #expect(run.messages.isEmpty)
        let token = run.output.split(separator: "\n")
        try #require(token.count == 1, "the token alone")
        let parts = token[0].split(separator: ".")
        try #require(parts.count == 3)
        return try #require(try JSONReader.parse(try Base64URL.decode(String(parts[1]))).object)
    }

    @Test func printsATokenThatTheDaemonAccepts() async throws {
        let run = try await mint("--lease", "300", "--rental", "7200", "--subject", "viewer-7")
        let claims = try payload(run)
        #expect(claims["iss"]?.string == "latchkey-development")
        #expect(claims["aud"]?.string == "latchkey")
        #expect(claims["sub"]?.string == "viewer-7")
        #expect(claims["jti"]?.string?.isEmpty == false)
        let issued = try #require(claims["iat"]?.number?.signed)
        #expect(claims["exp"]?.number?.signed == issued + 3600)
        let right = try #require(claims["rights"]?.array?.first?.object)
        #expect(right["lease"]?.number?.signed == 300)

        let key = try ES256PublicKey(parsing: fixture.folder.read("secrets/token-verification-key.pem"))
        let issuer = Issuer(
            name: "latchkey-development", audience: "latchkey",
            keys: [VerificationKey(id: "development-1", es256: key)], maximumLife: 86_400)
        let verifier = TokenVerifier(issuers: try IssuerSet([issuer], leeway: 5))
        let text = Array(run.output.utf8.dropLast())
        _ = try verifier.verify(text, now: issued)
    }

    @Test func setsNoLimitThatWasNotAskedFor() async throws {
        let claims = try payload(await mint("--expires", "60"))
        let right = try #require(claims["rights"]?.array?.first?.object)
        #expect(right["lease"] == nil)
        #expect(right["duration"] == nil)
        #expect(claims["sub"] == nil)
        #expect(claims["exp"]?.number?.signed == claims["iat"]?.number?.signed.map { $0 + 60 })
    }

    @Test func givesEveryTokenItsOwnID() async throws {
        let ids = try await [payload(mint()), payload(mint())].map { $0["jti"]?.string }
        #expect(ids[0] != ids[1])
    }

    @Test(arguments: [
        ["--lease", "0"], ["--lease", "-5"], ["--lease", "x"], ["--rental", "4294967295"], ["--expires", "0"],
        ["--expires", "86401"],
    ])
    func refusesDurationsThatTheDaemonWouldNotTake(words: [String]) async throws {
        let run = try await LatchkeyProcess(
            arguments: ["token", "mint", "--config", fixture.configuration, "--content", "movie-1"] + words)
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        #expect(run.messages.contains(words[0]))
    }

    @Test func refusesAKeyThatBelongsToNoIssuer() async throws {
        let other = try ES256PrivateKey.generate().privatePEM().revealed()
        try fixture.folder.write(other, to: "other.pem")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: fixture.folder.path("other.pem"))
        let run = try await mint("--issuer-key", fixture.folder.path("other.pem"))
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.messages.contains("--issuer-key"))
        #expect(try await mint("--issuer-key", fixture.folder.path("none.pem")).status == 1)
    }

    @Test func signsWithTheSharedSecretOfAnHS256Issuer() async throws {
        try fixture.folder.write(String(repeating: "s3cr3t", count: 8).utf8, to: "secrets/shared")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: fixture.folder.path("secrets/shared"))
        let text = DevelopmentConfiguration.text.replacingOccurrences(
            of: "issuers: [",
            with: """
                issuers: [
                    { issuer: "portal", keys: [{ kid: "h1", algorithm: "HS256", key: "secrets/shared" }] },
                """)
        try fixture.folder.write(text.utf8, to: "latchkey.json5")

        let run = try await mint("--issuer-key", fixture.folder.path("secrets/shared"))
        #expect(try payload(run)["iss"]?.string == "portal")
        #expect(try payload(await mint())["iss"]?.string == "latchkey-development")
    }

    @Test func refusesAContentNameWithASpace() async throws {
        let run = try await LatchkeyProcess("token", "mint", "--config", fixture.configuration, "--content", "a b")
        #expect(run.status == 2)
    }
}
