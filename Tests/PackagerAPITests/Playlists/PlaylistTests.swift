import ByteCoding
import ContentKeys
import TestSupport
import Testing

@testable import PackagerAPI

/// The reader of playlists.
@Suite struct PlaylistTests {
    private typealias Samples = PlaylistSamples

    @Test(arguments: [
        ([UInt8](), PlaylistError.Problem.headerMissing, 1), (Array("\n#EXTM3U\n".utf8), .headerMissing, 1),
        (Array("#EXTM3U8\n".utf8), .headerMissing, 1), (Array("#EXTM3U \n".utf8), .headerMissing, 1),
        (Array("<html></html>".utf8), .headerMissing, 1),
        ([0xEF, 0xBB, 0xBF] + Array("#EXTM3U".utf8), .byteOrderMark, 1),
        (Array("#EXTM3U\n".utf8) + [0xFF], .notUTF8, 2), (Array("#EXTM3U\n# ".utf8) + [0xC3], .notUTF8, 2),
        (Array("#EXTM3U\n\na\u{8}b".utf8), .controlCharacter, 3), (Array("#EXTM3U\na\rb\n".utf8), .controlCharacter, 2),
        (Array("#EXTM3U\na\0\n".utf8), .controlCharacter, 2), (Array("#EXTM3U\na\u{7F}".utf8), .controlCharacter, 2),
        (Array("#EXTM3U\na\u{85}".utf8), .controlCharacter, 2),
        (Array("#EXTM3U\n#EXTINF:1,\na\n#EXT-X-STREAM-INF:BANDWIDTH=1\nb".utf8), .bothKinds, 4),
    ])
    func refusesWhatIsNoPlaylist(bytes: [UInt8], problem: PlaylistError.Problem, line: Int) {
        #expect(Samples.error(bytes) == PlaylistError(problem: problem, line: line))
    }

    @Test(arguments: [
        ("#EXTM3U", 0), ("#EXTM3U\r\n", 0), ("#EXTM3U\n#EXTINF:1,\t\na", 1),
        ("#EXTM3U\na", 1), ("#EXTM3U\n\n# a\n#\na\u{E4}\n", 1), ("#EXTM3U\na\nb\n\n", 2),
    ])
    func readsSmallPlaylists(text: String, segmentCount: Int) throws {
        #expect(try Samples.readMedia(text).segmentCount == segmentCount)
    }

    @Test(.tags(.slow)) func limitsSizeLinesAndTheirLength() throws {
        let filled = { (count: Int) in
            // Comments of one kilobyte each, and a last one that fills the rest.
            let head = "#EXTM3U\n"
            let line = "#" + String(repeating: "x", count: 1022) + "\n"
            let rest = count - head.utf8.count
            let last = "#" + String(repeating: "y", count: rest % 1024 - 1)
            return head + String(repeating: line, count: rest / 1024) + last
        }
        #expect(filled(PlaylistLimits.sizeMaximum).utf8.count == PlaylistLimits.sizeMaximum)
        #expect(Samples.error(filled(PlaylistLimits.sizeMaximum)) == nil)
        #expect(Samples.error(filled(PlaylistLimits.sizeMaximum + 1))?.problem == .tooLarge)

        let count = PlaylistLimits.lineCountMaximum
        #expect(Samples.error("#EXTM3U" + String(repeating: "\n#", count: count - 1)) == nil)
        #expect(
            Samples.error("#EXTM3U" + String(repeating: "\n#", count: count))
                == PlaylistError(problem: .tooManyLines, line: count + 1))

