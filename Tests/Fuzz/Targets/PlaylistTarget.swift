import ByteCoding
import ContentKeys
import TestSupport

@testable import PackagerAPI

/// Playlists and the findings in them. The input is playlists with a zero byte between them, which no playlist can
/// contain. If the first is a multivariant playlist, the others are its media playlists.
///
/// A document has one meaning or one error, and the same meaning with other line ends. The result is within the
/// document and the limits: each segment is counted once, and no stretch of segments has two keys of one format.
/// Attribute lists can be written and read again. The number of findings is limited. They are the same each time, and
/// each is one line of ASCII.
struct PlaylistTarget: FuzzTarget {
    private static let documentCountMaximum = 8
    /// Quotations in a finding are cut off far below this size.
    private static let detailSizeMaximum = 1024

    func check(_ input: [UInt8]) throws -> Verdict {
        let documents = input.split(separator: 0, omittingEmptySubsequences: false).prefix(Self.documentCountMaximum)
        let playlists = try documents.map { try read(Array($0)) }
        guard let first = playlists.first, let first else { return .refused }
        if case .multivariant(let multivariant) = first.content {
            try check(multivariant, playlists.dropFirst().compactMap { $0 })
        }
        return .accepted
    }

    // MARK: - One playlist

    private static func outcome(_ document: [UInt8]) -> Result<Playlist, PlaylistError> {
        do throws(PlaylistError) {
            return .success(try Playlist(parsing: document))
        } catch {
            return .failure(error)
        }
    }

    /// Reads a document. Returns nil if it is refused.
    private func read(_ document: [UInt8]) throws -> Playlist? {
        let outcome = Self.outcome(document)
        try require(outcome == Self.outcome(document), "a document has one meaning or one error")
        let lines = document.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        switch outcome {
        case .failure(let error):
            try require((1...lines.count).contains(error.line), "an error's line is within the document")
            let findings = PlaylistChecks.findings(of: error, "a.m3u8")
            try check(findings, lineCount: lines.count)
            try require(findings.count(.error) == 1, "a document that is refused has one finding")
            return nil
        case .success(let playlist):
            try require(document.count <= PlaylistLimits.sizeMaximum, "an accepted document is within its size")
            try require(lines.count <= PlaylistLimits.lineCountMaximum + 1, "the number of lines is within its limit")
            try checkOtherEnds(of: document, playlist)
            try check(playlist, lines)
            return playlist
        }
    }

    private func checkOtherEnds(of document: [UInt8], _ playlist: Playlist) throws {
        var other: [UInt8] = []
        other.reserveCapacity(document.count * 2)
        for byte in document {
            if byte == UInt8(ascii: "\n"), other.last != UInt8(ascii: "\r") { other.append(UInt8(ascii: "\r")) }
            other.append(byte)
        }
        guard other.count <= PlaylistLimits.sizeMaximum else { return }
        try require(Self.outcome(other) == .success(playlist), "lines may end with LF and with CR LF")
    }

    private func check(_ playlist: Playlist, _ lines: [ArraySlice<UInt8>]) throws {
        let keyLines = playlist.keys.map(\.line)
        try require(keyLines == keyLines.sorted() && Set(keyLines).count == keyLines.count, "each key has its own line")
        for line in keyLines + playlist.faults.map(\.line) {
            try require((1...lines.count).contains(line), "each line number is within the document")
        }
        for key in playlist.keys { try checkRewriting(of: key.attributes) }
        switch playlist.content {
        case .media(let media): try check(media, addressCount: Self.addressCount(lines))
        case .multivariant(let multivariant):
            try require(multivariant.streams.count <= lines.count, "a stream has a line")
            let references = multivariant.references
            try require(
                Set(references.map { Array($0.address.utf8) }).count == references.count, "no playlist is named twice")
        }
        let findings = PlaylistChecks.findings(of: playlist, "a.m3u8")
        try require(findings == PlaylistChecks.findings(of: playlist, "a.m3u8"), "findings are the same each time")
        try check(findings, lineCount: lines.count)
        try checkUses(of: playlist, lineCount: lines.count)
    }

    /// The number of lines that are not a tag, not a comment and not empty.
    private static func addressCount(_ lines: [ArraySlice<UInt8>]) -> Int {
        lines.count { line in
            let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            return !text.isEmpty && text.first != UInt8(ascii: "#")
        }
    }

