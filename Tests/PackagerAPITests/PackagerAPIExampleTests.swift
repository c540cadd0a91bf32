import ByteCoding
import ContentKeys
import KeyCrypto
import Testing

@testable import PackagerAPI

/// An example: how to answer a SPEKE document.
@Suite struct PackagerAPIExampleTests {
    @Test func answersASPEKEDocument() throws {
        // The request says which keys a packager wants, and for which tracks.
        let document = try Documents.bytes("v2_vod_fairplay_video_audio.xml")
        let request = try CPIXRequest(parsing: document, version: .v20)
        #expect(request.contentID.text == "movie-001")
        #expect(request.keys.map(\.keyID.description) == [Documents.videoKeyID, Documents.audioKeyID])

        // A store finds the keys or creates them. Here they are random.
        let keys = try request.keys.map { requested in
            try PackagedKey(
                keyID: requested.keyID, key: ContentKey(SecretBytes.random(count: ContentKey.size)), iv: .zero)
        }

        // The answer is the same document, with keys and signalling filled in.
        let answer = try CPIXAnswer(to: request, keys: keys, urls: .standard)
        let filled = try MarkupReader.read(answer.bytes)
        #expect(filled.all("PlainValue").map(\.text) == keys.map { Base64.encode($0.key.bytes.revealed()) })
        #expect(filled.all("HLSSignalingData").count == 4)
    }
}
