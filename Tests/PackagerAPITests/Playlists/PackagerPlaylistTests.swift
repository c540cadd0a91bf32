import ByteCoding
import ContentKeys
import Testing

@testable import PackagerAPI

/// Playlists as packagers write them (packagers, section 2), with the rules that they break.
@Suite struct PackagerPlaylistTests {
    private typealias Samples = PlaylistSamples

    /// Playlists of Shaka Packager 3.8.0. Their key URLs have a path, so that a player that sends only the host gets no
    /// key.
    @Test(arguments: [
        ("video", [PlaylistRule.hostTruncated]), ("audio", [.hostTruncated]), ("video_master", [.hostTruncated]),
        ("audio_master", [.hostTruncated]),
    ])
    func findsWarningsAloneInWhatShakaPackagerMakes(name: String, rules: [PlaylistRule]) throws {
        #expect(try Samples.broken(Samples.vector(name)) == rules)
        #expect(rules.map(\.severity) == [.warning])
    }

    @Test(arguments: ["video", "audio"])
    func findsNothingBetweenThePlaylistsOfShakaPackager(name: String) throws {
        let multivariant = try Samples.readMultivariant(Samples.vector(name + "_master"))
        let media = try Samples.readMedia(Samples.vector(name))
        let types = multivariant.references.map(\.contentTypes)
        #expect(types == [name == "video" ? [.sd] : [.audio]])
        let set = PlaylistSet(
            source: "main", multivariant: multivariant,
            members: [PlaylistSet.Member(source: name, media: media, contentTypes: types[0])], isComplete: true)
        #expect(set.findings.found.isEmpty)
        #expect(media.stretches.map(\.count) == [2])
        #expect(media.stretches.map(\.isFragmented) == [true] && media.keys.count == 1)
    }

    /// Without `--hls_key_uri`, the URL contains the Base64 of the key id, with upper-case letters and a slash.
    @Test func warnsOfTheURLThatShakaPackagerMakesOfAKeyID() throws {
        let text = Samples.encrypted(
            "METHOD=SAMPLE-AES,URI=\"skd://ESIzRFVmd4iZAKq7zN3u/w==\",KEYFORMATVERSIONS=\"1\","
                + "KEYFORMAT=\"com.apple.streamingkeydelivery\"")
        #expect(try Samples.broken(text) == [.hostTruncated])
        let keyID = KeyAddress(text: "skd://ESIzRFVmd4iZAKq7zN3u/w==").keyID
        #expect(keyID?.hexadecimal == "11223344556677889900aabbccddeeff")
    }

    /// Three systems: FairPlay without an IV, and Widevine with an IV and a `KEYID`. The first five seconds are clear.
    @Test func readsShakaPackagerForThreeSystems() throws {
        let kid = "2f6c1d0e7d3c4c5e9c570d6a5f0f6a11"
        let keys = [
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"data:text/plain;charset=UTF-16;base64,xAEAAA==\",KEYFORMATVERSIONS=\"1\","
                + "KEYFORMAT=\"com.microsoft.playready\"",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"data:text/plain;base64,AAAA\",KEYID=0x\(kid),"
                + "IV=0x0f1e2d3c4b5a69788796a5b4c3d2e1f0,KEYFORMATVERSIONS=\"1\","
                + "KEYFORMAT=\"urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed\"",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://\(kid)\",KEYFORMATVERSIONS=\"1\","
                + "KEYFORMAT=\"com.apple.streamingkeydelivery\"",
        ]
        #expect(try Samples.broken(Samples.media(keys + [Samples.segment])).isEmpty)
        #expect(try Samples.broken(Samples.media([Samples.segment] + keys + [Samples.segment])) == [.clearLead])
    }

    /// `--crypto_period_duration` repeats the line with the same key.
    @Test func warnsOfARotationWithoutAnotherKey() throws {
        let period = [Samples.key(Samples.fairPlay), Samples.segment]
        #expect(try Samples.broken(Samples.media(period + period + period)) == [.keyRepeated, .keyRepeated])
    }