    private func check(_ media: MediaPlaylist, addressCount: Int) throws {
        try require(media.segmentCount == addressCount, "each segment is counted once")
        var last: SegmentStretch?
        for stretch in media.stretches {
            try require(stretch.count > 0, "a stretch has segments")
            try require(stretch.keys.allSatisfy(media.keys.indices.contains), "a stretch has keys of the playlist")
            let formats = stretch.keys.map { Array(media.keys[$0].keyFormat.utf8) }
            try require(Set(formats).count == formats.count, "a segment has one key of a format")
            try require(formats.count <= PlaylistLimits.keyFormatCountMaximum, "formats are in their limit")
            if let last {
                try require(last.line < stretch.line, "stretches are in order")
                try require(
                    last.keys != stretch.keys || last.isFragmented != stretch.isFragmented, "neighbours differ")
            }
            last = stretch
        }
        try require(media.successions.count <= media.keys.count, "a key ends once")
    }

    private func checkRewriting(of list: AttributeList) throws {
        let text = list.attributes.map { attribute in
            attribute.name + "="
                + (attribute.value.isQuoted ? "\"\(attribute.value.text)\"" : attribute.value.text)
        }.joined(separator: ",")
        let again: AttributeList
        do throws(AttributeListError) {
            again = try AttributeList(parsing: Array(text.utf8)[...])
        } catch {
            throw PropertyViolation(description: "a list that was read can be written: \(error)")
        }
        try require(again == list, "what is written means what was read")
    }

    // MARK: - Findings

    private func check(_ findings: PlaylistFindings, lineCount: Int) throws {
        try require(findings.found.count <= PlaylistFindings.countMaximum, "the number of findings is within its limit")
        try require(
            findings.count(.error) + findings.count(.warning) == findings.found.count + findings.leftOutCount,
            "each finding counts")
        for finding in findings.found {
            try require(finding.detail.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "a finding is one line of ASCII")
            try require(finding.detail.utf8.count <= Self.detailSizeMaximum, "a finding is short")
            if let line = finding.line { try require((1...lineCount).contains(line), "a line exists") }
        }
    }

    private func checkUses(of playlist: Playlist, lineCount: Int) throws {
        let uses = PlaylistKeyUse.uses(of: playlist, "a.m3u8", contentTypes: [.audio, .hd])
        try require(Set(uses.map { Array($0.uri.utf8) }).count == uses.count, "an address is looked up once")
        guard let use = uses.first else { return }
        let key = ContentKeyAttributes(
            keyID: KeyID(words: Bytes16(high: 1, low: 2)), contentID: try ContentID("movie-1"), track: Track(.uhd),
            createdAt: 0)
        let resolutions: [AssetResolution] = [
            .unknown, .withdrawn(key.keyID), .ambiguous(key.contentID), .live(key, iv: Bytes16(high: 3, low: 4)),
        ]
        for resolution in resolutions {
            let findings = use.findings(resolution, asked: "the asset id")
            try check(findings, lineCount: lineCount)
            try require(!findings.found.isEmpty, "a key for another track is found")
        }
    }

    private func check(_ multivariant: MultivariantPlaylist, _ others: [Playlist]) throws {
        let types = multivariant.references.map(\.contentTypes)
        var members: [PlaylistSet.Member] = []
        for (index, playlist) in others.enumerated() {
            guard case .media(let media) = playlist.content else { continue }
            members.append(
                PlaylistSet.Member(
                    source: "\(index).m3u8", media: media, contentTypes: index < types.count ? types[index] : []))
        }
        let set = PlaylistSet(source: "a.m3u8", multivariant: multivariant, members: members, isComplete: true)
        try require(set.findings == set.findings, "findings are the same each time")
        try check(set.findings, lineCount: PlaylistLimits.lineCountMaximum)
    }

    // MARK: - Inputs

    func seeds() throws -> [[UInt8]] {
        [
            SeedPlaylists.media, SeedPlaylists.threeSystems, SeedPlaylists.transport, SeedPlaylists.multivariant,
            SeedPlaylists.multivariant + "\0" + SeedPlaylists.media + "\0" + SeedPlaylists.threeSystems,
        ].map { Array($0.utf8) }
    }

    /// Most changes are of lines, so that the code after the attribute reader is reached.
    func mutate(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        guard Int.random(in: 0..<4, using: &generator) > 0 else {
            return ByteMutation.mutate(input, using: &generator)
        }
        return PlaylistMutation.change(input, using: &generator)
    }
}

/// Accepted playlists of each kind.
private enum SeedPlaylists {
    private static let fairPlay =
        "METHOD=SAMPLE-AES,URI=\"skd://2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11\","
        + "KEYFORMAT=\"com.apple.streamingkeydelivery\",KEYFORMATVERSIONS=\"1\""

