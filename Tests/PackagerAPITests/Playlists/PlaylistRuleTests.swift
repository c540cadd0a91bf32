import ByteCoding
import ContentKeys
import Testing

@testable import PackagerAPI

/// For each rule, a playlist that breaks this rule and no other one.
@Suite struct PlaylistRuleTests {
    private typealias Samples = PlaylistSamples

    /// The rules that a single playlist can break.
    private static let ofOnePlaylist: [(PlaylistRule, String)] = [
        (.tag, Samples.media([Samples.key(Samples.fairPlay), Samples.segment, "#EXT-X-KEY:METHOD="])),
        (.version, Samples.media([], version: "#EXT-X-VERSION:6\n#EXT-X-VERSION:6")),
        (.variables, Samples.encrypted(Samples.attributes(uri: "skd://{$id}"))),
        (.attributeForm, Samples.encrypted(Samples.fairPlay.replacing("\"1\"", with: "1"))),
        (.attributeForm, Samples.encrypted(Samples.fairPlay.replacing("\"\(plain)\"", with: plain))),
        (.attributeForm, Samples.encrypted(Samples.fairPlay.replacing("\"\(Samples.uri)\"", with: Samples.uri))),
        (.attributeForm, Samples.encrypted(Samples.fairPlay.replacing("SAMPLE-AES", with: "\"SAMPLE-AES\""))),
        (.method, Samples.encrypted(Samples.fairPlay.replacing("SAMPLE-AES", with: "SAMPLE-AES-CBC"))),
        (.method, Samples.encrypted(Samples.fairPlay.replacing("METHOD=SAMPLE-AES,", with: ""))),
        (.methodNone, Samples.encrypted("METHOD=NONE,KEYFORMATVERSIONS=\"1\"")),
        (.uriMissing, Samples.encrypted("METHOD=SAMPLE-AES,KEYFORMAT=\"com.apple.streamingkeydelivery\"")),
        (.uriMissing, Samples.encrypted(Samples.attributes(uri: ""))),
        (.keyFormat, Samples.encrypted("METHOD=SAMPLE-AES,URI=\"\(Samples.uri)\"")),
        (.keyFormat, Samples.encrypted(Samples.fairPlay.replacing("streamingkeydelivery", with: "fps"))),
        (.keyFormatVersions, Samples.encrypted(Samples.fairPlay.replacing("\"1\"", with: "\"1.0\""))),
        (.keyFormatVersions, Samples.encrypted(Samples.fairPlay.replacing("\"1\"", with: "\"2/3\""))),
        (.versionTooLow, Samples.media([Samples.key(Samples.fairPlay), Samples.segment], version: "#EXT-X-VERSION:4")),
        (.versionTooLow, Samples.media([Samples.key(Samples.fairPlay), Samples.segment], version: nil)),
        (.versionOfSessionKeys, Samples.multivariant(["#EXT-X-VERSION:4", Samples.sessionKey(Samples.fairPlay)])),
        (.fairPlayMethod, Samples.encrypted(Samples.fairPlay.replacing("SAMPLE-AES", with: "AES-128"))),
        (.counterMode, Samples.encrypted(Samples.fairPlay.replacing("SAMPLE-AES", with: "SAMPLE-AES-CTR"))),
        (.fairPlayURI, Samples.encrypted(Samples.attributes(uri: "key.bin"))),
        (.ivForm, Samples.encrypted("METHOD=SAMPLE-AES,URI=\"key.bin\",IV=0x\n" + Samples.key(Samples.fairPlay))),
        (.fairPlayIV, Samples.encrypted(Samples.fairPlay + ",IV=0x00112233445566778899aabbccddeeff")),
        (.uriCharacters, Samples.encrypted(Samples.attributes(uri: "skd://{kid}"))),
        (.uriCharacters, Samples.encrypted(Samples.attributes(uri: "skd://movie 1"))),
        (.uriCharacters, Samples.encrypted(Samples.attributes(uri: "skd://caf\u{E9}"))),
        (.uriCharacters, Samples.encrypted(Samples.attributes(uri: "skd://100%"))),
        (.uriCharacters, Samples.encrypted(Samples.attributes(uri: "skd://a%00"))),
        (.uriEmpty, Samples.encrypted(Samples.attributes(uri: "skd://"))),
        (.uriEmpty, Samples.encrypted(Samples.attributes(uri: "skd:"))),
        (.uriTooLong, Samples.encrypted(Samples.attributes(uri: address(size: 1025)))),
        (.uriLong, Samples.encrypted(Samples.attributes(uri: address(size: 1024)))),
        (.uriLong, Samples.encrypted(Samples.attributes(uri: address(size: 201)))),
        (.uriScheme, Samples.encrypted(Samples.attributes(uri: "skd:movie-1"))),
        (.uriScheme, Samples.encrypted(Samples.attributes(uri: "SKD://movie-1"))),
        (.hostCase, Samples.encrypted(Samples.attributes(uri: "skd://Movie-1"))),
        (.hostTruncated, Samples.encrypted(Samples.attributes(uri: "skd://keys.example.com/movie-1"))),
        (.hostTruncated, Samples.encrypted(Samples.attributes(uri: Samples.uri + ":00112233445566778899aabbccddeeff"))),
        (.hostTruncated, Samples.encrypted(Samples.attributes(uri: "skd://keys.example.com?cid=movie-1"))),
        (.sameSystems, Samples.media([bothSystems, Samples.key("METHOD=NONE"), fairPlaySegment])),
        (
            .mixedMethods,
            Samples.encrypted(
                Samples.fairPlay + "\n" + Samples.key(Samples.widevine.replacing("SAMPLE-AES", with: "SAMPLE-AES-CTR")))
        ),
        (.fairPlayMissing, Samples.encrypted(Samples.widevine)),
        (.keyIDs, Samples.encrypted(Samples.fairPlay + "\n" + Samples.key(Samples.widevine + ",KEYID=0x" + digits))),
        (.keyUnused, Samples.media([Samples.key(Samples.attributes(uri: Samples.otherURI)), fairPlaySegment])),
        (.keyRepeated, Samples.encrypted(Samples.fairPlay + "\n" + Samples.key(Samples.fairPlay))),
        (.keyRepeated, Samples.media([fairPlaySegment, fairPlaySegment])),
        (.clearLead, Samples.media([Samples.segment, Samples.segment, fairPlaySegment])),
        (.keyOfOtherKind, Samples.media([Samples.sessionKey(Samples.fairPlay), fairPlaySegment])),
        (.keyOfOtherKind, Samples.multivariant([Samples.key(Samples.fairPlay), Samples.stream("A=1", "a.m3u8")])),
        (.sessionKeyNone, Samples.multivariant([Samples.sessionKey("METHOD=NONE")])),
        (
            .sessionKeyDuplicate,
            Samples.multivariant([Samples.sessionKey(Samples.fairPlay), Samples.sessionKey(Samples.fairPlay)])
        ),
        (.hdcpLevel, Samples.multivariant([Samples.stream("HDCP-LEVEL=1", "a.m3u8")])),
        (.hdcpLevel, Samples.multivariant([Samples.stream("HDCP-LEVEL=\"TYPE-1\"", "a.m3u8")])),
        (.hdcpLevelLow, Samples.multivariant([Samples.stream("HDCP-LEVEL=TYPE-0,RESOLUTION=3840x2160", "a.m3u8")])),
        (
            .hdcpLevelLow,
            Samples.multivariant([
                Samples.stream("HDCP-LEVEL=TYPE-1,RESOLUTION=3840x2160", "a.m3u8"),
                Samples.stream("RESOLUTION=1920x1080", "b.m3u8"), Samples.stream("RESOLUTION=640x360", "c.m3u8"),
            ])
        ),
        (.allowedCPC, Samples.multivariant([Samples.stream("ALLOWED-CPC=\"\(plain):MAIN\"", "a.m3u8")])),
    ]

