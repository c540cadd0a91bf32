import ByteCoding
import Foundation
import TestSupport
import Testing

/// Each option of the device makes its block, and `spc inspect` explains every block in words.
@Suite(.tags(.startsProcesses)) struct SPCExplanationTests {
    private let fixture: DevelopmentFixture

    init() throws {
        fixture = try DevelopmentFixture()
    }

    private func make(_ words: [String]) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(
            arguments: ["device", "make-spc", "--output", fixture.folder.path("a.spc")] + fixture.deviceArguments()
                + words)
    }

    private func inspect(_ words: [String] = []) async throws -> LatchkeyProcess {
        let secrets = ["--secrets", fixture.folder.path("a.spc.secrets")]
        return try await LatchkeyProcess(
            arguments: ["spc", "inspect", fixture.folder.path("a.spc")] + (words.isEmpty ? secrets : words))
    }

    /// The blocks of an SPC that was made with these options, by name.
    private func blocks(_ words: [String]) async throws -> [String: JSONObject] {
        let run = try await make(words)
        try #require(run.status == 0, "\(run.messages)")
        let report = try await inspect(["--secrets", fixture.folder.path("a.spc.secrets"), "--json"]).object()
        let blocks = try #require(report["blocks"]?.array).compactMap(\.object)
        let named = blocks.compactMap { block in block["name"]?.string.map { ($0, block) } }
        return Dictionary(uniqueKeysWithValues: named)
    }

    private static func explanation(_ block: JSONObject?) -> String {
        (block?["explanation"]?.array ?? []).compactMap(\.string).joined(separator: "\n")
    }

    private static let options: [(words: [String], block: String, explanation: [String])] = [
        ([], "media playback state", ["ready to start"]),
        (["--playback-state", "playing"], "media playback state", ["playing or paused"]),
        (
            ["--playback-state", "renewal", "--session-id", "00112233445566ff"], "media playback state",
            ["a renewal", "playback session 00112233445566ff", "Z by the device's clock"]
        ),
        (["--playback-state", "stopped"], "media playback state", ["stopped"]),
        ([], "capabilities", ["hdcp, offline-key, secure-invalidation, offline-key-2, baseline, main"]),
        (["--capabilities", "offline-key,main"], "capabilities", ["offline-key, main"]),
        (["--capabilities", "none"], "capabilities", ["none"]),
        (["--security-level", "main"], "security level report", ["level 4e7fd92421d588b4, that is main"]),
        (["--security-level", "17d99d574eed567e"], "security level report", ["that is audio"]),
        (["--security-level", "0000000000000001"], "security level report", ["below all known levels"]),
        (["--security-level", "encrypted"], "security level report", ["the encrypted form"]),
        (["--deny-list", "30"], "kext deny list version", ["version 30, which is outdated: Baseline at most"]),
        (["--deny-list", "31"], "kext deny list version", ["version 31"]),
        (["--stream-to", "airplay"], "streaming indicator", ["AirPlay"]),
        (["--stream-to", "adapter"], "streaming indicator", ["AV adapter"]),
        (["--stream-to", "local"], "streaming indicator", ["own screen"]),
        (["--device-identity", "mobile:18.4.1"], "device identity", ["Apple mobile, operating system 18.4.1"]),
        (["--device-identity", "77"], "device identity", ["class 77, operating system 0.0.0"]),
        (["--device-info", "mac:10.15"], "device info", ["Mac, operating system 10.15.0"]),
        (["--device-info", "00000000000000aa"], "device info", ["type 00000000000000aa"]),
        (["--virtual-machine"], "virtual machine info", ["a virtual machine", "host: Apple desktop", "guest: "]),
        (["--video-key"], "SK..R1 for video", ["external module"]),
        (["--video-key"], "R2 for video", ["external module"]),
        (
            ["--sync", "report", "--title-id", "000102030405060708090a0b0c0d0e0f", "--remaining", "60"], "sync",
            [
                "report asked for, title id valid, success", "no server challenge",
                "title id 000102030405060708090a0b0c0d0e0f", "the key is valid for another 60 s", "0 keys",
            ]
        ),
        (
            [
                "--sync", "invalidate", "--challenge", "0102030405060708", "--outcome", "not-found", "--stream-id",
                "101112131415161718191a1b1c1d1e1f", "--stream-id", "202122232425262728292a2b2c2d2e2f",
            ], "sync",
            [
                "invalidation of one title, not found", "server challenge 0102030405060708", "has expired", "2 keys",
                "stream id 101112131415161718191a1b1c1d1e1f", "stream id 202122232425262728292a2b2c2d2e2f",
            ]
        ),
        (["--sync", "invalidate-all"], "sync", ["invalidation of all keys", "has expired"]),
        (
            ["--sync", "report", "--sync-version", "1", "--content-id", "303132333435363738393a3b3c3d3e3f"], "sync",
            ["a report of version 1", "content id 303132333435363738393a3b3c3d3e3f", "no end"]
        ),
        ([], "asset id", ["text \"movie-1\""]), ([], "protocol version used", ["version 1"]),
        ([], "protocol versions supported", ["versions 1"]),
        ([], "tag return request", ["asks back: asset id", "asks back: transaction id"]),
        ([], "transaction id", ["for the log alone"]), ([], "R2", ["application secret"]),
        ([], "anti-replay seed", ["CKC"]), ([], "SK..R1 integrity", ["must end"]),
    ]

    @Test(arguments: options)
    func explainsWhatAnOptionSays(words: [String], block: String, explanation: [String]) async throws {
        let text = Self.explanation(try await blocks(words)[block])
        for part in explanation { #expect(text.contains(part), "\(text)") }
    }

    @Test(arguments: [
        (["--no-playback-state"], "media playback state"), (["--no-capabilities"], "capabilities"),
        ([], "security level report"), ([], "streaming indicator"), ([], "sync"), ([], "device identity"),
    ])
    func leavesOutWhatIsNotSaid(words: [String], block: String) async throws {
        #expect(try await blocks(words)[block] == nil)
    }

    @Test func namesTheDeviceAsItIsTold() async throws {
        let digits = "00112233445566778899aabbccddeeff01020304"
        #expect(try await make(["--device-id", digits]).status == 0)
        #expect(try await inspect().output.contains("device id (HU)       \(digits.uppercased())"))
    }

    @Test func explainsEveryBlockInText() async throws {
        #expect(try await make(["--spc-version", "3"]).status == 0)
        let run = try await inspect()
        #expect(run.output.contains("authentication tag"))
        #expect(run.output.contains("its meaning is not known"))
    }

    @Test(arguments: [
        ["--spc-version", "4"], ["--playback-state", "paused"], ["--session-id", "12"],
        ["--no-playback-state", "--session-id", "0011223344556677"], ["--device-id", "00"],
        ["--capabilities", "hdcp,,main"], ["--capabilities", "all"], ["--no-capabilities", "--capabilities", "none"],
        ["--security-level", "high"], ["--deny-list", "-1"], ["--stream-to", "tv"], ["--device-identity", "phone"],
        ["--device-identity", "mobile:18.4.1.2"], ["--device-identity", "mobile:256"], ["--device-info", "pc"],
        ["--sync", "everything"], ["--title-id", "000102030405060708090a0b0c0d0e0f"], ["--remaining", "60"],
        ["--challenge", "0102030405060708"], ["--sync", "report", "--sync-version", "3"],
        ["--sync", "invalidate", "--sync-version", "1"], ["--sync", "report", "--remaining", "0"],
        ["--sync", "report", "--remaining", "4294967295"], ["--sync", "report", "--title-id", "zz"],
        ["--sync", "report", "--content-id", "000102030405060708090a0b0c0d0e0f"],
        ["--sync", "report", "--sync-version", "1", "--challenge", "0102030405060708"],
        ["--sync", "report", "--sync-version", "1", "--stream-id", "000102030405060708090a0b0c0d0e0f"],
        ["--sync", "report", "--challenge", "12"],
    ])
    func refusesWhatNoOptionMeans(words: [String]) async throws {
        let run = try await make(words)
        #expect(run.status == 2)
        #expect(words.contains { $0.hasPrefix("--") && run.messages.contains($0) }, "\(run.messages)")
        #expect(!FileManager.default.fileExists(atPath: fixture.folder.path("a.spc")))
    }

    // MARK: With the configuration of the server

    @Test func opensWithTheConfigurationWhatWasMadeForIt() async throws {
        #expect(try await make(["--spc-version", "2"]).status == 0)
        let run = try await inspect(["--config", fixture.configuration])
        #expect(run.status == 0, "\(run.messages)")
        #expect(run.output.contains("the server opens it"))
        #expect(run.output.contains("device id (HU)   "))
        #expect(run.output.contains("text \"movie-1\""))
        let report = try await inspect(["--config", fixture.configuration, "--json"]).object()
        #expect(report["accepted"]?.bool == true)
        #expect(report["rejection"]?.isNull == true)
    }

    @Test func saysWhyTheServerRejectsAnSPC() async throws {
        let words = ["--application-secret", "000102030405060708090a0b0c0d0e0f"]
        let made = try await LatchkeyProcess(
            arguments: [
                "device", "make-spc", "--output", fixture.folder.path("a.spc"), "--certificate",
                fixture.fairPlay("bundle.bin"), "--asset-id", "movie-1",
            ] + words)
        #expect(made.status == 0)
        let run = try await inspect(["--config", fixture.configuration])
        #expect(run.status == 0, "\(run.messages)")
        #expect(run.output.contains("the server rejects it: its SK..R1 block does not end with the integrity bytes"))
        #expect(!run.output.contains("device id (HU)   "))
        let report = try await inspect(["--config", fixture.configuration, "--json"]).object()
        #expect(report["accepted"]?.bool == false)
        #expect(report["rejection"]?.string?.contains("integrity") == true)
    }

    @Test func saysThatVersion3IsNotServed() async throws {
        #expect(try await make(["--spc-version", "3"]).status == 0)
        let run = try await inspect(["--config", fixture.configuration])
        #expect(run.status == 1)
        #expect(run.messages.contains("spcVersion3"))
    }

    @Test func saysWhatCannotBeOpened() async throws {
        #expect(try await make([]).status == 0)
        var message = try fixture.folder.read("a.spc")
        message[100] ^= 1
        try fixture.folder.write(message, to: "a.spc")
        let altered = try await inspect(["--config", fixture.configuration])
        #expect(altered.status == 1)
        #expect(altered.messages.contains("wrapped key"))
        message[152] ^= 1
        try fixture.folder.write(message, to: "a.spc")
        let strange = try await inspect(["--config", fixture.configuration])
        #expect(strange.status == 1)
        #expect(strange.messages.contains("certificate hash"))
    }

    /// The environment may name the configuration in every command of a session.
    @Test func takesTheConfigurationFromTheEnvironmentUnlessThereAreSecrets() async throws {
        #expect(try await make([]).status == 0)
        let environment = ["LATCHKEY_CONFIG": fixture.configuration]
        let words = ["spc", "inspect", fixture.folder.path("a.spc")]
        let run = try await LatchkeyProcess(arguments: words, environment: environment)
        #expect(run.status == 0 && run.output.contains("the server opens it"), "\(run.messages)")
        let secrets = ["--secrets", fixture.folder.path("a.spc.secrets")]
        let alone = try await inspect(secrets)
        let both = try await LatchkeyProcess(arguments: words + secrets, environment: environment)
        #expect(both.status == 0 && both.output == alone.output, "\(both.messages)")
    }
}
