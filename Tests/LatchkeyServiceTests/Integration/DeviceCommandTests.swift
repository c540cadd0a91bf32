import ByteCoding
import Foundation
import TestSupport
import Testing

/// `latchkey device` against the daemon: every kind of license, renewals and sync reports.
@Suite(.tags(.startsProcesses)) struct DeviceCommandTests {
    private let fixture: DaemonFixture

    init() throws {
        fixture = try DaemonFixture { folder in
            let text = String(decoding: try folder.files.read("latchkey.json5"), as: UTF8.self)
            let changed = text.replacing(
                "name: \"development\",", with: "name: \"development\", spcVersion3: true,", maxReplacements: 1)
            try #require(changed != text)
            try folder.files.write(changed.utf8, to: "latchkey.json5")
        }
    }

    private func device(_ command: String, _ token: String, _ more: [String] = []) async throws -> LatchkeyProcess {
        let files = fixture.folder.files
        return try await LatchkeyProcess(
            arguments: [
                "device", command, "--url", "http://\(fixture.daemon.publicAddress)", "--token", token,
                "--certificate", files.path("fairplay/bundle.bin"), "--application-secret",
                files.path("fairplay/application-secret.hex"), "--asset-id", DaemonFixture.content,
            ] + more)
    }

    private func license(_ token: String, _ more: [String] = []) async throws -> JSONObject {
        let run = try await device("request", token, more + ["--json"])
        try #require(run.status == 0, "\(run.messages)")
        let object = try run.object()
        #expect(object["contentKey"]?.string == hex(fixture.key))
        #expect(object["contentIV"]?.string == hex(fixture.iv))
        return object
    }

    @Test(arguments: ["1", "2", "3"])
    func asksInEveryVersion(version: String) async throws {
        let license = try await license(fixture.token(), ["--spc-version", version])
        #expect(license["spcVersion"]?.number?.text == version)
        #expect(license["lease"]?.isNull == true)
        #expect(license["offlineKey"]?.isNull == true)
    }

    @Test func renewsInTheSamePlaybackSession() async throws {
        let token = try fixture.folder.mint(content: DaemonFixture.content, ["--lease", "90"])
        let first = try await license(token)
        let session = try #require(first["sessionID"]?.string)
        let device = try #require(first["deviceID"]?.string)
        let words = ["--playback-state", "renewal", "--session-id", session, "--device-id", device]
        let renewal = try await license(token, words)
        #expect(renewal["sessionID"]?.string == session)
        #expect(renewal["deviceID"]?.string == device)
        #expect(renewal["keyType"]?.string == "lease")
        #expect(renewal["lease"]?.number?.unsigned.map { $0 <= 90 } == true)
    }

    private static let keepers: [([String], UInt64)] = [(["--capabilities", "offline-key"], 1), ([], 2)]

    @Test(arguments: keepers)
    func asksForAKeyThatItMayKeep(words: [String], version: UInt64) async throws {
        let token = try fixture.folder.mint(
            content: DaemonFixture.content, ["--mode", "both", "--storage", "600", "--playback", "60"])
        let key = try #require(try await license(token, words + ["--offline"])["offlineKey"]?.object)
        #expect(key["version"]?.number?.unsigned == version)
        #expect(key["storage"]?.number?.unsigned.map { $0 <= 600 } == true)
        #expect(key["playback"]?.number?.unsigned == 60)
        #expect(key["contentID"]?.isNull == (version == 2))
        #expect(key["streamID"]?.isNull == (version == 1))
        #expect(try await license(token)["offlineKey"]?.isNull == true)
    }

    @Test func hearsWhatTheDeviceCannotBeTold() async throws {
        let token = try fixture.folder.mint(content: DaemonFixture.content, ["--lease", "90", "--hdcp", "type1"])
        let stateless = try await device("request", token, ["--no-playback-state"])
        #expect(stateless.status == 1 && stateless.messages.contains("terms_not_expressible"))
        let incapable = try await device("request", token, ["--capabilities", "offline-key"])
        #expect(incapable.status == 1 && incapable.messages.contains("security_level"))
        let demanding = try fixture.folder.mint(content: DaemonFixture.content, ["--min-level", "main"])
        let weak = try await device("request", demanding, ["--security-level", "baseline"])
        #expect(weak.status == 1 && weak.messages.contains("security_level"))
    }

    @Test(arguments: [
        ["--remaining", "86400"], ["--sync", "invalidate", "--stream-id", "000102030405060708090a0b0c0d0e0f"],
        ["--sync", "invalidate-all", "--outcome", "expired", "--spc-version", "3"],
    ])
    func reportsWithAChallengeThatItFetches(words: [String]) async throws {
        let token = try fixture.folder.mint(
            content: DaemonFixture.content, ["--mode", "both", "--subject", "viewer-1"])
        let run = try await device("sync", token, words + ["--json"])
        #expect(run.status == 0, "\(run.messages)")
        #expect(try run.object()["challengeAccepted"]?.bool == true)
    }

    @Test func reportsInVersion1WithoutAChallenge() async throws {
        let token = try fixture.folder.mint(content: DaemonFixture.content, ["--mode", "both"])
        let run = try await device(
            "sync", token, ["--sync-version", "1", "--content-id", "000102030405060708090a0b0c0d0e0f", "--json"])
        #expect(run.status == 0, "\(run.messages)")
        #expect(try run.object()["expirationDate"]?.isNull == true)
    }

    @Test func aChallengeThatWasNotGivenIsRefused() async throws {
        let token = try fixture.folder.mint(content: DaemonFixture.content, ["--mode", "both"])
        let run = try await device("sync", token, ["--challenge", "0102030405060708"])
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
    }
}
