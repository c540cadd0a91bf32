import ByteCoding
import Entitlements
import Foundation
import KeyCrypto
import TestSupport
import Testing

@testable import CommandSupport
@testable import OperatorCommands
@testable import SetupCommands

@Suite(.tags(.startsProcesses)) struct TokenCommandTests {
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

        _ = try verifiedClaims(of: run, at: issued)
    }

    @Test func numbersTheSubjectsOfSeveralTokens() async throws {
        let run = try await mint("--subject", "viewer", "--count", "3")
        try #require(run.status == 0, "\(run.messages)")
        let claims = try run.output.split(separator: "\n").map { token in
            try #require(try JSONReader.parse(try Base64URL.decode(String(token.split(separator: ".")[1]))).object)
        }
        #expect(claims.map { $0["sub"]?.string } == ["viewer-1", "viewer-2", "viewer-3"])
        #expect(Set(claims.map { $0["jti"]?.string }).count == 3)
    }

    @Test(arguments: ["0", "100001", "x", "-1"])
    func refusesACountOutOfRange(count: String) async throws {
        let run = try await mint("--count", count)
        #expect(run.status == 2)
        #expect(run.messages.contains("--count takes a whole number"))
    }

    /// The claims of a minted token, as the development issuer's verifier reads them.
    private func verifiedClaims(of run: LatchkeyProcess, at time: Int64) throws -> Claims {
        let key = try ES256PublicKey(parsing: fixture.folder.read("secrets/token-verification-key.pem"))
        let issuer = Issuer(
            name: "latchkey-development", audience: "latchkey",
            keys: [VerificationKey(id: "development-1", es256: key)], maximumLife: 86_400)
        let verifier = TokenVerifier(issuers: try IssuerSet([issuer], leeway: 5))
        return try verifier.verify(Array(run.output.utf8.dropLast()), now: time)
    }

    /// Options of the command, and the right that a verifier reads from the token.
    struct Minted: Sendable, CustomTestStringConvertible {
        let words: [String]
        let right: Right

        init(_ words: String..., right: Right) {
            self.words = words
            self.right = right
        }

        var testDescription: String { words.joined(separator: " ") }
    }

    @Test(arguments: [
        Minted("--mode", "stream", "--lease", "300", right: Right(.content("movie-1"), lease: 300)),
        Minted(
            "--mode", "both", "--storage", "604800", "--playback", "172800", "--rental", "7200",
            right: Right(.content("movie-1"), duration: 7200, mode: .both, storage: 604_800, playback: 172_800)),
        // The rental limits the whole time, so the command does not warn of licenses that never end.
        Minted(
            "--mode", "both", "--storage", "60", "--rental", "60",
            right: Right(.content("movie-1"), duration: 60, mode: .both, storage: 60)),
        Minted("--mode", "offline", "--playback", "1", right: Right(.content("movie-1"), mode: .offline, playback: 1)),
        Minted(
            "--storage", "4294967294", "--mode", "offline", "--playback", "4294967294",
            right: Right(.content("movie-1"), mode: .offline, storage: 4_294_967_294, playback: 4_294_967_294)),
        Minted(
            "--hdcp", "type0", "--min-level", "audio",
            right: Right(.content("movie-1"), hdcp: .type0, minimumLevel: .audio)),
        Minted(
            "--hdcp", "none", "--track", "UHD:hdcp=type1,min-level=main", "--track", "HD:hdcp=type0", "--track",
            "a:b=c:min-level=baseline",
            right: Right(
                .content("movie-1"), hdcp: .notRequired,
                tracks: [
                    "UHD": Protection(hdcp: .type1, securityLevel: .main), "HD": Protection(hdcp: .type0),
                    "a:b=c": Protection(securityLevel: .baseline),
                ])),
        Minted(
            "--track", "SD:min-level=baseline,hdcp=none", "--min-level", "baseline",
            right: Right(
                .content("movie-1"), minimumLevel: .baseline,
                tracks: ["SD": Protection(hdcp: .notRequired, securityLevel: .baseline)])),
    ])
    func mintsTheRightThatWasAskedFor(minted: Minted) async throws {
        let run = try await LatchkeyProcess(
            arguments: ["token", "mint", "--config", fixture.configuration, "--content", "movie-1"] + minted.words)
        let issued = try #require(try payload(run)["iat"]?.number?.signed)
        #expect(try verifiedClaims(of: run, at: issued).rights == [minted.right])
    }

    @Test(arguments: [
        ["--mode", "offline"], ["--mode", "both"], ["--mode", "both", "--storage", "60"],
    ])
    func saysThatALicenseWithoutPlaybackMayNeverEnd(words: [String]) async throws {
        let run = try await LatchkeyProcess(
            arguments: ["token", "mint", "--config", fixture.configuration, "--content", "movie-1"] + words)
        #expect(run.status == 0)
        #expect(run.messages.contains("--playback"))
        #expect(run.output.split(separator: "\n").count == 1)
    }

    /// Options that contradict one another, and words that the message must have.
    @Test(arguments: [
        (["--storage", "60"], ["--storage", "--mode"]), (["--playback", "60"], ["--playback", "--mode"]),
        (["--mode", "stream", "--playback", "60"], ["--playback", "--mode"]),
        (["--mode", "offline", "--lease", "60"], ["--lease", "--mode offline"]),
        (["--mode", "both", "--lease", "60", "--storage", "60"], ["--lease", "--mode both"]),
        (["--hdcp", "type1", "--track", "SD:hdcp=type0"], ["--track SD", "laxer", "--hdcp type1"]),
        (["--min-level", "main", "--track", "SD:min-level=audio"], ["--track SD", "laxer", "--min-level main"]),
        (["--track", "SD:hdcp=none", "--track", "SD:min-level=audio"], ["SD", "twice"]),
    ])
    func namesContradictions(words: [String], message: [String]) async throws {
        let run = try await LatchkeyProcess(
            arguments: ["token", "mint", "--config", fixture.configuration, "--content", "movie-1"] + words)
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        for part in message { #expect(run.messages.contains(part), "\(run.messages)") }
    }

    @Test(arguments: [
        "SD", "SD:", "SD:hdcp", "SD:hdcp=", "SD:hdcp=type2", "SD:hdcp=type1,", "SD:hdcp=type1,hdcp=type1",
        "SD:level=main", "SD:hdcp=main", "SD:min-level=type1", ":hdcp=type1", "S D:hdcp=type1", "SD:hdcp=type1=type1",
        "SD:,hdcp=type1", "SD:hdcp=type1 ",
    ])
    func refusesTracksThatAreNotInOrder(text: String) async throws {
        let run = try await mint("--track", text)
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        #expect(run.messages.contains("--track takes"))
    }

    @Test func takesNoMoreTracksThanATokenMayHave() async throws {
        let tracks = (0..<33).flatMap { ["--track", "T\($0):hdcp=type0"] }
        let run = try await LatchkeyProcess(
            arguments: ["token", "mint", "--config", fixture.configuration, "--content", "movie-1"] + tracks)
        #expect(run.status == 2)
        #expect(run.messages.contains("32"))
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
        ["--storage", "0", "--mode", "both"], ["--playback", "4294967295", "--mode", "both"], ["--mode", "download"],
        ["--hdcp", "2"], ["--min-level", "high"],
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

    /// Axinom's communication key is stored as Base64, and its bytes sign the token.
    @Test func signsWithTheBytesOfACommunicationKey() async throws {
        let secret = (UInt8(1)...48).map(\.self)
        try fixture.folder.write((Base64.encode(secret) + "\n").utf8, to: "secrets/communication-key")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: fixture.folder.path("secrets/communication-key"))
        let key = #"{ kid: "tenant-key", algorithm: "HS256", key: "secrets/communication-key" }"#
        let text = DevelopmentConfiguration.text.replacingOccurrences(
            of: "issuers: [", with: #"issuers: [{ issuer: "tenant", dialect: "axinom", keys: ["# + key + "] },")
        try fixture.folder.write(text.utf8, to: "latchkey.json5")

        let run = try await LatchkeyProcess(
            "token", "mint", "--config", fixture.configuration, "--kid", "00112233-4455-6677-8899-aabbccddeeff",
            "--issuer-key", fixture.folder.path("secrets/communication-key"))
        _ = try payload(run)
        let parts = run.output.dropLast().split(separator: ".")
        let signature = try Base64URL.decode(String(parts[2]))
        let communicationKey = try HMACSHA256Key(SecretBytes(copying: secret))
        #expect(communicationKey.isValid(signature[...], for: Array("\(parts[0]).\(parts[1])".utf8)[...]))
    }

    @Test func refusesAContentNameWithASpace() async throws {
        let run = try await LatchkeyProcess("token", "mint", "--config", fixture.configuration, "--content", "a b")
        #expect(run.status == 2)
    }
}

/// Sealed tokens from the command line.
@Suite(.tags(.startsProcesses)) struct SealedTokenCommandTests {
    private let fixture: DevelopmentFixture

    init() throws {
        fixture = try DevelopmentFixture()
    }

    private func addSealingIssuer() throws {
        try fixture.folder.write(String(repeating: "8d", count: 32).utf8, to: "secrets/sealing")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: fixture.folder.path("secrets/sealing"))
        let issuer =
            #"{ issuer: "customers", dialect: "expressplay", keys: [{ kid: "7", algorithm: "A256GCM", key: "secrets/sealing" }] },"#
        let text = String(decoding: try fixture.folder.read("latchkey.json5"), as: UTF8.self)
        try fixture.folder.write(text.replacing("issuers: [", with: "issuers: [ \(issuer)").utf8, to: "latchkey.json5")
    }

    private func mint(_ words: String...) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(
            arguments: [
                "token", "mint", "--config", fixture.configuration, "--content", "movie-1", "--dialect", "expressplay",
            ] + words)
    }

    @Test func sealsATokenThatTheDaemonAccepts() async throws {
        try addSealingIssuer()
        let run = try await mint("--lease", "300", "--rental", "7200", "--subject", "viewer-7", "--expires", "2592000")
        try #require(run.status == 0, "\(run.messages)")
        let claims = try verifiedClaims(of: run.output.dropLast())
        #expect(claims.rights == [Right(.content("movie-1"), duration: 7200, lease: 300)])
        #expect(claims.subject == "viewer-7")
        #expect(claims.issuedAt.map { claims.expiresAt - $0 } == 2_592_000)
    }

    /// The claims of a sealed token, as the issuer's verifier reads them.
    private func verifiedClaims(of token: some StringProtocol) throws -> Claims {
        let key = TokenSealingKey(
            id: 7, key: try AES256GCMKey(SecretBytes(copying: [UInt8](repeating: 0x8D, count: 32))))
        let issuer = Issuer(
            name: "customers", audience: "latchkey", dialect: .expressPlay, keys: [], sealingKeys: [key])
        let verifier = TokenVerifier(issuers: try IssuerSet([issuer]))
        return try verifier.verify(Array(token.utf8), now: Int64(Date().timeIntervalSince1970))
    }

    @Test func numbersTheSubjectsOfSeveralSealedTokens() async throws {
        try addSealingIssuer()
        let run = try await mint("--subject", "viewer", "--count", "2")
        try #require(run.status == 0, "\(run.messages)")
        let claims = try run.output.split(separator: "\n").map { try verifiedClaims(of: $0) }
        #expect(claims.map(\.subject) == ["viewer-1", "viewer-2"])
        #expect(Set(claims.map(\.tokenID)).count == 2)
    }

    @Test func refusesWhatASealedTokenCannotSay() async throws {
        #expect(try await mint().status != 0, "no issuer seals")
        try addSealingIssuer()
        for words in [
            ["--track", "UHD:hdcp=type1"], ["--mode", "offline"], ["--expires", "2592001"],
            ["--issuer-key", "key.pem"],
        ] {
            let run = try await mint(words[0], words[1])
            #expect(run.status != 0 && run.output.isEmpty && run.messages.contains(words[0]), "\(words)")
        }
    }
}
