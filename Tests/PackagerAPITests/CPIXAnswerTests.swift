import ByteCoding
import ContentKeys
import Foundation
import KeyCrypto
import TestSupport
import Testing

@testable import PackagerAPI

/// The content of an answer (packagers, sections 1.3, 1.4 and 1.7).
@Suite struct CPIXAnswerTests {
    private static func request(_ name: String, _ version: SPEKEVersion = .v20) throws -> CPIXRequest {
        try CPIXRequest(parsing: Documents.bytes(name + ".xml"), version: version)
    }

    private static func answer(
        _ request: CPIXRequest, keys: [PackagedKey]? = nil, _ urls: SKDTemplate = .standard
    ) throws(CPIXError) -> CPIXAnswer {
        try CPIXAnswer(to: request, keys: keys ?? Documents.keys(for: request), urls: urls, authority: "k.example")
    }

    // MARK: - Keys

    @Test func givesEachKeyWithItsIV() throws {
        let request = try Self.request("v2_vod_fairplay_video_audio")
        let root = try MarkupReader.read(Self.answer(request).bytes)
        for (element, key) in zip(root.all("ContentKey"), Documents.keys(for: request)) {
            #expect(element.attribute("kid") == key.keyID.description)
            #expect(element.all("PlainValue").map(\.text) == [Base64.encode(key.key.bytes.revealed())])
            #expect(element.attribute("explicitIV") == Base64.encode(key.iv.bytes))
            #expect(element.elements("Data", in: CPIXNamespace.cpix).count == 1)
            #expect(element.all("Secret").allSatisfy { $0.namespace == CPIXNamespace.pskc })
        }
        #expect(root.all("ContentKey").count == 2)
    }