        let size = PlaylistLimits.lineSizeMaximum
        #expect(Samples.error("#EXTM3U\n" + String(repeating: "x", count: size) + "\r\n") == nil)
        #expect(
            Samples.error("#EXTM3U\n" + String(repeating: "x", count: size + 1))
                == PlaylistError(problem: .lineTooLong, line: 2))
    }

    @Test func limitsTheFormatsOfASegment() throws {
        let keys = (1...PlaylistLimits.keyFormatCountMaximum + 1).map {
            Samples.key("METHOD=SAMPLE-AES,URI=\"x\",KEYFORMAT=\"f\($0)\"")
        }
        let most = try Samples.readMedia(Samples.media(keys.dropLast() + [Samples.segment]))
        #expect(most.stretches.map(\.keys.count) == [PlaylistLimits.keyFormatCountMaximum])
        #expect(Samples.error(Samples.media(keys + [Samples.segment]))?.problem == .tooManyKeyFormats)
    }

    /// CR LF ends a line in the same way as LF (RFC 8216, section 4.1).
    @Test(arguments: ["video", "audio", "video_master", "audio_master"])
    func readsBothEndsOfLines(name: String) throws {
        let text = try Samples.vector(name)
        #expect(try Samples.read(text.replacing("\n", with: "\r\n")) == Samples.read(text))
    }

    /// Each beginning of a playlist always gives the same result: one meaning or one error. It never has more keys than
    /// the whole playlist.
    @Test(arguments: ["video", "video_master"])
    func readsEveryTruncationOrRefusesIt(name: String) throws {
        let bytes = Array(try Samples.vector(name).utf8)
        let whole = try Playlist(parsing: bytes)
        var readCount = 0
        for length in bytes.indices {
            let cut = Array(bytes.prefix(length))
            guard let playlist = try? Playlist(parsing: cut) else {
                #expect(Samples.error(cut) == Samples.error(cut))
                continue
            }
            readCount += 1
            #expect(playlist.keys.count <= whole.keys.count)
            #expect(try Playlist(parsing: cut) == playlist)
        }
        // Only a beginning that ends inside the header is refused.
        #expect(readCount == bytes.count - "#EXTM3U".utf8.count)
    }

    // MARK: - Media playlists

    /// A key applies to the segments up to the next key of its format (RFC 8216, section 4.3.2.4).
    @Test func givesEachSegmentTheKeysOfItsFormats() throws {
        let media = try Samples.readMedia(
            Samples.media([
                Samples.segment, Samples.key(Samples.fairPlay), Samples.key(Samples.widevine), Samples.segment,
                Samples.segment, Samples.key(Samples.attributes(uri: Samples.otherURI)), Samples.segment,
                Samples.key("METHOD=NONE"), Samples.segment,
            ]))
        #expect(media.keys.map(\.method) == [.sampleAES, .sampleAES, .sampleAES, EncryptionMethod.none])
        #expect(media.stretches.map(\.keys) == [[], [0, 1], [1, 2], []])
        #expect(media.stretches.map(\.count) == [1, 2, 1, 1])
        #expect(media.stretches.map(\.line) == [6, 10, 15, 18])
        #expect(media.successions.map(\.before) == [0, 1, 2])
        #expect(media.successions.map(\.after) == [2, 3, 3])
        #expect(media.successions.map(\.hasSegments) == [true, true, true])
        #expect(media.isEnded && media.segmentCount == 5)
    }

    @Test func tellsFragmentedSegmentsByTheirMap() throws {
        let maps = ["i.mp4", "j.mp4", "i.TS?x"].map { "#EXT-X-MAP:URI=\"\($0)\"\na\n" }
        let text = "#EXTM3U\na\n" + maps.joined()
        let media = try Samples.readMedia(text)
        #expect(media.stretches.map(\.isFragmented) == [false, true, false])
        #expect(media.stretches.map(\.count) == [1, 2, 1])
        #expect(!media.isEnded)
    }

    @Test func knowsARecordingByItsEndOrType() throws {
        #expect(try Samples.readMedia("#EXTM3U\n#EXT-X-PLAYLIST-TYPE:VOD\na").isEnded)
        #expect(try Samples.readMedia("#EXTM3U\n#EXT-X-ENDLIST\n").isEnded)
        #expect(try !Samples.readMedia("#EXTM3U\n#EXT-X-PLAYLIST-TYPE:EVENT\na").isEnded)
    }

    @Test func readsTheAttributesOfAKey() throws {
        let media = try Samples.readMedia(
            Samples.encrypted("URI=\"SKD:a\",METHOD=AES-128,KEYID=0x00112233445566778899AABBCCDDEEFF,KEYFORMAT=x"))
        let key = try #require(media.keys.first)
        #expect(key.method == .aes128)
        #expect(key.uri == "SKD:a" && key.hasKeyAddress && key.isFairPlay && !key.hasFairPlayFormat)
        #expect(key.keyFormat == "x" && key.keyFormatVersions == "1")
        #expect(key.keyID == (try KeyID(parsing: "00112233445566778899aabbccddeeff")))
        #expect(try Samples.readMedia(Samples.encrypted("METHOD=x")).keys.map(\.keyFormat) == ["identity"])
    }

    @Test func keepsReadingBehindALineThatCannotBeRead() throws {
        let text = Samples.media(["#EXT-X-KEY:METHOD", Samples.segment, Samples.key(Samples.fairPlay), Samples.segment])
        let playlist = try Samples.read(text)
        #expect(
            playlist.faults == [
                PlaylistFault(problem: .attributes(tag: "EXT-X-KEY", .valueMissing("METHOD")), line: 5)
            ])
        #expect(try Samples.readMedia(text).hasUnreadableKeys)
        #expect(playlist.keys.count == 1)
    }

    @Test(arguments: [
        ("6", 6, []), ("999", 999, []), ("0", nil, [PlaylistFault.Problem.versionUnreadable]),
        ("1000", nil, [.versionUnreadable]), ("", nil, [.versionUnreadable]), ("+6", nil, [.versionUnreadable]),
        ("6\n#EXT-X-VERSION:7", 6, [.versionRepeated]),
    ])
    func readsTheVersion(text: String, number: Int?, faults: [PlaylistFault.Problem]) throws {
        let playlist = try Samples.read("#EXTM3U\n#EXT-X-VERSION:\(text)\na\n")
        #expect(playlist.version?.number == number)
        #expect(playlist.faults.map(\.problem) == faults)
    }

    // MARK: - Multivariant playlists

    @Test func namesEachMediaPlaylistOnce() throws {
        let multivariant = try Samples.readMultivariant(
            Samples.multivariant([
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"a\",URI=\"audio.m3u8\"",
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"b\",NAME=\"muxed\"",
                "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"s\",URI=\"text.m3u8\"",
                Samples.stream("RESOLUTION=1024x576", "sd.m3u8"), Samples.stream("RESOLUTION=1920x1080", "hd.m3u8"),
                Samples.stream("RESOLUTION=1920x1080,AUDIO=\"b\"", "hd.m3u8"),
                Samples.stream("CODECS=\"mp4a.40.2\"", "audio.m3u8"), Samples.stream("CODECS=\"avc1\"", "any.m3u8"),
                "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,RESOLUTION=3840x2160,URI=\"fast.m3u8\"",
            ]))
        let references = multivariant.references
        #expect(
            references.map(\.address) == [
                "audio.m3u8", "text.m3u8", "sd.m3u8", "hd.m3u8", "any.m3u8", "fast.m3u8",
            ])
        #expect(references.map(\.contentTypes) == [[.audio], [], [.sd], [.hd], [], [.uhd]])
        #expect(references.map(\.line) == [2, 4, 5, 7, 13, 15])
    }

    @Test func findsStreamsWithoutAddressAndAddressesWithoutStream() throws {
        let playlist = try Samples.read(
            "#EXTM3U\n#EXT-X-STREAM-INF:A=1\n#EXT-X-STREAM-INF:A=1\na\nb\n#EXT-X-I-FRAME-STREAM-INF:A=1\n"
                + "#EXT-X-STREAM-INF:a\nc\n#EXT-X-STREAM-INF:A=1")
        #expect(
            playlist.faults.map(\.problem) == [
                .streamWithoutAddress, .addressWithoutStream, .streamWithoutAddress,
                .attributes(tag: "EXT-X-STREAM-INF", .nameMissing), .streamWithoutAddress,
            ])
        #expect(playlist.faults.map(\.line) == [2, 5, 6, 7, 9])
    }

    @Test func takesTheKindFromKeysIfNothingElseTellsIt() throws {
        #expect(try Samples.readMultivariant("#EXTM3U\n" + Samples.sessionKey(Samples.fairPlay)).sessionKeys.count == 1)
        #expect(try Samples.readMedia("#EXTM3U\n" + Samples.key(Samples.fairPlay)).keys.count == 1)
    }
}
