import ContentKeys
import TestSupport
import Testing

@testable import PackagerAPI

/// Playlists that cause much work for their size. If the work grew faster than the size, the tests would not end.
@Suite(.tags(.slow)) struct PlaylistWorkTests {
    private static let long = String(repeating: "x", count: PlaylistLimits.lineSizeMaximum / 4)

    /// Returns a playlist with as many lines as the size limit allows.
    private static func filled(_ head: [String], _ lines: (Int) -> String) -> String {
        var text = (["#EXTM3U", "#EXT-X-VERSION:6"] + head).joined(separator: "\n") + "\n"
        var index = 0
        while true {
            let line = lines(index) + "\n"
            guard text.utf8.count + line.utf8.count <= 2 << 20 else { return text }
            text += line
            index += 1
        }
    }

    /// Long keys apply to every segment, and one short line changes the keys from segment to segment.
    @Test func comparesLongTextsOnce() throws {
        let keys = (1..<PlaylistLimits.keyFormatCountMaximum).map { index in
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://\(Self.long)\(index)\",KEYFORMAT=\"\(index)\(Self.long)\","
                + "KEYID=0x\(Self.long)"
        }
        let text = Self.filled(keys) { "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"\($0)\"\na" }
        let playlist = try PlaylistSamples.read(text)
        let findings = PlaylistChecks.findings(of: playlist, "a")
        guard case .media(let media) = playlist.content else { throw SampleError(text: "not a media playlist") }
        #expect(media.stretches.count > 10_000)
        #expect(media.stretches.map(\.keys.count).max() == PlaylistLimits.keyFormatCountMaximum)
        #expect(findings.found.count <= PlaylistFindings.countMaximum)
        #expect(PlaylistKeyUse.uses(of: playlist, "a").count == PlaylistLimits.keyFormatCountMaximum - 1)
        let member = PlaylistSet.Member(source: "a", media: media, contentTypes: [.hd])
        let set = PlaylistSet(
            source: "b", multivariant: MultivariantPlaylist(sessionKeys: [], streams: [], renditions: []),
            members: [member], isComplete: true)
        #expect(set.findings.count(.error) == 0)
    }

    /// Every line has faults, and all streams name the same playlist.
    @Test func readsManyFaultsAndStreams() throws {
        let lines = "#EXT-X-STREAM-INF:A=1,RESOLUTION=3840x2160,HDCP-LEVEL=NONE\na\n#EXT-X-KEY:A"
        let text = Self.filled([]) { _ in lines }
        let playlist = try PlaylistSamples.read(text)
        let findings = PlaylistChecks.findings(of: playlist, "a")
        guard case .multivariant(let multivariant) = playlist.content else {
            throw SampleError(text: "not a multivariant playlist")
        }
        #expect(multivariant.references.map(\.address) == ["a"])
        // Each EXT-X-KEY is malformed, and is in the wrong kind of playlist.
        #expect(findings.count(.error) >= 2 * (multivariant.streams.count - 1))
        #expect(findings.count(.warning) == multivariant.streams.count)
        #expect(findings.found.count == PlaylistFindings.countMaximum)
    }
}