    @Test func refusesAKeyThatIsItsIV() throws {
        let iv = Bytes16(high: 1, low: 2)
        let key = try ContentKey(SecretBytes(copying: iv.bytes))
        #expect(throws: ContentKeyError.ivEqualsKey) {
            _ = try PackagedKey(keyID: KeyID(words: .zero), key: key, iv: iv)
        }
    }

    @Test func givesTheIVThatWasAskedFor() throws {
        let request = try Self.request("v1_live_fairplay_period7_iv", .v1)
        let root = try MarkupReader.read(Self.answer(request).bytes)
        #expect(root.all("ContentKey").map { $0.attribute("explicitIV") } == ["Dx4tPEtaaXiHlqW0w9Lh8A=="])
    }

    @Test func refusesAKeyWithAnotherIVThanWasAskedFor() throws {
        let request = try Self.request("v1_live_fairplay_period7_iv", .v1)
        let other = PackagedKey.sample(request.keys[0].keyID, iv: Bytes16(high: 1, low: 2))
        let expected = CPIXError.ivConflict(keyID: request.keys[0].keyID)
        #expect(throws: expected) { _ = try Self.answer(request, keys: [other]) }
        #expect(expected.status == 422)
    }

    @Test func failsWithoutAKey() throws {
        let request = try Self.request("v2_vod_fairplay_video_audio")
        let keys = Documents.keys(for: request)
        let expected = CPIXError.keyNotGiven(keys[1].keyID)
        #expect(throws: expected) { _ = try Self.answer(request, keys: [keys[0]]) }
        #expect(expected.status == 500)
    }

    /// In counter mode, each sample has an IV of its own.
    @Test func givesNoIVForCounterModeUnlessAskedFor() throws {
        let document = Contract.of(["VIDEO"], [Documents.widevine], scheme: "cenc").document
        #expect(try Documents.answer(document).all("ContentKey").map { $0.attribute("explicitIV") } == [nil])
        let asked = document.replacing(
            "commonEncryptionScheme=", with: "explicitIV=\"Dx4tPEtaaXiHlqW0w9Lh8A==\" commonEncryptionScheme=")
        #expect(
            try Documents.answer(asked).all("ContentKey").map { $0.attribute("explicitIV") }
                == ["Dx4tPEtaaXiHlqW0w9Lh8A=="])
    }

    @Test(
        arguments: [
            ("v1_vod_fairplay", SPEKEVersion.v1), ("v2_vod_fairplay_video_audio", .v20),
            ("v21_live_fairplay_start_end_multivariant", .v21),
        ])
    func answersTheSameRequestWithTheSameBytes(name: String, version: SPEKEVersion) throws {
        let first = try Self.answer(Self.request(name, version))
        let second = try Self.answer(Self.request(name, version))
        #expect(first.bytes == second.bytes)
        // The public suite finds keys by this expression (packagers, section 1.7).
        let text = String(decoding: first.bytes, as: UTF8.self)
        let keys = text.matches(of: /<[a-z]+:PlainValue>([^<]+)<\/[a-z]+:PlainValue>/).map { String($0.1) }
        #expect(keys.count == (version == .v1 ? 1 : 2))
        #expect(Set(keys).count == keys.count)
    }

    @Test func neverPrintsAKey() throws {
        let request = try Self.request("v2_vod_fairplay_video_audio")
        let answer = try Self.answer(request)
        var dumped = ""
        dump(answer, to: &dumped)
        dumped += "\(answer) \(String(reflecting: answer))"
        for key in Documents.keys(for: request) {
            var text = ""
            dump(key, to: &text)
            #expect(!text.contains(Base64.encode(key.key.bytes.revealed())))
            #expect(!dumped.contains(Base64.encode(key.key.bytes.revealed())))
        }
        #expect(dumped.contains("CPIX answer of \(answer.bytes.count) bytes"))
    }

    // MARK: - The document

    @Test func keepsWhatItDoesNotKnow() throws {
        let extra = """
            <x:Extra xmlns:x="urn:x" x:a="1" b="&lt;&amp;">text &amp; more<x:Inner/></x:Extra>
            """
        let document = try Documents.text("v2_vod_fairplay_video_audio")
            .replacing("<cpix:ContentKeyList>", with: extra + "<cpix:ContentKeyList>" + extra)
            .replacing("playlist=\"media\"/>", with: "playlist=\"media\" other=\"x\"/>" + extra)
            .replacing("<cpix:VideoFilter/>", with: "<cpix:VideoFilter wcg=\"true\"/><cpix:LabelFilter label=\"l\"/>")
            .replacing("commonEncryptionScheme", with: "Algorithm=\"a\" dependsOnKey=\"b\" commonEncryptionScheme")
        let before = try MarkupReader.read(Array(document.utf8))
        let after = try Documents.answer(document)
        #expect(after.all("Extra").count == 4)
        #expect(after.all("Extra").allSatisfy { $0 == before.all("Extra")[0] })
        #expect(
            after.elements("ContentKeyUsageRuleList", in: CPIXNamespace.cpix)
                == before.elements("ContentKeyUsageRuleList", in: CPIXNamespace.cpix))
        #expect(after.all("HLSSignalingData").filter { $0.attribute("other") == "x" }.count == 2)
        #expect(after.all("ContentKey").allSatisfy { $0.attribute("Algorithm") == "a" })
        #expect(after.all("ContentKey").allSatisfy { $0.attribute("dependsOnKey") == "b" })
    }

    @Test func echoesIdentifiersAsTheyWereWritten() throws {
        let upper = Documents.videoKeyID.uppercased()
        let document = try Documents.text("v2_vod_fairplay_video_audio").replacing(Documents.videoKeyID, with: upper)
            .replacing(Documents.fairPlay, with: Documents.fairPlay.uppercased())
        let answer = try Documents.answer(document)
        #expect(answer.all("ContentKey").map { $0.attribute("kid") } == [upper, Documents.audioKeyID])
        let systems = answer.all("DRMSystem")
        #expect(systems.allSatisfy { $0.attribute("systemId") == Documents.fairPlay.uppercased() })
        // The URL still contains the key id in lower case.
        #expect(systems[0].all("HLSSignalingData")[0].decodedText?.contains("skd://\(Documents.videoKeyID)\"") == true)
    }

    @Test func removesTheIdentifierOfVersion2() throws {
        let document = try Documents.text("v2_vod_fairplay_video_audio")
            .replacing("contentId=", with: "id=\"other\" contentId=")
        let answer = try Documents.answer(document)
        #expect(answer.attribute("id") == nil)
        #expect(answer.attribute("contentId") == "movie-001")
        #expect(answer.attribute("version") == "2.3")
        #expect(try Documents.answer(Documents.text("v1_vod_fairplay"), .v1).attribute("id") == "movie-001")
    }

    @Test func declaresBothNamespacesOnTheRoot() throws {
        let document = try Documents.text("v2_vod_fairplay_video_audio")
        let pskc = " xmlns:pskc=\"urn:ietf:params:xml:ns:keyprov:pskc\""
        let taken = " xmlns:pskc=\"urn:other\""
        let asDefault = " xmlns=\"urn:ietf:params:xml:ns:keyprov:pskc\""
        for change in [pskc, "", taken, asDefault, taken + " xmlns:pskc1=\"urn:third\""] {
            let answer = try Documents.answer(document.replacing(pskc, with: change))
            #expect(answer.declarations.contains { $0.uri == CPIXNamespace.cpix })
            #expect(answer.declarations.contains { $0.uri == CPIXNamespace.pskc && !$0.prefix.isEmpty })
            let values = answer.all("PlainValue")
            #expect(values.count == 2)
            #expect(values.allSatisfy { $0.namespace == CPIXNamespace.pskc && !$0.prefix.isEmpty })
            #expect(values.allSatisfy { $0.attributes.isEmpty && $0.declarations.isEmpty })
        }
    }

    @Test func readsAndKeepsPrefixesOfAnyName() throws {
        let answer = try Documents.answer(Documents.text("v2_odd_prefixes"))
        #expect(answer.prefix == "k")
        #expect(answer.all("PlainValue").map(\.prefix) == ["odd", "odd"])
        #expect(answer.all("Data").map(\.prefix) == ["k", "k"])
        let document = try Documents.text("v2_odd_prefixes")
        let unprefixed = document.replacing("k:", with: "").replacing("xmlns:k=", with: "xmlns=")
            .replacing("xmlns:odd", with: "xmlns:pksc")
        let other = try Documents.answer(unprefixed)
        #expect(other.all("Data").map(\.prefix) == ["", ""])
        #expect(other.all("Data").allSatisfy { $0.namespace == CPIXNamespace.cpix })
        #expect(other.all("PlainValue").map(\.prefix) == ["pksc", "pksc"])
    }

    /// If an inner element declares the prefix again with another meaning, the prefix is not used there.
    @Test func doesNotUseAPrefixThatIsDeclaredAgain() throws {
        let document = try Documents.text("v2_vod_fairplay_video_audio")
            .replacing("<cpix:ContentKey ", with: "<cpix:ContentKey xmlns:pskc=\"urn:other\" ")
        let answer = try Documents.answer(document)
        #expect(answer.all("PlainValue").allSatisfy { $0.namespace == CPIXNamespace.pskc && $0.prefix == "pskc1" })
        #expect(answer.all("PlainValue").count == 2)
    }

    // MARK: - Signalling

    @Test func signalsFairPlayInVersion1() throws {
        let answer = try Documents.answer(Documents.text("v1_vod_fairplay"), .v1)
        let system = answer.all("DRMSystem")[0]
        #expect(system.all("URIExtXKey").map(\.decodedText) == ["skd://\(Documents.videoKeyID)"])
        #expect(system.all("KeyFormat").map(\.text) == ["Y29tLmFwcGxlLnN0cmVhbWluZ2tleWRlbGl2ZXJ5"])
        #expect(system.all("KeyFormatVersions").map(\.text) == ["MQ=="])
        #expect(system.all("KeyFormat").allSatisfy { $0.namespace == CPIXNamespace.speke })
    }

    /// AWS's own server leaves an empty `PSSH` in the answer. Latchkey removes it.
    @Test func removesPlaceholdersThatFairPlayDoesNotHave() throws {
        let placeholders =
            "<cpix:PSSH/><cpix:ContentProtectionData></cpix:ContentProtectionData>"
            + "<cpix:SmoothStreamingProtectionHeaderData/>"
        let first = try Documents.text("v1_vod_fairplay")
            .replacing("<cpix:URIExtXKey/>", with: placeholders + "<speke:ProtectionHeader/><cpix:URIExtXKey/>")
        let second = try Documents.text("v2_vod_fairplay_video_audio")
            .replacing(
                "<cpix:HLSSignalingData playlist=\"media\"/>",
                with: placeholders + "<cpix:HLSSignalingData playlist=\"media\"/>")
        for answer in [try Documents.answer(first, .v1), try Documents.answer(second)] {
            for name in ["PSSH", "ContentProtectionData", "SmoothStreamingProtectionHeaderData", "ProtectionHeader"] {
                #expect(answer.all(name).isEmpty)
            }
            #expect(!answer.all("DRMSystem").isEmpty)
        }
    }

    @Test(arguments: ["master", "multiVariant"])
    func signalsFairPlayInVersion2(name: String) throws {
        let document = try Documents.text("v2_vod_fairplay_video_audio").replacing("\"master\"", with: "\"\(name)\"")
        let answer = try Documents.answer(document)
        for (system, keyID) in zip(answer.all("DRMSystem"), [Documents.videoKeyID, Documents.audioKeyID]) {
            let data = system.all("HLSSignalingData")
            #expect(data.map { $0.attribute("playlist") } == ["media", name])
            let attributes =
                "METHOD=SAMPLE-AES,URI=\"skd://\(keyID)\",KEYFORMAT=\"com.apple.streamingkeydelivery\","
                + "KEYFORMATVERSIONS=\"1\""
            #expect(
                data.map(\.decodedText) == ["#EXT-X-KEY:\(attributes)", "#EXT-X-SESSION-KEY:\(attributes)"])
        }
    }

    @Test func addsTheLinesThatAreMissing() throws {
        let document = try Documents.text("v2_vod_fairplay_video_audio")
        for removed in ["<cpix:HLSSignalingData playlist=\"media\"/>", "<cpix:HLSSignalingData playlist=\"master\"/>"] {
            let answer = try Documents.answer(document.replacing(removed, with: ""))
            for system in answer.all("DRMSystem") {
                let lines = system.all("HLSSignalingData").compactMap(\.decodedText).compactMap(HLSLine.init)
                #expect(Set(lines.map(\.tag)) == ["#EXT-X-KEY", "#EXT-X-SESSION-KEY"])
            }
        }
        let without = document.replacing("<cpix:HLSSignalingData playlist=\"media\"/>", with: "")
            .replacing("<cpix:HLSSignalingData playlist=\"master\"/>", with: "")
        let answer = try Documents.answer(without)
        #expect(answer.all("DRMSystem").map { $0.all("HLSSignalingData").count } == [2, 2])
        #expect(
            answer.all("HLSSignalingData").map { $0.attribute("playlist") } == ["media", "master", "media", "master"])
    }

    /// Two keys with the same URL lead to garbled video (packagers, section 4).
    @Test func givesNoTwoKeysOneURL() throws {
        let request = try Self.request("v2_vod_fairplay_video_audio")
        let content = try SKDTemplate(presetOrTemplate: "content")
        #expect(throws: CPIXError.keyURL(.notToldApart(.track))) { _ = try Self.answer(request, content) }
        let live = try Self.request("v2_live_fairplay_period")
        let tracks = try SKDTemplate(parsing: "skd://{contentId}/{track}")
        #expect(throws: CPIXError.keyURL(.notToldApart(.period))) { _ = try Self.answer(live, tracks) }
        let single = try Self.request("v1_vod_fairplay", .v1)
        #expect(
            try Self.answer(single, content).bytes.contains(Array(Base64.encode(Array("skd://movie-001".utf8)).utf8)))
        // Without FairPlay there is no key URL.
        let widevine = Contract.of(["SD", "HD"], [Documents.widevine], scheme: "cenc").document
        let other = try CPIXRequest(parsing: Array(widevine.utf8), version: .v20)
        #expect(try !Self.answer(other, content).bytes.isEmpty)
    }

    @Test func saysWhyATemplateGivesNoURL() throws {
        let request = try Self.request("v1_vod_fairplay", .v1)
        #expect(throws: CPIXError.keyURL(.fieldMissing("period"))) {
            _ = try Self.answer(request, try SKDTemplate(parsing: "skd://{kid}/{period}"))
        }
    }

    @Test func usesPeriodTrackAndAuthorityInURLs() throws {
        let request = try Self.request("v2_live_fairplay_period")
        let template = try SKDTemplate(parsing: "skd://{authority}/{contentId}/{track}/{period}")
        let root = try MarkupReader.read(Self.answer(request, template).bytes)
        let urls = root.all("HLSSignalingData").compactMap(\.decodedText).compactMap(HLSLine.init).compactMap {
            $0.attributes["URI"]
        }
        #expect(Set(urls) == ["skd://k.example/movie-001/VIDEO/42", "skd://k.example/movie-001/AUDIO/42"])
    }
}
