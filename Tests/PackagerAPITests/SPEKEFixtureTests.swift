import ByteCoding
import ContentKeys
import Testing

@testable import PackagerAPI

/// Each document of `Tests/Vectors/speke`, with the outcome listed in packagers, sections 1.4 and 8.
@Suite struct SPEKEFixtureTests {
    @Test(
        arguments: [
            ("v1_vod_fairplay", SPEKEVersion.v1), ("v1_live_fairplay_period7_iv", .v1),
            ("v2_vod_fairplay_video_audio", .v20), ("v2_live_fairplay_period", .v20), ("v2_odd_prefixes", .v20),
            ("v2_vod_fairplay_encrypted_delivery", .v20), ("v21_live_fairplay_start_end_multivariant", .v21),
        ])
    func answersEveryGoodDocument(name: String, version: SPEKEVersion) throws {
        let text = try Documents.text(name)
        let answer = try Documents.answer(text, version)
        let request = try MarkupReader.read(Array(text.utf8))
        #expect(answer.all("ContentKey").count == request.all("ContentKey").count)
        #expect(answer.all("ContentKeyUsageRule") == request.all("ContentKeyUsageRule"))
        #expect(answer.all("ContentKeyPeriod") == request.all("ContentKeyPeriod"))
        for key in answer.all("ContentKey") {
            #expect(key.all("Data").count == 1)
            #expect(key.all("Secret").count == 1)
            #expect(key.all("PlainValue").count + key.all("EncryptedValue").count == 1)
            #expect(key.attribute("explicitIV").flatMap { try? Base64.decode($0) }?.count == 16)
        }
        // No document has signalling of another version, or empty signalling.
        let names = version == .v1 ? ["URIExtXKey", "KeyFormat", "KeyFormatVersions"] : ["HLSSignalingData"]
        for system in answer.all("DRMSystem") {
            let filled = names.flatMap { system.all($0) }
            #expect(filled.count == (version == .v1 ? 3 : 2))
            #expect(filled.allSatisfy { $0.decodedText?.isEmpty == false })
        }
        // An answer contains keys, so it is refused as a request.
        let again = MarkupWriter(answer).bytes
        #expect(Documents.refusal(String(decoding: again, as: UTF8.self), version) == .keyInRequest)
    }

    @Test(
        arguments: [
            ("neg_no_contentid", "Missing CPIX@contentId"),
            ("neg_bad_version", "Unsupported CPIX@version"),
            ("neg_mixed_scheme", "Non compliant ContentKey@commonEncryptionScheme combination"),
            (
                "neg_fairplay_cenc",
                "ContentKey@commonEncryptionScheme non compatible with DRMSystem 94ce86fb-07ff-4f43-adb8-93d2fa968ca2"
            ),
            ("neg_no_filters", "Missing CPIX encryption contract"),
            ("neg_all_plus_video", "Malformed encryption contract"),
            ("neg_no_tracktype", "Malformed encryption contract"), ("neg_xxe", "Malformed CPIX document"),
        ])
    func refusesEveryBadDocument(name: String, text: String) throws {
        let refusal = try #require(Documents.refusal(try Documents.text(name)))
        #expect(refusal.text == text)
        #expect(refusal.status == 422)
    }

    @Test func refusesExternalEntitiesBeforeTheyAreRead() throws {
        #expect(Documents.refusal(try Documents.text("neg_xxe")) == .document(.declaration))
    }

    @Test func readsAllThatTheLiveDocumentsSay() throws {
        let first = try CPIXRequest(parsing: Documents.bytes("v1_live_fairplay_period7_iv.xml"), version: .v1)
        #expect(first.contentID.text == "channel-9")
        #expect(first.keys.map(\.period?.index) == [7])
        #expect(first.keys.map(\.explicitIV) == [Bytes16(high: 0x0F1E_2D3C_4B5A_6978, low: 0x8796_A5B4_C3D2_E1F0)])
        #expect(first.keys.map(\.track) == [.unlabelled])
        #expect(first.keys.map(\.scheme) == [nil])

        let name = "v21_live_fairplay_start_end_multivariant.xml"
        let second = try CPIXRequest(parsing: Documents.bytes(name), version: .v21)
        #expect(second.contentID.text == "movie-001")
        #expect(second.keys.map(\.keyID.description) == [Documents.videoKeyID, Documents.audioKeyID])
        #expect(second.keys.map(\.period?.index) == [42, 42])
        #expect(second.keys.map(\.period?.start?.description) == ["2026-11-20T22:00:00Z", "2026-11-20T22:00:00Z"])
        #expect(second.keys.map(\.period?.end?.description) == ["2026-11-20T23:00:00Z", "2026-11-20T23:00:00Z"])
        #expect(second.keys.map(\.scheme) == [.cbcs, .cbcs])
        #expect(second.keys.map(\.track.label?.text) == ["VIDEO", "AUDIO"])
        #expect(second.systems == [.fairPlay])
    }
}