    private static let plain = "com.apple.streamingkeydelivery"
    private static let digits = "00112233445566778899aabbccddeeff"
    private static let fairPlaySegment = Samples.key(Samples.fairPlay) + "\n" + Samples.segment
    private static let bothSystems = Samples.key(Samples.widevine) + "\n" + fairPlaySegment

    private static func address(size: Int) -> String { "skd://" + String(repeating: "a", count: size - 6) }

    @Test(arguments: ofOnePlaylist)
    func findsTheRuleThatAPlaylistBreaks(rule: PlaylistRule, text: String) throws {
        #expect(try Samples.broken(text) == [rule])
    }

    @Test func namesTheLineAndTheFile() throws {
        let text = Samples.encrypted(Samples.fairPlay.replacing("SAMPLE-AES", with: "SAMPLE-AES-CTR"))
        let findings = PlaylistChecks.findings(of: try Samples.read(text), "movie/video.m3u8")
        #expect(
            findings.found == [
                PlaylistFinding(
                    rule: .counterMode, source: "movie/video.m3u8", line: 5, detail: "METHOD is SAMPLE-AES-CTR")
            ])
        #expect(findings.count(.error) == 1 && findings.count(.warning) == 0)
    }

    @Test func findsTextsThatAreNoPlaylists() {
        let findings = PlaylistChecks.findings(of: PlaylistError(problem: .headerMissing, line: 1), "a")
        #expect(findings.found.map(\.rule) == [.document])
        #expect(findings.found.map(\.line) == [1])
    }

    // MARK: - Several playlists

    /// The rules that a multivariant playlist can break together with its media playlists.
    private static let ofSeveral: [(PlaylistRule, String, [(String, Set<ContentType>)])] = [
        (
            .sessionKeyDisagrees,
            Samples.multivariant([Samples.sessionKey(Samples.fairPlay.replacing("\"1\"", with: "\"1/2\""))]),
            [(Samples.encrypted(Samples.fairPlay), [.hd])]
        ),
        (.sessionKeyMissing, Samples.multivariant([stream]), [(Samples.encrypted(Samples.fairPlay), [.hd])]),
        (
            .sessionKeyUnused,
            Samples.multivariant([
                Samples.sessionKey(Samples.fairPlay), Samples.sessionKey(Samples.attributes(uri: Samples.otherURI)),
            ]), [(Samples.encrypted(Samples.fairPlay), [.hd])]
        ),
        (
            .sameSystems, Samples.multivariant([Samples.sessionKey(Samples.fairPlay)]),
            [
                (Samples.encrypted(Samples.fairPlay), [.hd]),
                (Samples.encrypted(Samples.fairPlay + "\n" + Samples.key(Samples.widevine)), [.hd]),
            ]
        ),
        (
            .keyIDs, Samples.multivariant([Samples.sessionKey(Samples.attributes(uri: "skd://a"))]),
            [
                (both("skd://a", digits), [.hd]),
                (both("skd://a", String(digits.reversed())), [.hd]),
            ]
        ),
        (
            .sharedKey, Samples.multivariant([Samples.sessionKey(Samples.fairPlay)]),
            [(Samples.encrypted(Samples.fairPlay), [.hd]), (Samples.encrypted(Samples.fairPlay), [.audio])]
        ),
    ]

    private static let stream = Samples.stream("RESOLUTION=1920x1080", "a.m3u8")

    private static func both(_ uri: String, _ keyID: String) -> String {
        Samples.encrypted(Samples.attributes(uri: uri) + "\n" + Samples.key(Samples.widevine + ",KEYID=0x" + keyID))
    }

    private func set(
        _ multivariant: String, _ media: [(String, Set<ContentType>)], isComplete: Bool = true
    ) throws -> PlaylistSet {
        PlaylistSet(
            source: "main.m3u8", multivariant: try Samples.readMultivariant(multivariant),
            members: try media.enumerated().map { index, member in
                PlaylistSet.Member(
                    source: "\(index).m3u8", media: try Samples.readMedia(member.0), contentTypes: member.1)
            }, isComplete: isComplete)
    }

    @Test(arguments: ofSeveral)
    func findsTheRuleThatSeveralPlaylistsBreak(
        rule: PlaylistRule, multivariant: String, media: [(String, Set<ContentType>)]
    ) throws {
        #expect(try set(multivariant, media).findings.found.map(\.rule) == [rule])
        #expect(try Samples.broken(multivariant).isEmpty)
        for (text, _) in media { #expect(try Samples.broken(text).isEmpty) }
    }

    /// A live playlist shows only a part of the keys, and a playlist that was not read may contain the key.
    @Test func findsNoSessionKeyMissingWhereItCannotBeTold() throws {
        let live = Samples.media([Samples.key(Samples.fairPlay), Samples.segment], isEnded: false)
        #expect(try set(Samples.multivariant([Self.stream]), [(live, [.hd])]).findings.found.isEmpty)
        let unused = Samples.multivariant([Samples.sessionKey(Samples.fairPlay)])
        #expect(try set(unused, [], isComplete: false).findings.found.isEmpty)
        #expect(try set(unused, []).findings.found.map(\.rule) == [.sessionKeyUnused])
    }

    // MARK: - Keys of a server

    private static let keyID = KeyID(words: Bytes16(high: 1, low: 2))
    private static let vector = Bytes16(high: 3, low: 4)

    private static func key(
        _ scheme: EncryptionScheme = .cbcs, _ track: Track = Track(.hd)
    ) throws -> ContentKeyAttributes {
        ContentKeyAttributes(
            keyID: keyID, contentID: try ContentID("movie-1"), track: track, scheme: scheme, createdAt: 0)
    }

    private static let transport = Samples.encrypted(Samples.fairPlay).replacing("video.mp4\"", with: "video.ts\"")
    private static let withVector = Samples.encrypted(
        Samples.fairPlay + ",IV=0x" + Hexadecimal.encode(Bytes16(high: 5, low: 6).bytes))

    private static let ofServer: [(PlaylistRule, String, AssetResolution)] = [
        (.keyUnknown, Samples.encrypted(Samples.fairPlay), .unknown),
        (.keyWithdrawn, Samples.encrypted(Samples.fairPlay), .withdrawn(keyID)),
    ]

    @Test(arguments: ofServer)
    func findsAnAddressWithoutALiveKey(rule: PlaylistRule, text: String, resolution: AssetResolution) throws {
        #expect(try broken(text, resolution) == [rule])
    }

    @Test func findsAnAddressOfSeveralKeys() throws {
        #expect(
            try broken(Samples.encrypted(Samples.fairPlay), .ambiguous(ContentID("movie-1"))) == [.keyAmbiguous])
    }

    private func broken(
        _ text: String, _ resolution: AssetResolution, _ types: Set<ContentType> = [.hd]
    ) throws -> [PlaylistRule] {
        let uses = PlaylistKeyUse.uses(of: try Samples.read(text), "a.m3u8", contentTypes: types)
        #expect(uses.map(\.uri) == [Samples.uri])
        return uses.flatMap { $0.findings(resolution, asked: "the asset id").found.map(\.rule) }
    }

    @Test func findsNothingWrongWithTheRightKey() throws {
        let right = AssetResolution.live(try Self.key(), iv: Self.vector)
        #expect(try broken(Samples.encrypted(Samples.fairPlay), right).isEmpty)
        let transportKey = AssetResolution.live(try Self.key(.sampleAES), iv: Self.vector)
        #expect(try broken(Self.transport, transportKey).isEmpty)
        let unlabelled = AssetResolution.live(try Self.key(.cbcs, .unlabelled), iv: Self.vector)
        #expect(try broken(Samples.encrypted(Samples.fairPlay), unlabelled, [.audio, .uhd]).isEmpty)
        let same = AssetResolution.live(try Self.key(), iv: Bytes16(high: 5, low: 6))
        #expect(try broken(Self.withVector, same).isEmpty)
    }

    @Test func comparesTheKeyWithTheSegments() throws {
        let cbcs = AssetResolution.live(try Self.key(), iv: Self.vector)
        #expect(try broken(Self.transport, cbcs) == [.keyScheme])
        let sampleAES = AssetResolution.live(try Self.key(.sampleAES), iv: Self.vector)
        #expect(try broken(Samples.encrypted(Samples.fairPlay), sampleAES) == [.keyScheme])
        #expect(try broken(Self.withVector, cbcs) == [.keyIV])
        #expect(try broken(Samples.encrypted(Samples.fairPlay), cbcs, [.audio]) == [.keyTrack])
        #expect(try broken(Samples.encrypted(Samples.fairPlay), cbcs, [.uhd]) == [.keyClass])
        // A session key has no segments that its scheme could be compared with.
        let session = Samples.multivariant([Samples.sessionKey(Samples.fairPlay)])
        #expect(try broken(session, sampleAES, []).isEmpty)
        for scheme in EncryptionScheme.allCases where !scheme.isFairPlay {
            let key = AssetResolution.live(try Self.key(scheme), iv: Self.vector)
            #expect(try broken(session, key, []) == [.keyScheme], "no license carries a key of \(scheme)")
        }
    }

    @Test func comparesHDCPLevelsWithTheKey() throws {
        var key = try Self.key()
        key.leastHDCP = .type1
        let broken = { (attributes: String) in
            let text = Samples.multivariant([Samples.stream(attributes, "a.m3u8")])
            return try Samples.readMultivariant(text).streams.flatMap {
                $0.findings("main.m3u8", key: key, uri: Samples.uri).found.map(\.rule)
            }
        }
        #expect(try broken("HDCP-LEVEL=TYPE-0") == [.keyHDCP])
        #expect(try broken("A=1") == [.keyHDCP])
        #expect(try broken("HDCP-LEVEL=TYPE-1").isEmpty)
    }

    // MARK: - All rules

    /// The tests of the command cover these rules, which concern files and players.
    private static let ofCommand: Set<PlaylistRule> = [.nested, .notRead, .notFollowed, .assetIDMissing]
    private static let ofOtherTests: Set<PlaylistRule> = [
        .document, .keyAmbiguous, .keyScheme, .keyIV, .keyTrack, .keyClass, .keyHDCP,
    ]

    @Test func hasAPlaylistForEachRule() {
        let shown = Set(Self.ofOnePlaylist.map(\.0)).union(Self.ofSeveral.map(\.0)).union(Self.ofServer.map(\.0))
        #expect(shown.union(Self.ofCommand).union(Self.ofOtherTests) == Set(PlaylistRule.allCases))
    }

    @Test(arguments: PlaylistRule.allCases)
    func explainsEachRuleInSentences(rule: PlaylistRule) {
        for sentence in [rule.statement, rule.advice] {
            #expect(sentence.hasSuffix(".") && sentence.first?.isUppercase == true, "\(sentence)")
        }
        #expect(rule.rawValue.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D })
    }

    // MARK: - Bounds

    /// If ten thousand lines break a rule, the list contains as many findings as its limit allows, and all are counted.
    @Test func boundsTheFindings() throws {
        let count = 10_000
        let keys = (0..<count).flatMap { [Samples.key("METHOD=AES-128,URI=\"skd://a\($0)/\""), Samples.segment] }
        let findings = PlaylistChecks.findings(of: try Samples.read(Samples.media(keys)), "a")
        #expect(findings.found.count == PlaylistFindings.countMaximum)
        #expect(findings.leftOutCount == 3 * count - PlaylistFindings.countMaximum)
        #expect(findings.count(.error) == 2 * count)
        #expect(findings.count(.warning) == count)
    }

    @Test func showsTextsFromOutsideAsOneLineOfASCII() {
        #expect(PlaylistText.shown("a\u{1B}[31m\u{E9}\u{202E}b") == "a?[31m??b")
        #expect(PlaylistText.shown(String(repeating: "x", count: 120)).utf8.count == 120)
        #expect(PlaylistText.shown(String(repeating: "x", count: 121)) == String(repeating: "x", count: 120) + "...")
        #expect(PlaylistText.shown("").isEmpty)
    }
}
