import ByteCoding
import Foundation
import POSIXSockets
import TestSupport
import Testing

@Suite(.tags(.startsProcesses)) struct KeyCommandTests {
    private let fixture: DevelopmentFixture
    private static let key = "00112233445566778899aabbccddeeff"
    private static let iv = "0f0e0d0c0b0a09080706050403020100"
    private static let kid = "2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11"

    init() throws {
        fixture = try DevelopmentFixture()
    }

    private func keys(_ words: String..., input: String = "") async throws -> LatchkeyProcess {
        try await LatchkeyProcess(
            arguments: ["keys", words[0], "--config", fixture.configuration] + words.dropFirst(), input: input)
    }

    private func list() async throws -> [JSONObject] {
        let run = try await keys("list", "--json")
        try #require(run.status == 0, "\(run.messages)")
        return try #require(try run.object()["keys"]?.array).compactMap(\.object)
    }

    /// In the order in which they were recorded.
    private func ledger() async throws -> [JSONObject] {
        let run = try await LatchkeyProcess("ledger", "query", "--config", fixture.configuration, "--json")
        #expect(run.status == 0, "\(run.messages)")
        return try #require(try run.object()["entries"]?.array).compactMap(\.object).reversed()
    }

    /// Every change of keys has a ledger row with the key and the user.
    @Test func writesDownEachChangeOfKeys() async throws {
        let new = ["--content", "movie-1", "--kid", Self.kid, "--key", Self.key, "--iv", Self.iv]
        for _ in 0..<2 {
            let run = try await LatchkeyProcess(
                arguments: ["keys", "import", "--config", fixture.configuration, "--alias", "first"] + new)
            #expect(run.status == 0, "\(run.messages)")
        }
        let named = try await keys("alias", "--kid", Self.kid, "--alias", "first", "--alias", "hex:00ff")
        #expect(named.status == 0 && named.output == "now names the key \(Self.kid): hex:00ff\n", "\(named.output)")
        // A key that is live already is restored by nothing, and has no row about it.
        let changes: [(options: [String], words: String)] = [
            (["--restore"], "live already"), ([], "is withdrawn"), (["--restore"], "is live again"),
            (["--restore"], "live already"), (["--for-good"], "is deleted"),
        ]
        for (options, words) in changes {
            let run = try await LatchkeyProcess(
                arguments: ["keys", "delete", "--config", fixture.configuration, "--kid", Self.kid] + options)
            #expect(run.status == 0 && run.output.contains(words), "\(run.messages)")
            #expect(run.output.contains(Self.kid) && run.output.split(separator: "\n").count == 1)
        }
        #expect(try await keys("delete", "--kid", Self.kid).status == 1)
        let csv = "kid,content,key,iv\n\(Self.kid),movie-2,\(Self.key),\(Self.iv)\n"
        for _ in 0..<2 { #expect(try await keys("import", "--file", "-", input: csv).status == 0) }

        let found = try await ledger()
        #expect(
            found.map { $0["kind"]?.string } == [
                "key_imported", "key_aliased", "key_aliased", "key_withdrawn", "key_restored", "key_deleted",
                "key_imported",
            ])
        #expect(found.map { $0["detail"]?.string } == ["", "first", "hex:00ff", "", "", "", ""])
        #expect(found.allSatisfy { $0["kid"]?.string == Self.kid })
        #expect(found.allSatisfy { $0["actor"]?.string == OperatingSystemUser.actor })
        #expect(found.map { $0["content"]?.string } == Array(repeating: "movie-1", count: 6) + ["movie-2"])
        let verified = try await LatchkeyProcess("ledger", "verify", "--config", fixture.configuration)
        #expect(verified.status == 0, "\(verified.messages)")
    }

    @Test func showsANewKeyOnlyWhereItIsAllowed() async throws {
        let plain = try await keys("create", "--content", "movie-0", "--json")
        #expect(plain.status == 0, "\(plain.messages)")
        #expect(try plain.object()["key"] == nil && plain.object()["iv"] == nil)
        // No key is stored if it cannot be shown as requested.
        let refused = try await keys("create", "--content", "movie-1", "--reveal")
        #expect(refused.status == 1 && refused.messages.contains("allowReveal"))
        #expect(try await list().count == 1)
    }

    @Test func createsARandomKeyAndWritesDownThatItWasShown() async throws {
        let text = String(decoding: try fixture.folder.read("latchkey.json5"), as: UTF8.self)
        try fixture.folder.write(
            text.replacing("keys: {", with: "keys: { allowReveal: true,").utf8, to: "latchkey.json5")
        let run = try await keys("create", "--content", "movie-1", "--reveal", "--json")
        #expect(run.status == 0, "\(run.messages)")
        let made = try run.object()
        let key = try #require(made["key"]?.string)
        let iv = try #require(made["iv"]?.string)
        #expect(key.count == 32 && iv.count == 32 && key != iv)
        let kid = try #require(made["kid"]?.string)
        #expect(made["url"]?.string == "skd://\(kid)")
        #expect(try fixture.folder.mode("latchkey.db") == 0o600)

        let entries = try await ledger()
        #expect(entries.map { $0["kind"]?.string } == ["key_created", "key_revealed"])
        #expect(entries.allSatisfy { $0["kid"]?.string == kid && $0["actor"]?.string == OperatingSystemUser.actor })
        let listed = try await keys("list", "--json")
        #expect(!listed.output.contains(key))
        #expect(!listed.output.contains(iv))
        let shown = try await keys("list")
        #expect(shown.output.contains(kid))
        #expect(!shown.output.contains(key))
        #expect(try await list().map { $0["kid"]?.string } == [kid])
    }

    /// With a second key the content's name would find no key any more.
    @Test func createsASecondKeyOnlyWhenAsked() async throws {
        #expect(try await keys("create", "--content", "film", "--kid", Self.kid).status == 0)
        let more = [
            ["create", "--content", "film"], ["create", "--content", "film", "--track", "HD"],
            ["create", "--content", "film", "--kid", "00000000-0000-0000-0000-000000000001"],
            ["import", "--content", "film", "--key", Self.key, "--iv", Self.iv],
        ]
        for words in more {
            let run = try await LatchkeyProcess(
                arguments: ["keys", words[0], "--config", fixture.configuration] + words.dropFirst())
            #expect(run.status == 1 && run.output.isEmpty, "\(words)")
            #expect(run.messages.contains("--another") && run.messages.contains(Self.kid), "\(run.messages)")
        }
        #expect(try await list().count == 1)
        #expect(try await keys("create", "--content", "film", "--another", "--track", "HD").status == 0)
        // An import that names its key id says which key it means. A withdrawn key does not count.
        let named = try await keys(
            "import", "--content", "film", "--kid", "00000000-0000-0000-0000-000000000002", "--key", Self.key, "--iv",
            Self.iv)
        #expect(named.status == 0, "\(named.messages)")
        let kid = "00000000-0000-0000-0000-000000000003"
        #expect(try await keys("create", "--content", "other", "--kid", kid).status == 0)
        #expect(try await keys("delete", "--kid", kid).status == 0)
        #expect(try await keys("create", "--content", "other").status == 0)
        #expect(try await list().count == 5)
    }

    @Test func createsOneKeyWhenStartedSeveralTimesAtOnce() async throws {
        // The file is made first, so that the commands race for the key only.
        #expect(try await list().isEmpty)
        var statuses: [Int32] = []
        let words = ["keys", "create", "--config", fixture.configuration, "--content", "film", "--track"]
        try await withThrowingTaskGroup(of: Int32.self) { group in
            for track in ["HD", "HD", "SD", "UHD"] {
                group.addTask { try await LatchkeyProcess(arguments: words + [track]).status }
            }
            for try await status in group { statuses.append(status) }
        }
        #expect(statuses.sorted() == [0, 1, 1, 1])
        #expect(try await list().count == 1)
    }

    @Test func refusesAKeyIDThatSpellsAContent() async throws {
        #expect(try await keys("create", "--content", Self.kid.uppercased()).status == 0)
        let refused = try await keys("create", "--content", "film", "--kid", Self.kid)
        #expect(refused.status == 1 && refused.messages.contains(Self.kid.uppercased()), "\(refused.messages)")
        #expect(try await list().count == 1)
    }

    @Test func importsAKeyAndDoesNotRepeatIt() async throws {
        let run = try await keys(
            "import", "--content", "movie-1", "--kid", Self.kid.uppercased(), "--key", Self.key, "--iv", Self.iv,
            "--json")
        #expect(run.status == 0, "\(run.messages)")
        #expect(try run.object()["kid"]?.string == Self.kid)
        #expect(try run.object()["content"]?.string == "movie-1")
        #expect(try run.object()["outcome"]?.string == "stored")
        #expect(!run.output.contains(Self.key))

        let again = try await keys(
            "import", "--content", "movie-1", "--kid", Self.kid, "--key", Self.key, "--iv", Self.iv, "--json")
        #expect(again.status == 0)
        #expect(try again.object()["outcome"]?.string == "alreadyPresent")
        #expect(try await list().count == 1)
    }

    @Test func takesKeyAndVectorFromFileAndStandardInput() async throws {
        try fixture.folder.write(Hexadecimal.encode(try Hexadecimal.decode(Self.iv)).utf8, to: "iv.hex")
        let run = try await keys(
            "import", "--content", "movie-1", "--kid", Self.kid, "--key", "-", "--iv",
            "@" + fixture.folder.path("iv.hex"), "--json", input: Self.key + "\n")
        #expect(run.status == 0, "\(run.messages)")
        let same = try await keys(
            "import", "--content", "movie-1", "--kid", Self.kid, "--key", Self.key, "--iv", Self.iv, "--json")
        #expect(try same.object()["outcome"]?.string == "alreadyPresent")
    }

    @Test func refusesAnotherKeyOfTheSameKid() async throws {
        _ = try await keys("import", "--content", "movie-1", "--kid", Self.kid, "--key", Self.key, "--iv", Self.iv)
        let run = try await keys(
            "import", "--content", "movie-1", "--kid", Self.kid, "--key", Self.iv, "--iv", Self.key, "--json")
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.messages.contains(Self.kid))
    }

    @Test func refusesAnAliasThatNamesAnotherKey() async throws {
        #expect(try await keys("create", "--content", "a", "--alias", "shared", "--alias", "hex:00ff").status == 0)
        let run = try await keys("create", "--content", "b", "--alias", "hex:00ff")
        #expect(run.status == 1)
        #expect(run.messages.contains("alias"))
    }

    @Test func saysWhenTheContentNameBecomesAmbiguous() async throws {
        #expect(try await keys("create", "--content", "movie-1").messages.isEmpty)
        let run = try await keys("create", "--content", "movie-1", "--another", "--json")
        #expect(run.status == 0)
        #expect(run.messages.contains("2 keys"))
        _ = try run.object()
    }

    @Test func listsTheKeysOfOneContent() async throws {
        _ = try await keys("create", "--content", "b")
        _ = try await keys("create", "--content", "a")
        #expect(try await list().map { $0["content"]?.string } == ["a", "b"])
        let run = try await keys("list", "--content", "b", "--json")
        #expect(try run.object()["keys"]?.array?.count == 1)
        #expect(try await keys("list", "--content", "c").output.contains("no keys of the content c;"))
    }

    @Test(arguments: [
        ["--key", "0011", "--iv", iv], ["--key", key + "00", "--iv", iv],
        ["--key", "zz" + key.dropFirst(2), "--iv", iv],
        ["--key", key, "--iv", iv, "--kid", "no-uuid"], ["--key", key, "--iv", iv, "--alias", "x"],
        ["--key", key], ["--key", "-", "--iv", "-"], ["--key", key, "--iv", iv, "--contnet", "x"],
    ])
    func refusesMisuse(words: [String]) async throws {
        let run = try await LatchkeyProcess(
            arguments: ["keys", "import", "--config", fixture.configuration, "--content", "movie-1"] + words)
        #expect(run.status == 2)
        #expect(run.messages.contains("--"))
        #expect(!run.messages.contains(Self.key.dropFirst(2)))
    }

    // MARK: Tracks and floors

    /// Options, and the resulting `track`, `contentType`, `hdcp` and `securityLevel`.
    @Test(
        arguments: [
            ([], [nil, "sd", nil, nil]),
            (["--track", "UHD"], ["UHD", "uhd", nil, nil]),
            (["--track", "HD", "--content-type", "hd"], ["HD", "hd", nil, nil]),
            (["--track", "4K", "--content-type", "uhd"], ["4K", "uhd", nil, nil]),
            (["--content-type", "audio"], [nil, "audio", nil, nil]),
            (
                ["--track", "HD", "--hdcp", "type1", "--security-level", "main"],
                ["HD", "hd", "type1", "main"]
            ),
            (["--hdcp", "none", "--security-level", "baseline"], [nil, "sd", "none", "baseline"]),
        ] as [([String], [String?])])
    func storesWhatAKeyIsForAndWhatItDemands(options: [String], expected: [String?]) async throws {
        let names = ["track", "contentType", "hdcp", "securityLevel"]
        let run = try await LatchkeyProcess(
            arguments: ["keys", "create", "--config", fixture.configuration, "--content", "movie-1", "--json"] + options
        )
        #expect(run.status == 0, "\(run.messages)")
        let listed = try await list()
        for object in [try run.object(), try #require(listed.first)] {
            for (name, value) in zip(names, expected) {
                let member = try #require(object[name], "\(name) is always there")
                #expect(member.string == value)
            }
        }
    }

    @Test func showsAPersonWhatAKeyIsForAndWhatItDemands() async throws {
        let run = try await keys(
            "create", "--content", "movie-1", "--track", "4K:HDR", "--content-type", "uhd", "--hdcp", "type1",
            "--security-level", "main")
        for line in ["track    4K:HDR", "type     uhd", "HDCP     type1", "level    main"] {
            #expect(run.output.split(separator: "\n").contains(Substring(line)), "\(run.output)")
        }
        #expect(try await keys("create", "--content", "movie-2").status == 0)
        let lines = try await keys("list").output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.contains("movie-1  track 4K:HDR  type uhd  HDCP type1  level main") == true)
        #expect(lines.last?.contains("movie-2  type sd") == true)
        for line in lines {
            let keyID = try #require(line.split(separator: " ").first)
            #expect(line.hasSuffix("  skd://\(keyID)"))
        }
    }

    @Test(arguments: [
        (["--track", "4K"], "--content-type"), (["--track", "hd"], "--content-type"),
        (["--track", "HD", "--content-type", "uhd"], "contradicts"), (["--track", ""], "--track"),
        (["--track", "H D"], "--track"), (["--content-type", "HD"], "--content-type"),
        (["--content-type", "video"], "audio, sd, hd, uhd"), (["--hdcp", "type2"], "none, type0, type1"),
        (["--hdcp", "1"], "--hdcp"), (["--security-level", "high"], "audio, baseline, main"),
    ])
    func refusesTracksAndFloorsThatMeanNothing(options: [String], message: String) async throws {
        let run = try await LatchkeyProcess(
            arguments: ["keys", "create", "--config", fixture.configuration, "--content", "movie-1"] + options)
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        #expect(run.messages.contains(message), "\(run.messages)")
        #expect(try await list().isEmpty)
    }

    /// If the key exists with another floor, the command must refuse, because the stored floor would stay in force.
    @Test func refusesTheSameKeyWithAnotherFloor() async throws {
        let words = ["--content", "movie-1", "--kid", Self.kid, "--key", Self.key, "--iv", Self.iv]
        func importKey(_ options: String...) async throws -> LatchkeyProcess {
            try await LatchkeyProcess(
                arguments: ["keys", "import", "--config", fixture.configuration] + words + options)
        }
        #expect(try await importKey("--track", "HD", "--hdcp", "type0").status == 0)
        #expect(try await importKey("--track", "HD", "--hdcp", "type0", "--content-type", "hd").status == 0)
        for options in [["--hdcp", "type1"], ["--hdcp", "type0", "--security-level", "main"], []] {
            let run = try await LatchkeyProcess(
                arguments: ["keys", "import", "--config", fixture.configuration, "--track", "HD"] + words + options)
            #expect(run.status == 1)
            #expect(run.messages.contains("floor"), "\(run.messages)")
        }
        #expect(try await importKey("--hdcp", "type0").status == 1)
        #expect(try await list().map { $0["hdcp"]?.string } == ["type0"])
    }

    @Test func refusesAVectorThatEqualsTheKey() async throws {
        let run = try await keys("import", "--content", "movie-1", "--key", Self.key, "--iv", Self.key)
        #expect(run.status == 1)
        #expect(!run.messages.contains(Self.key))
    }

    @Test func refusesAContentNameWithASpace() async throws {
        #expect(try await keys("create", "--content", "movie 1").status == 2)
        #expect(try await keys("create", "--content", "").status == 2)
    }

    @Test func namesAMissingConfigurationAndAMissingSecret() async throws {
        let missing = try await LatchkeyProcess("keys", "list", "--config", fixture.folder.path("none.json5"))
        #expect(missing.status == 1)
        #expect(missing.messages.contains("none.json5"))
        try FileManager.default.removeItem(atPath: fixture.folder.path("secrets/key-encryption-key"))
        let run = try await keys("list")
        #expect(run.status == 1)
        #expect(run.messages.contains("keyEncryptionKey"))
    }

    @Test func saysWhenTheKeyEncryptionKeyIsAnother() async throws {
        #expect(try await keys("create", "--content", "movie-1").status == 0)
        let other = String(repeating: "ab", count: 32) + "\n"
        try fixture.folder.write(other.utf8, to: "secrets/key-encryption-key")
        let run = try await keys("list")
        #expect(run.status == 1)
        #expect(run.messages.contains("key-encryption key"), "\(run.messages)")
    }
}
