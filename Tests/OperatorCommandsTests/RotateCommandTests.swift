import ByteCoding
import ContentKeys
import Foundation
import KeyCrypto
import POSIXSockets
import TestSupport
import Testing

/// `latchkey keys rotate` as an operator runs it.
@Suite(.tags(.startsProcesses)) struct RotateCommandTests {
    private let fixture: DevelopmentFixture

    init() throws {
        fixture = try DevelopmentFixture()
    }

    private func run(_ words: [String]) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(arguments: ["keys"] + words + ["--config", fixture.configuration])
    }

    private func rotate(_ words: String...) async throws -> JSONObject {
        let run = try await run(["rotate", "--content", "news", "--json"] + words)
        #expect(run.status == 0, "\(run.messages)")
        return try run.object()
    }

    /// The period, track and outcome of each key in the answer.
    private func made(_ answer: JSONObject) -> [String] {
        (answer["keys"]?.array ?? []).compactMap(\.object).map { key in
            "\(key["period"]?.number?.signed ?? -1) \(key["track"]?.string ?? "-") \(key["outcome"]?.string ?? "-")"
        }
    }

    /// In the order in which they were recorded.
    private func ledger() async throws -> [JSONObject] {
        let run = try await LatchkeyProcess("ledger", "query", "--config", fixture.configuration, "--json")
        #expect(run.status == 0, "\(run.messages)")
        return try #require(try run.object()["entries"]?.array).compactMap(\.object).reversed()
    }

    @Test func makesTheNextPeriodWithTheTracksOfTheNewest() async throws {
        let first = try await rotate("--track", "HD", "--track", "4K:uhd")
        #expect(made(first) == ["1 HD stored", "1 4K stored"])
        #expect(made(try await rotate()) == ["2 4K stored", "2 HD stored"])
        #expect(first["window"]?.number?.signed == 0 && first["schedule"]?.isNull == true)
        // A period that is named twice is made once.
        #expect(made(try await rotate("--period", "7")) == ["7 4K stored", "7 HD stored"])
        #expect(made(try await rotate("--period", "7")) == ["7 4K alreadyPresent", "7 HD alreadyPresent"])
        let keys = (first["keys"]?.array ?? []).compactMap(\.object)
        for key in keys {
            let kid = try #require(key["kid"]?.string)
            #expect(key["url"]?.string == "skd://\(kid)")
            #expect(key["key"] == nil && key["iv"] == nil)
        }
        #expect(keys.map { $0["contentType"]?.string } == ["hd", "uhd"])

        let rows = try await ledger()
        #expect(rows.allSatisfy { $0["actor"]?.string == OperatingSystemUser.actor && $0["content"]?.string == "news" })
        let created = rows.filter { $0["kind"]?.string == "key_created" }
        #expect(
            created.map { $0["detail"]?.string } == [
                "period 1", "period 1", "period 2", "period 2", "period 7", "period 7",
            ])
        // The start of rotation is recorded once.
        #expect(rows.filter { $0["kind"]?.string == "rotation_set" }.map { $0["detail"]?.string } == ["window 0"])

        let listed = try await run(["list"])
        #expect(listed.output.contains("  period 7"))
        let kid = try #require(keys.first?["kid"]?.string)
        let shown = try await run(["show", "--kid", kid])
        #expect(shown.output.contains("period   1\n"))
    }

    /// A content whose key had no period starts with the tracks and floors of its keys.
    @Test func takesTracksAndFloorsOfKeysWithoutAPeriod() async throws {
        #expect(try await run(["create", "--content", "news", "--track", "UHD", "--hdcp", "type1"]).status == 0)
        let answer = try await rotate()
        #expect(made(answer) == ["1 UHD stored"])
        #expect(answer["keys"]?.array?.first?.object?["hdcp"]?.string == "type1")
        #expect(made(try await rotate()) == ["2 UHD stored"])
    }

    @Test func registersAScheduleOnce() async throws {
        let first = try await rotate("--every", "1h", "--window", "12", "--ahead", "2", "--track", "SD")
        #expect(made(first) == ["1 SD stored", "2 SD stored", "3 SD stored"])
        #expect(first["current"]?.number?.signed == 1 && first["window"]?.number?.signed == 12)
        let again = try await rotate("--every", "1h", "--window", "12", "--ahead", "2", "--track", "SD")
        #expect(made(again) == [])
        #expect(again["schedule"]?.object?["start"]?.string == first["schedule"]?.object?["start"]?.string)
        // Without options, the command makes the due periods, which exist already.
        #expect(made(try await rotate()) == [])
        #expect(
            try await ledger().filter { $0["kind"]?.string == "rotation_set" }.map { $0["detail"]?.string } == [
                "every 3600s from 1, window 12, ahead 2"
            ])
        // Additional tracks are made for the due periods.
        let more = try await rotate("--track", "SD", "--track", "AUDIO")
        #expect(
            made(more) == [
                "1 SD alreadyPresent", "1 AUDIO stored", "2 SD alreadyPresent", "2 AUDIO stored",
                "3 SD alreadyPresent", "3 AUDIO stored",
            ])
    }

    @Test func beginsOtherPeriodsWhenTheCurrentOneEnds() async throws {
        // The time is half an hour before a boundary.
        let start = Int64(Date().timeIntervalSince1970) - 1_800
        let text = try #require(UnixTime(seconds: start)).description
        let first = try await rotate("--every", "1h", "--start", text, "--track", "SD")
        #expect(first["current"]?.number?.signed == 1)
        let next = try await rotate("--every", "30m")
        #expect(next["schedule"]?.object?["firstPeriod"]?.number?.signed == 2)
        #expect(next["current"]?.number?.signed == 1)
        let begins = try RFC3339.parse(try #require(next["schedule"]?.object?["start"]?.string))
        #expect(begins.seconds == start + 3_600)
        // The next period has its keys already.
        #expect(made(next) == [])
    }

    @Test func endsAContentAndBeginsItAgain() async throws {
        #expect(try await run(["rotate", "--content", "news", "--end"]).status == 1)
        _ = try await rotate("--every", "1h", "--track", "SD")
        let ended = try await rotate("--end")
        #expect(ended["ended"]?.string != nil && made(ended) == [])
        let refused = try await run(["rotate", "--content", "news"])
        #expect(refused.status == 1 && refused.messages.contains("has ended"))
        let wider = try await rotate("--window", "9")
        #expect(wider["ended"]?.string == ended["ended"]?.string && wider["window"]?.number?.signed == 9)
        let again = try await rotate("--every", "2h")
        #expect(again["ended"]?.isNull == true)
        #expect(again["schedule"]?.object?["firstPeriod"]?.number?.signed == 2)
        #expect(made(again) == ["3 SD stored"])
    }

    @Test func saysTheWindowAlone() async throws {
        let answer = try await rotate("--window", "24", "--no-keys")
        #expect(made(answer) == [] && answer["window"]?.number?.signed == 24 && answer["current"]?.isNull == true)
        let listed = try await run(["list", "--json"])
        #expect(try listed.object()["keys"]?.array?.isEmpty == true)
    }

    /// Keys are derived from the master secret and their names, so that they can be made again.
    @Test func derivesKeysWhereTheConfigurationSaysSo() async throws {
        let text = String(decoding: try fixture.folder.read("latchkey.json5"), as: UTF8.self)
        try fixture.folder.write([UInt8](repeating: 7, count: 32), to: "secrets/master-secret")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: fixture.folder.path("secrets/master-secret"))
        try fixture.folder.write(
            text.replacing(
                "keys: {",
                with: "keys: { allowReveal: true, masterSecret: \"secrets/master-secret\","
            ).utf8, to: "latchkey.json5")
        let key = try #require(try await rotate("--track", "SD")["keys"]?.array?.first?.object)
        let kid = try #require(key["kid"]?.string)
        let shown = try await run(["show", "--kid", kid, "--reveal", "--json"]).object()
        #expect(shown["period"]?.number?.signed == 1)
        let derivation = try KeyDerivation(
            masterSecret: SharedSecret(SecretBytes(copying: [UInt8](repeating: 7, count: 32))), version: 1)
        let expected = try derivation.derive(
            contentID: ContentID(try #require(shown["content"]?.string)), keyID: KeyID(parsing: kid), periodIndex: 1)
        #expect(shown["key"]?.string == Hexadecimal.encode(expected.key.bytes.revealed()))
        #expect(shown["iv"]?.string == Hexadecimal.encode(expected.iv.bytes))

        // The id of a content is no key id any more. The period gets the next one.
        let spelled = try derivation.deriveKeyID(
            contentID: ContentID("news"), trackLabel: TrackLabel("SD"), periodIndex: 2)
        #expect(try await run(["create", "--content", "\(spelled)"]).status == 0)
        let second = try await rotate("--track", "SD")
        #expect(made(second) == ["2 SD stored"])
        let passed = try derivation.deriveKeyID(
            contentID: ContentID("news"), trackLabel: TrackLabel("SD"), periodIndex: 2, taken: [spelled])
        #expect(second["keys"]?.array?.first?.object?["kid"]?.string == passed.description)

        // A withdrawn key is replaced by another one. An empty database gets the first one again.
        #expect(try await run(["delete", "--kid", kid]).status == 0)
        let next = try await rotate("--track", "SD", "--period", "1")
        #expect(made(next) == ["1 SD stored"])
        #expect(next["keys"]?.array?.first?.object?["kid"]?.string != kid)
        let configuration = String(decoding: try fixture.folder.read("latchkey.json5"), as: UTF8.self)
        try fixture.folder.write(
            configuration.replacing("sqlite:latchkey.db", with: "sqlite:empty.db").utf8, to: "latchkey.json5")
        let again = try await rotate("--track", "SD")
        #expect(again["keys"]?.array?.first?.object?["kid"]?.string == kid)
    }

    static let mistakes: [[String]] = [
        ["--every", "59s"], ["--every", "1y"], ["--every", "400d"], ["--window", "-1"], ["--window", "100001"],
        ["--ahead", "0", "--every", "1h"], ["--ahead", "65", "--every", "1h"], ["--ahead", "2"],
        ["--start", "2026-01-01T00:00:00Z"], ["--every", "1h", "--start", "noon"], ["--track", "4K"],
        ["--track", "HD:sd"], ["--track", "HD", "--track", "HD:hd"], ["--period", "4294967296"],
        ["--end", "--no-keys"],
        ["--end", "--every", "1h"], ["--no-keys"], ["--no-keys", "--window", "3", "--period", "4"],
        ["--period", "3", "--every", "1h"], [],
    ]

    @Test(arguments: mistakes)
    func refusesWhatMakesNoSense(words: [String]) async throws {
        let run = try await run(["rotate", "--content", "news"] + words)
        #expect(run.status == 2, "\(run.messages)")
        #expect(!run.messages.isEmpty)
    }
}