    /// `mp4-dash.py --hls` with separate keys for audio and video, but a single URL.
    @Test func findsTheOneURLOfBento4ForTwoKeys() throws {
        let main = Samples.multivariant([
            "# Created with Bento4 mp4-dash.py, VERSION=2.0.0-641", "#EXT-X-VERSION:6",
            "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"skd://movie-1\",KEYFORMAT=\"com.apple.streamingkeydelivery\","
                + "KEYFORMATVERSIONS=\"1\"",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"audio_aac\",NAME=\"English\",URI=\"audio.m3u8\"",
            Samples.stream("RESOLUTION=1280x720,AUDIO=\"audio_aac\"", "video.m3u8"),
        ])
        let media =
            "#EXTM3U\n# Created with Bento4 mp4-dash.py, VERSION=2.0.0-641\n#EXT-X-VERSION:6\n"
            + "#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-INDEPENDENT-SEGMENTS\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:0\n"
            + "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://movie-1\",KEYFORMAT=\"com.apple.streamingkeydelivery\","
            + "KEYFORMATVERSIONS=\"1\"\n#EXT-X-MAP:URI=\"init.mp4\"\n#EXTINF:2.0,\nseg-1.m4s\n#EXT-X-ENDLIST\n"
        #expect(try Samples.broken(main).isEmpty)
        #expect(try Samples.broken(media).isEmpty)
        let multivariant = try Samples.readMultivariant(main)
        let members = try multivariant.references.map { reference in
            PlaylistSet.Member(
                source: reference.address, media: try Samples.readMedia(media), contentTypes: reference.contentTypes)
        }
        let set = PlaylistSet(source: "main", multivariant: multivariant, members: members, isComplete: true)
        #expect(set.findings.found.map(\.rule) == [.sharedKey])
    }

    /// Without `--encryption-key-uri`, `mp4-hls.py --fairplay` writes its default URL into another line.
    @Test func findsTheKeyFileThatBento4Leaves() throws {
        let text = Samples.multivariant([
            "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"key.bin\",KEYFORMAT=\"com.apple.streamingkeydelivery\","
                + "KEYFORMATVERSIONS=\"1\"", Samples.stream("RESOLUTION=640x360", "media-1/stream.m3u8"),
        ])
        #expect(try Samples.broken(text) == [.fairPlayURI])
    }

    /// Transport streams of `mp42hls`, and of Apple's `mediafilesegmenter`, which writes a tab after each duration.
    @Test func readsTransportStreams() throws {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXT-X-VERSION:5\n#EXT-X-MEDIA-SEQUENCE:0\n#EXT-X-PLAYLIST-TYPE:VOD\n"
            + "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://movie-1\",KEYFORMAT=\"com.apple.streamingkeydelivery\","
            + "KEYFORMATVERSIONS=\"1\"\n#EXTINF:9.97667,\t\nfileSequence0.ts\n#EXT-X-ENDLIST\n"
        #expect(try Samples.broken(text).isEmpty)
        #expect(try Samples.readMedia(text).stretches.map(\.isFragmented) == [false])
        #expect(try Samples.broken(text.replacing("VERSION:5", with: "VERSION:3")) == [.versionTooLow])
    }

    /// ffmpeg encrypts whole segments, with the key in a file. This does not concern a license server.
    @Test func findsNothingInThePlaylistsOfFFmpeg() throws {
        let text =
            "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:0\n"
            + "#EXT-X-KEY:METHOD=AES-128,URI=\"key.bin\",IV=0x0f1e2d3c4b5a69788796a5b4c3d2e1f0\n#EXTINF:2.000000,\n"
            + "out0.ts\n#EXT-X-ENDLIST\n"
        #expect(try Samples.broken(text).isEmpty)
    }

    /// The lines that Latchkey writes break no rule.
    @Test func findsNothingInLatchkeysOwnLines() throws {
        let line = HLSKeyLine.fairPlay(url: Samples.uri)
        #expect(try Samples.broken(Samples.media([line.mediaLine, Samples.segment])).isEmpty)
        #expect(try Samples.broken(Samples.multivariant([line.multivariantLine])).isEmpty)
    }
}
