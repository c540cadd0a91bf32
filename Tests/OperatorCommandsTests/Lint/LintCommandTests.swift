import ByteCoding
import Foundation
import PackagerAPI
import TestSupport
import Testing

/// `latchkey lint` as operators run it: playlists in files, from standard input and over HTTP, with and without keys.
@Suite(.tags(.startsProcesses)) struct LintCommandTests {
    private let folder: TemporaryDirectory
    private static let kid = "2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11"
    private static let otherKid = "7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"
    private static let iv = "0f0e0d0c0b0a09080706050403020100"

    init() throws {
        folder = try TemporaryDirectory()
    }

    // MARK: - Playlists

    private static func key(_ uri: String, _ more: String = "") -> String {
        "METHOD=SAMPLE-AES,URI=\"\(uri)\",KEYFORMAT=\"com.apple.streamingkeydelivery\",KEYFORMATVERSIONS=\"1\"" + more
    }

    private static func media(_ uri: String, _ more: String = "", isFragmented: Bool = true) -> String {
        let map = isFragmented ? "#EXT-X-MAP:URI=\"i.mp4\"\n" : ""
        return "#EXTM3U\n#EXT-X-VERSION:6\n\(map)#EXT-X-KEY:\(key(uri, more))\n#EXTINF:1,\na.mp4\n#EXT-X-ENDLIST\n"
    }

    private static func multivariant(_ addresses: [String], _ uris: [String] = ["skd://\(kid)"]) -> String {
        let keys = uris.map { "#EXT-X-SESSION-KEY:\(key($0))\n" }
        let streams = addresses.map { "#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1920x1080\n\($0)\n" }
        return "#EXTM3U\n" + keys.joined() + streams.joined()
    }

    private func lint(_ words: String..., input: String = "") async throws -> LatchkeyProcess {
        try await LatchkeyProcess(arguments: ["lint"] + words, input: input)
    }

    private func write(_ text: String, to name: String) throws -> String {
        let path = folder.path(name)
        try FileManager.default.createDirectory(
            at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        try folder.write(text.utf8, to: name)
        return path
    }

    private func rules(_ run: LatchkeyProcess) throws -> [String] {
        try #require(run.object()["findings"]?.array).compactMap { $0.object?["rule"]?.string }
    }

    private func files(_ run: LatchkeyProcess) throws -> [String] {
        try #require(run.object()["playlists"]?.array).compactMap { $0.object?["file"]?.string }
    }

    // MARK: - Files

    @Test func findsNothingInAGoodPlaylist() async throws {
        let path = try write(Self.media("skd://\(Self.kid)"), to: "video.m3u8")
        let run = try await lint(path)
        #expect(run.status == 0, "\(run.messages)")
        #expect(run.output == "1 playlist, 1 segment: 0 errors and 0 warnings\n")
        #expect(run.messages.isEmpty)
    }

    @Test(arguments: ["", "#EXT-X-KEY:METHOD=NONE\n"])
    func saysThatNothingIsEncrypted(tag: String) async throws {
        let text = "#EXTM3U\n#EXT-X-VERSION:6\n\(tag)#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n"
        let run = try await lint(write(text, to: "video.m3u8"))
        #expect(run.output.hasSuffix("; no playlist has a key\n"), "\(run.output)")
    }

    @Test func doesNotTakeAServerOfPlaylistsForADaemon() async throws {
        let run = try await lint("http://127.0.0.1:1/video.m3u8")
        #expect(run.status == 1 && run.messages.contains("is this the address of the playlist?"), "\(run.messages)")
        #expect(!run.messages.contains("latchkeyd"))
    }

    @Test func printsLineRuleAndAdviceOfAnError() async throws {
        let text = Self.media("skd://\(Self.kid)").replacing("SAMPLE-AES", with: "SAMPLE-AES-CTR")
        let path = try write(text, to: "video.m3u8")
        let run = try await lint(path)
        #expect(run.status == 1)
        let lines = run.output.split(separator: "\n")
        #expect(lines.first == "\(path):4: error: METHOD is SAMPLE-AES-CTR [counter-mode]")
        #expect(lines.dropFirst().first == "    Rule: \(PlaylistRule.counterMode.statement)")
        #expect(lines.dropFirst(2).first == "    To do: \(PlaylistRule.counterMode.advice)")
        #expect(run.messages.contains("1 error and 0 warnings"))
    }

    @Test func printsJSON() async throws {
        let path = try write(Self.media("skd://Movie-1", ",IV=0x\(Self.iv)"), to: "video.m3u8")
        let run = try await lint(path, "--json")
        #expect(run.status == 0)
        let object = try run.object()
        #expect(object["errors"]?.number?.unsigned == 0)
        #expect(object["warnings"]?.number?.unsigned == 2)
        #expect(object["leftOut"]?.number?.unsigned == 0)
        let findings = try #require(object["findings"]?.array).compactMap(\.object)
        #expect(findings.map { $0["rule"]?.string } == ["fairplay-iv", "host-case"])
        for finding in findings {
            #expect(finding["severity"]?.string == "warning")
            #expect(finding["file"]?.string == path)
            #expect(finding["line"]?.number?.unsigned == 4)
            for member in ["detail", "statement", "advice"] { #expect(finding[member]?.string?.isEmpty == false) }
        }
        let playlist = try #require(object["playlists"]?.array?.first?.object)
        #expect(playlist["kind"]?.string == "media")
        #expect(playlist["segments"]?.number?.unsigned == 1)
        let key = try #require(playlist["keys"]?.array?.first?.object)
        #expect(key["METHOD"]?.string == "SAMPLE-AES" && key["URI"]?.string == "skd://Movie-1")
        #expect(key["IV"]?.string == "0x\(Self.iv)" && key["line"]?.number?.unsigned == 4)
    }

    @Test func takesWarningsForErrorsIfItIsStrict() async throws {
        let path = try write(Self.media("skd://Movie-1"), to: "video.m3u8")
        #expect(try await lint(path).status == 0)
        let run = try await lint(path, "--strict", "--json")
        #expect(run.status == 1)
        #expect(try run.object()["errors"]?.number?.unsigned == 1)
        #expect(try run.object()["warnings"]?.number?.unsigned == 0)
    }

    @Test func readsStandardInput() async throws {
        let run = try await lint("-", input: Self.media("skd://Movie-1"))
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("standard input:4: warning: "))
    }

    @Test(arguments: ["", "<html>\u{1B}[31m</html>\n", "\u{FEFF}#EXTM3U\n"])
    func findsThatATextIsNoPlaylist(text: String) async throws {
        let run = try await lint(try write(text, to: "a"), "--json")
        #expect(run.status == 1)
        #expect(try rules(run) == ["document"])
        #expect(!run.output.contains("\u{1B}"))
    }

    @Test func saysThatThereIsNoFile() async throws {
        let run = try await lint(folder.path("none.m3u8"))
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.messages.contains("none.m3u8"))
    }

    @Test(arguments: [
        [], ["a", "b"], ["ftp://example.com/a"], ["http://"], ["http://a:b@example.com/"], ["a", "--as", "winamp"],
        ["a", "--timeout", "0"],
    ])
    func exitsWithStatus2ForAWrongCommandLine(words: [String]) async throws {
        let run = try await LatchkeyProcess(arguments: ["lint"] + words)
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
    }

    // MARK: - Multivariant playlists

    @Test func readsThePlaylistsThatAreNamed() async throws {
        _ = try write(Self.media("skd://\(Self.kid)"), to: "video 1/a.m3u8")
        _ = try write(Self.media("skd://\(Self.kid)").replacing("VERSION:6", with: "VERSION:4"), to: "b.m3u8")
        let main = try write(Self.multivariant(["video%201/a.m3u8", "./x/../b.m3u8?t=1#f", "b.m3u8"]), to: "main.m3u8")
        let run = try await lint(main, "--json")
        #expect(run.status == 1)
        #expect(try files(run) == [main, folder.path("video 1/a.m3u8"), folder.path("b.m3u8")])
        #expect(try rules(run) == ["version-too-low"])
    }

    @Test(arguments: [
        ("../a.m3u8", "not-followed"), ("%2e%2e/a.m3u8", "not-followed"), ("x/%2e%2e%2f%2e%2e/a.m3u8", "not-followed"),
        ("/etc/hostname", "not-followed"), ("http://127.0.0.1:1/a.m3u8", "not-followed"),
        ("file:///etc/hostname", "not-followed"), ("none.m3u8", "not-read"), ("a%00b", "not-read"),
        ("ftp://example.com/a", "not-read"), ("main.m3u8", "nested"), ("text", "document"),
    ])
    func staysInTheFolder(address: String, rule: String) async throws {
        _ = try write(Self.media("skd://\(Self.kid)"), to: "a.m3u8")
        _ = try write("<html>", to: "movie/text")
        let main = try write(Self.multivariant([address]), to: "movie/main.m3u8")
        let run = try await lint(main, "--json")
        #expect(try rules(run) == [rule], "\(run.output)")
        #expect(run.status == (rule == "not-followed" ? 0 : 1))
        #expect(try files(run) == [main])
    }

    @Test func leavesTheFolderIfItIsTold() async throws {
        let other = try write(Self.media("skd://\(Self.kid)"), to: "a.m3u8")
        let main = try write(Self.multivariant(["../a.m3u8"]), to: "movie/main.m3u8")
        let run = try await lint(main, "--json", "--follow-others")
        #expect(run.status == 0)
        #expect(try rules(run).isEmpty)
        #expect(try files(run) == [main, other])
    }

    /// At most a hundred playlists are read, whether they exist or not.
    @Test func boundsTheNumberOfPlaylists() async throws {
        let addresses = (0...100).map { "none-\($0).m3u8" }
        let run = try await lint(try write(Self.multivariant(addresses), to: "main.m3u8"), "--json")
        #expect(run.status == 1)
        #expect(try rules(run) == Array(repeating: "not-read", count: 100) + ["not-followed"])
    }

    // MARK: - HTTP

    private func answer(_ status: String, _ body: String) -> [UInt8] {
        Array("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)".utf8)
    }

    @Test func readsAnAddress() async throws {
        let server = try OneAnswerServer(answer: answer("200 OK", Self.media("skd://Movie-1")))
        let run = try await lint(server.url + "/movie/video.m3u8?t=1#f")
        #expect(run.status == 0, "\(run.messages)")
        #expect(run.output.hasPrefix("\(server.url)/movie/video.m3u8?t=1:4: warning: "))
        #expect(server.request.hasPrefix("GET /movie/video.m3u8?t=1 HTTP/1.1\r\n"))
    }

    @Test(arguments: ["404 Not Found", "302 Found", "206 Partial Content"])
    func saysThatTheServerHasNoPlaylist(status: String) async throws {
        let server = try OneAnswerServer(answer: answer(status, ""))
        let run = try await lint(server.url + "/a")
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.messages.contains("answers with status \(status.prefix(3))"))
    }

    /// A playlist from a server must not name a file of this machine or another server.
    @Test(arguments: [
        ("file:///etc/hostname", "not-followed"), ("http://127.0.0.1:1/a.m3u8", "not-followed"),
        ("https://127.0.0.1/a.m3u8", "not-followed"),
    ])
    func staysOnTheServer(address: String, rule: String) async throws {
        let server = try OneAnswerServer(answer: answer("200 OK", Self.multivariant([address])))
        let run = try await lint(server.url + "/a", "--json")
        #expect(run.status == 0)
        #expect(try rules(run) == [rule])
    }

    @Test func namesNoFileEvenIfItFollowsOthers() async throws {
        let server = try OneAnswerServer(answer: answer("200 OK", Self.multivariant(["file:///etc/hostname"])))
        let run = try await lint(server.url + "/a", "--json", "--follow-others")
        #expect(try rules(run) == ["not-followed"])
        #expect(try files(run) == [server.url + "/a"])
    }

    // MARK: - Keys

    private func setUp() async throws -> DevelopmentFixture {
        let fixture = try DevelopmentFixture()
        let keys = ["1", "2"].map { String(repeating: $0, count: 32) }
        let csv =
            "kid,content,key,iv,track,hdcp,scheme,alias\n"
            + "\(Self.kid),movie-1,\(keys[0]),\(Self.iv),HD,type1,cbcs,\n"
            + "\(Self.otherKid),movie-2,\(keys[1]),\(Self.iv),AUDIO,,sample-aes,keys.example\n"
        let run = try await LatchkeyProcess(
            "keys", "import", "--config", fixture.configuration, "--file", "-", input: csv)
        try #require(run.status == 0, "\(run.messages)")
        return fixture
    }

    @Test func findsTheKeysOfAStore() async throws {
        let fixture = try await setUp()
        let path = try write(Self.media("skd://\(Self.kid)", ",IV=0x\(Self.iv)"), to: "video.m3u8")
        let run = try await lint(path, "--config", fixture.configuration, "--json")
        #expect(run.status == 0, "\(run.messages)")
        #expect(try rules(run) == ["fairplay-iv"])
        let sent = try #require(run.object()["assetIDs"]?.array?.first?.object)
        #expect(sent["kid"]?.string == Self.kid && sent["state"]?.string == "live")
        #expect(sent["content"]?.string == "movie-1" && sent["scheme"]?.string == "cbcs")
        #expect(sent["assetID"]?.string == "skd://\(Self.kid)")
        // Output and messages do not contain the key in any form.
        #expect(!(run.output + run.messages).contains(String(repeating: "1", count: 32)))
    }

    @Test func findsKeysThatAreNotThereOrWithdrawn() async throws {
        let fixture = try await setUp()
        let unknown = try write(Self.media("skd://movie-9"), to: "a.m3u8")
        let first = try await lint(unknown, "--config", fixture.configuration, "--json")
        #expect(first.status == 1)
        #expect(try rules(first) == ["key-unknown"])

        let withdrawn = try await LatchkeyProcess(
            "keys", "delete", "--config", fixture.configuration, "--kid", Self.kid)
        #expect(withdrawn.status == 0)
        for uri in ["skd://\(Self.kid)", "skd://movie-1"] {
            let run = try await lint(
                try write(Self.media(uri), to: "b.m3u8"), "--config", fixture.configuration, "--json")
            #expect(run.status == 1)
            #expect(try rules(run) == ["key-withdrawn"])
        }
    }

    @Test func findsAContentWithSeveralKeys() async throws {
        let fixture = try await setUp()
        let more = try await LatchkeyProcess(
            "keys", "create", "--config", fixture.configuration, "--content", "movie-1", "--another", "--track",
            "AUDIO")
        #expect(more.status == 0)
        let path = try write(Self.media("skd://movie-1"), to: "a.m3u8")
        let run = try await lint(path, "--config", fixture.configuration, "--json")
        #expect(run.status == 1)
        #expect(try rules(run) == ["key-ambiguous"])
    }

    /// The stream is HD. The second key is for audio in transport streams.
    @Test func findsKeysOfAnotherTrackSchemeAndLevel() async throws {
        let fixture = try await setUp()
        _ = try write(Self.media("skd://\(Self.kid)"), to: "right.m3u8")
        _ = try write(Self.media("skd://\(Self.otherKid)"), to: "wrong.m3u8")
        let uris = [Self.kid, Self.otherKid].map { "skd://\($0)" }
        let main = try write(Self.multivariant(["right.m3u8", "wrong.m3u8"], uris), to: "main.m3u8")
        let run = try await lint(main, "--config", fixture.configuration, "--json")
        #expect(run.status == 1)
        #expect(try rules(run).sorted() == ["key-hdcp", "key-scheme", "key-track"])
        let vector = try write(
            Self.media("skd://\(Self.kid)", ",IV=0x\(String(repeating: "0", count: 32))"), to: "iv.m3u8")
        let other = try await lint(vector, "--config", fixture.configuration, "--json")
        #expect(try rules(other).sorted() == ["fairplay-iv", "key-iv"])
    }

    @Test func tellsWhichAssetIDEachPlayerSends() async throws {
        let fixture = try await setUp()
        let path = try write(Self.media("skd://keys.example/\(Self.kid)"), to: "a.m3u8")
        let players = "hls.js,video.js,avfoundation,safari-cenc,shaka"
        let run = try await lint(path, "--config", fixture.configuration, "--json", "--as", players)
        let sent = try #require(run.object()["assetIDs"]?.array).compactMap(\.object)
        #expect(
            sent.map { $0["assetID"]?.string } == [
                "skd://keys.example/\(Self.kid)", "keys.example", "keys.example/\(Self.kid)",
                "hex:" + Self.kid.replacing("-", with: ""),
            ])
        #expect(sent.map { $0["form"]?.string } == ["wholeURI", "host", "withoutScheme", "keyID"])
        #expect(sent.first?["players"]?.array?.compactMap(\.string) == ["hls.js", "shaka"])
        // The host alone is an alias for the other key.
        #expect(sent.map { $0["kid"]?.string } == [Self.kid, Self.otherKid, Self.kid, Self.kid])
        #expect(run.status == 1)
        #expect(try rules(run) == ["host-truncated", "key-scheme"])
    }

    /// If the host alone names the same key, players that send only the host get the right key.
    @Test func doesNotWarnOfAHostThatNamesTheKey() async throws {
        let fixture = try await setUp()
        let path = try write(Self.media("skd://keys.example/\(Self.otherKid)", isFragmented: false), to: "a.m3u8")
        #expect(try rules(await lint(path, "--json")) == ["host-truncated"])
        let run = try await lint(path, "--config", fixture.configuration, "--json")
        #expect(run.status == 0)
        #expect(try rules(run).isEmpty)
    }

    @Test func saysThatAPlayerTakesItsKeyIDFromTheMedia() async throws {
        let fixture = try await setUp()
        let path = try write(Self.media("skd://movie-1"), to: "a.m3u8")
        let run = try await lint(path, "--config", fixture.configuration, "--as", "safari-cenc", "--json")
        #expect(run.status == 0)
        #expect(try rules(run) == ["asset-id-missing"])
        let text = try await lint(path, "--as", "safari-cenc,kaltura")
        #expect(text.status == 0)
        #expect(text.output.contains("    safari-cenc: no asset id: the key id is in the media"))
        #expect(text.output.contains("    kaltura: asset id movie-1\n"))
    }
}