    static let media = """
        #EXTM3U
        #EXT-X-VERSION:6
        #EXT-X-TARGETDURATION:2
        #EXT-X-PLAYLIST-TYPE:VOD
        #EXT-X-MAP:URI="video.mp4",BYTERANGE="930@0"
        #EXT-X-KEY:\(fairPlay)
        #EXTINF:1.003,
        video.mp4
        #EXT-X-KEY:METHOD=NONE
        #EXTINF:0.997,
        video.mp4
        #EXT-X-ENDLIST

        """

    static let threeSystems = """
        #EXTM3U
        #EXT-X-VERSION:6
        #EXT-X-MAP:URI="init.mp4"
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="data:text/plain;base64,AAAA",KEYFORMAT="com.microsoft.playready"
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="data:text/plain;base64,AAAA",KEYID=0x2f6c1d0e7d3c4c5e9c570d6a5f0f6a11,\
        IV=0x0f1e2d3c4b5a69788796a5b4c3d2e1f0,KEYFORMAT="urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed"
        #EXT-X-KEY:\(fairPlay)
        #EXTINF:2,
        1.m4s
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://keys.example.com/fps/v1/license/7b1d0c9e52a44e0b9c610a5f3b8d2e11",\
        KEYFORMAT="com.apple.streamingkeydelivery"
        #EXTINF:2,
        2.m4s

        """

    static let transport = """
        #EXTM3U
        #EXT-X-VERSION:5
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://movie-1",KEYFORMAT="com.apple.streamingkeydelivery"
        #EXTINF:9.97667,\t
        fileSequence0.ts
        """

    static let multivariant = """
        #EXTM3U
        #EXT-X-VERSION:6
        #EXT-X-SESSION-KEY:\(fairPlay)
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",URI="audio.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1920x1080,HDCP-LEVEL=TYPE-0,AUDIO="a",\
        ALLOWED-CPC="com.apple.streamingkeydelivery:AppleMain/Main"
        hd.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,CODECS="mp4a.40.2",URI="fast.m3u8"

        """
}

/// Changes of lines.
private enum PlaylistMutation {
    private static let lines = [
        "#EXTM3U", "#EXT-X-VERSION:4", "#EXT-X-VERSION:6", "#EXTINF:1,", "a.mp4", "#EXT-X-ENDLIST",
        "#EXT-X-KEY:METHOD=NONE", "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://a\"", "#EXT-X-MAP:URI=\"i.mp4\"",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x1", "#EXT-X-SESSION-KEY:METHOD=NONE", "#EXT-X-MAP:URI=\"i.ts\"",
        "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES-CTR,URI=\"skd:a\",KEYFORMAT=\"com.apple.streamingkeydelivery\"",
        "#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=3840x2160", "#EXT-X-STREAM-INF:BANDWIDTH=1,HDCP-LEVEL=NONE",
        "#EXT-X-MEDIA:TYPE=AUDIO,URI=\"a.m3u8\"", "# a comment", "", "\0#EXTM3U",
    ]
    private static let values = [
        "=\"skd://{$id}\"", "=\"skd://A%20b/c\"", "=\"SKD:x\"", "=\"\"", "=SAMPLE-AES", "=NONE", "=\"1/2\"", "=TYPE-1",
        "=0x00112233445566778899AABBCCDDEEFF", "=\"com.apple.streamingkeydelivery\"", "=\"identity\"", "=7680x4320",
    ]

    static func change(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        let newline = UInt8(ascii: "\n")
        var lines = input.split(separator: newline, omittingEmptySubsequences: false).map { Array($0) }
        guard let place = lines.indices.randomElement(using: &generator),
            let other = lines.indices.randomElement(using: &generator)
        else { return Array("#EXTM3U".utf8) }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: lines.remove(at: place)
        case 1: lines.insert(lines[other], at: place)
        case 2: lines.swapAt(place, other)
        case 3: lines[place] = changed(lines[place], using: &generator)
        case 4:
            let cut = lines[other].prefix(Int.random(in: 0...lines[other].count, using: &generator))
            lines[place] += cut
        default: lines.insert(Array((Self.lines.randomElement(using: &generator) ?? "").utf8), at: place)
        }
        return Array(lines.joined(separator: [newline]))
    }

    /// Replaces the value of an attribute.
    private static func changed(_ line: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        let signs = line.indices.filter { line[$0] == UInt8(ascii: "=") }
        guard let sign = signs.randomElement(using: &generator) else { return line }
        let rest = line[sign...].drop { $0 != UInt8(ascii: ",") }
        return line[..<sign] + Array((values.randomElement(using: &generator) ?? "").utf8) + rest
    }
}
