import Foundation
import Testing

@testable import PackagerAPI

/// Playlists for tests.
enum PlaylistSamples {
    static let uri = "skd://2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11"
    static let otherURI = "skd://7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"
    static let fairPlay = attributes(uri: uri)
    static let widevine =
        "METHOD=SAMPLE-AES,URI=\"data:text/plain;base64,AAAA\",KEYFORMATVERSIONS=\"1\","
        + "KEYFORMAT=\"urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed\""

    static func attributes(uri: String) -> String {
        "METHOD=SAMPLE-AES,URI=\"\(uri)\",KEYFORMAT=\"com.apple.streamingkeydelivery\",KEYFORMATVERSIONS=\"1\""
    }

    /// Returns a recording in fragmented MP4. Without other `lines` it has a key and two segments.
    static func media(_ lines: [String], version: String? = "#EXT-X-VERSION:6", isEnded: Bool = true) -> String {
        let head = ["#EXTM3U", version, "#EXT-X-TARGETDURATION:2", "#EXT-X-MAP:URI=\"video.mp4\""].compactMap { $0 }
        return (head + lines + (isEnded ? ["#EXT-X-ENDLIST"] : [])).joined(separator: "\n") + "\n"
    }

    static func key(_ attributes: String) -> String { "#EXT-X-KEY:" + attributes }

    static func sessionKey(_ attributes: String) -> String { "#EXT-X-SESSION-KEY:" + attributes }

    static let segment = "#EXTINF:1.0,\nvideo.mp4"

    /// Returns a media playlist with a key and two segments.
    static func encrypted(_ attributes: String) -> String { media([key(attributes), segment, segment]) }

    static func multivariant(_ lines: [String]) -> String {
        (["#EXTM3U"] + lines).joined(separator: "\n") + "\n"
    }

    static func stream(_ attributes: String, _ address: String) -> String {
        "#EXT-X-STREAM-INF:BANDWIDTH=1000,\(attributes)\n\(address)"
    }

    static func read(_ text: String) throws -> Playlist { try Playlist(parsing: Array(text.utf8)) }

    static func error(_ text: String) -> PlaylistError? { error(Array(text.utf8)) }

    static func error(_ bytes: [UInt8]) -> PlaylistError? {
        do throws(PlaylistError) {
            _ = try Playlist(parsing: bytes)
            return nil
        } catch {
            return error
        }
    }

    static func readMedia(_ text: String) throws -> MediaPlaylist {
        guard case .media(let media) = try read(text).content else {
            throw SampleError(text: "not a media playlist")
        }
        return media
    }

    static func readMultivariant(_ text: String) throws -> MultivariantPlaylist {
        guard case .multivariant(let multivariant) = try read(text).content else {
            throw SampleError(text: "not a multivariant playlist")
        }
        return multivariant
    }

    /// Returns the rules that a single playlist breaks, in the order of the findings.
    static func broken(_ text: String) throws -> [PlaylistRule] {
        PlaylistChecks.findings(of: try read(text), "a.m3u8").found.map(\.rule)
    }

    /// Returns a playlist of `Tests/Vectors/playlists`.
    static func vector(_ name: String) throws -> String {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Vectors/playlists")
        return String(decoding: try Data(contentsOf: folder.appending(path: name + ".m3u8")), as: UTF8.self)
    }
}

struct SampleError: Error {
    let text: String
}
