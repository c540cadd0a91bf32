import ByteCoding
import ContentKeys
import KeyCrypto
import TestSupport
import Testing

@testable import PackagerAPI

/// The formats for other packagers (packagers, sections 2 and 7). The options are compared with commands that have
/// worked with these packagers.
@Suite struct KeyExportTests {
    private static let videoID = "7b1d0c9e52a44e0b9c610a5f3b8d2e11"
    private static let audioID = "c4e8a2f09d3b4b778f156e2d90b1a7c3"
    private static let key = "00112233445566778899aabbccddeeff"
    private static let iv = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
    private static let url = "skd://7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"

    private static func record(
        _ keyID: String = videoID, _ label: String? = nil, type: ContentType? = nil, period: UInt32? = nil,
        scheme: EncryptionScheme = .cbcs, content: String = "movie-001"
    ) throws -> ContentKeyRecord {
        try ContentKeyRecord(
            attributes: ContentKeyAttributes(
                keyID: KeyID(parsing: keyID), contentID: ContentID(content),
                track: Track(label: label.map { (text) throws in try TrackLabel(text) }, contentType: type),
                periodIndex: period, scheme: scheme, createdAt: 0),
            key: ContentKey(SecretBytes(copying: hex(key))), iv: Bytes16(hex(iv), at: 0))
    }

    private static func document(
        _ records: [ContentKeyRecord], _ format: KeyExportFormat, _ template: SKDTemplate = .standard
    ) throws -> [UInt8] {
        try KeyExport(records, urls: template, authority: "keys.example.com").document(format)
    }

    private static func text(
        _ records: [ContentKeyRecord], _ format: KeyExportFormat, _ template: SKDTemplate = .standard
    ) throws -> String {
        String(decoding: try document(records, format, template), as: UTF8.self)
    }

    @Test func writesOptionsOfShakaPackager() throws {
        let template = try SKDTemplate(parsing: "skd://{authority}/fps/v1/license/{kidHex}")
        let options =
            "--protection_scheme cbcs --protection_systems FairPlay --enable_raw_key_encryption --clear_lead 0"
            + " --create_session_keys"
        #expect(
            try Self.text([Self.record(), Self.record(Self.audioID, "AUDIO")], .shaka, template)
                == [Self.videoID, Self.audioID].map { keyID in
                    "\(options) --keys label=:key_id=\(keyID):key=\(Self.key):iv=\(Self.iv)"
                        + " --hls_key_uri 'skd://keys.example.com/fps/v1/license/\(keyID)'\n"
                }.joined())
    }

    @Test func writesAPipelineOfShakaStreamer() throws {
        #expect(
            try Self.text([Self.record()], .shakaStreamer) == """
                encryption:
                  enable: true
                  encryption_mode: raw
                  protection_scheme: cbcs
                  protection_systems:
                    - FairPlay
                  clear_lead: 0
                  keys:
                    - key_id: "\(Self.videoID)"
                      key: "\(Self.key)"
                  iv: "\(Self.iv)"
                  hls_key_uri: 'skd://7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11'

                """)
    }

    @Test func writesOptionsOfBento4() throws {
        let url = "skd://7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"
        #expect(
            try Self.text([Self.record()], .bento4)
                == "--hls --encryption-cenc-scheme=cbcs --encryption-key=\(Self.videoID):\(Self.key):\(Self.iv)"
                + " --fairplay-key-uri='\(url)'\n")
        #expect(
            try Self.text([Self.record(scheme: .sampleAES)], .bento4)
                == "--encryption-mode SAMPLE-AES --encryption-iv-mode fps --encryption-key \(Self.key)\(Self.iv)"
                + " --encryption-key-uri '\(url)' --encryption-key-format com.apple.streamingkeydelivery"
                + " --encryption-key-format-versions 1\n")
    }

    @Test(arguments: [EncryptionScheme.cbcs, .sampleAES])
    func writesEitherFormOfBento4(scheme: EncryptionScheme) throws {
        let record = try Self.record(scheme: scheme)
        #expect(
            try Self.text([record], .bento4DASH)
                == "--hls --encryption-cenc-scheme=cbcs --encryption-key=\(Self.videoID):\(Self.key):\(Self.iv)"
                + " --fairplay-key-uri='\(Self.url)'\n")
        #expect(
            try Self.text([record], .bento4HLS)
                == "--encryption-mode SAMPLE-AES --encryption-iv-mode fps --encryption-key \(Self.key)\(Self.iv)"
                + " --encryption-key-uri '\(Self.url)' --encryption-key-format com.apple.streamingkeydelivery"
                + " --encryption-key-format-versions 1\n")
    }

    @Test func writesADRMFileOfGPAC() throws {
        let text = try Self.text([Self.record()], .gpac)
        #expect(
            text == """
                <?xml version="1.0" encoding="UTF-8"?>
                <GPACDRM type="cbcs">
                  <CrypTrack IsEncrypted="1" constant_IV_size="16" constant_IV="0x\(Self.iv)" saiSavedBox="senc" \
                crypt_byte_block="1" skip_byte_block="9">
                    <key KID="0x\(Self.videoID)" value="0x\(Self.key)" hlsInfo='URI="\(Self.url)",\
                KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"'/>
                  </CrypTrack>
                </GPACDRM>

                """)
        // The document is XML with any URL.
        let template = try SKDTemplate(parsing: "skd://{kid}?a='<&>'")
        let root = try MarkupReader.read(Self.document([Self.record()], .gpac, template))
        #expect(root.all("key").first?.attribute("hlsInfo")?.hasPrefix("URI=\"\(Self.url)?a='<&>'\",KEY") == true)
        // Audio samples are encrypted completely.
        let audio = try MarkupReader.read(Self.document([Self.record(Self.audioID, "AUDIO")], .gpac))
        #expect(audio.all("CrypTrack").first?.attribute("crypt_byte_block") == nil)
        let streams = try MarkupReader.read(Self.document([Self.record(scheme: .sampleAES)], .gpac))
        #expect(streams.attribute("type") == "HLS SAES")
    }

    @Test func writesAKeyFileOfWowza() throws {
        #expect(
            try Self.text([Self.record()], .wowza) == """
                cupertinostreaming-aes128-method: SAMPLE-AES
                cupertinostreaming-aes128-url: \(Self.url)
                cupertinostreaming-aes128-key: \(Self.key)
                cupertinostreaming-aes128-iv: \(Self.iv)
                cupertinostreaming-aes128-iv-include-in-chunklist: false
                cupertinostreaming-aes128-key-format: com.apple.streamingkeydelivery
                cupertinostreaming-aes128-key-format-version: 1

                """)
    }

    @Test func writesOptionsOfMP4Split() throws {
        let options =
            "--hls.key=:\(Self.key) --hls.key_iv=\(Self.iv) --hls.license_server_url='\(Self.url)'"
            + " --hls.playout=sample_aes_streamingkeydelivery"
        #expect(
            try Self.text([Self.record()], .usp)
                == "\(options) --iss.key=\(Self.videoID):\(Self.key) --iss.key_iv=\(Self.iv)\n")
        #expect(try Self.text([Self.record(scheme: .sampleAES)], .usp) == "\(options)\n")
    }

    @Test func writesSettingsOfMediaConvert() throws {
        #expect(
            try Self.text([Self.record()], .mediaConvert)
                == #"{"EncryptionMethod":"SAMPLE_AES","Type":"STATIC_KEY","#
                + #""ConstantInitializationVector":"\#(Self.iv)","InitializationVectorInManifest":"EXCLUDE","#
                + #""OfflineEncrypted":"ENABLED","StaticKeyProvider":{"KeyFormat":"com.apple.streamingkeydelivery","#
                + #""KeyFormatVersions":"1","StaticKeyValue":"\#(Self.key)","Url":"\#(Self.url)"}}"#)
    }

    @Test func writesADRMOfBitmovin() throws {
        #expect(
            try Self.text([Self.record()], .bitmovin)
                == #"{"key":"\#(Self.key)","kid":"\#(Self.videoID)","encryptionMode":"CBC","#
                + #""fairPlay":{"iv":"\#(Self.iv)","uri":"\#(Self.url)"}}"#)
        #expect(
            try Self.text([Self.record(scheme: .sampleAES)], .bitmovin)
                == #"{"key":"\#(Self.key)","iv":"\#(Self.iv)","uri":"\#(Self.url)"}"#)
    }

    @Test func writesJSON() throws {
        let records = try [Self.record(), Self.record(Self.audioID, "AUDIO", period: 7, scheme: .sampleAES)]
        #expect(
            try Self.text(records, .json)
                == #"{"contentId":"movie-001","keys":[{"kid":"7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11","track":null,"#
                + #""contentType":"sd","period":null,"scheme":"cbcs","hdcp":null,"securityLevel":null,"#
                + #""key":"\#(Self.key)","iv":"\#(Self.iv)","#
                + #""url":"\#(Self.url)"},{"kid":"c4e8a2f0-9d3b-4b77-8f15-6e2d90b1a7c3","track":"AUDIO","#
                + #""contentType":"audio","period":7,"scheme":"sample-aes","hdcp":null,"securityLevel":null,"#
                + #""key":"\#(Self.key)","iv":"\#(Self.iv)","#
                + #""url":"skd://c4e8a2f0-9d3b-4b77-8f15-6e2d90b1a7c3"}]}"#)
    }

    /// The module expects an array with exactly one object.
    @Test func writesTheJSONOfNginxVOD() throws {
        let parsed = try JSONReader.parse(Self.document([Self.record()], .nginxVOD))
        guard case .array(let elements) = parsed.value, elements.count == 1, let object = elements[0].object else {
            Issue.record("not an array with one object")
            return
        }
        #expect(object.members.map(\.name) == ["key", "key_id", "iv"])
        let values = [Self.key, Self.videoID, Self.iv].map { Base64.encode(hex($0)) }
        #expect(object.members.map(\.node.string) == values)
    }

    @Test func writesTheKeyFileOfMediaFileSegmenter() throws {
        #expect(try hex(Self.document([Self.record()], .mediaFileSegmenter)) == Self.key + Self.iv)
    }

    @Test func writesLinesOfPlaylists() throws {
        let attributes =
            "METHOD=SAMPLE-AES,URI=\"skd://7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11\","
            + "KEYFORMAT=\"com.apple.streamingkeydelivery\",KEYFORMATVERSIONS=\"1\""
        let text = try Self.text([Self.record()], .hls)
        #expect(text == "#EXT-X-KEY:\(attributes)\n#EXT-X-SESSION-KEY:\(attributes)\n")
        #expect(!text.contains(Self.key))
    }

    @Test func writesACPIXDocument() throws {
        let records = try [
            Self.record(Self.videoID, "HD", period: 7), Self.record(Self.audioID, "AUDIO", period: 7),
            Self.record("00000000000040008000000000000001", "HD", period: 8),
            Self.record("00000000000040008000000000000002", "mine", type: .uhd, period: 8),
        ]
        let root = try MarkupReader.read(Self.document(records, .cpix))
        #expect(root.attribute("contentId") == "movie-001")
        #expect(root.attribute("version") == "2.3")
        #expect(root.all("ContentKey").map { $0.attribute("kid") } == records.map(\.keyID.description))
        #expect(root.all("PlainValue").map(\.text) == [String](repeating: Base64.encode(hex(Self.key)), count: 4))
        #expect(root.all("ContentKey").allSatisfy { $0.attribute("explicitIV") == Base64.encode(hex(Self.iv)) })
        #expect(root.all("HLSSignalingData").count == 8)
        #expect(root.all("ContentKeyPeriod").map { $0.attribute("index") } == ["7", "8"])
        let rules = root.all("ContentKeyUsageRule")
        #expect(rules.map { $0.attribute("intendedTrackType") } == ["HD", "AUDIO", "HD", "mine"])
        #expect(rules[0].all("VideoFilter").map { $0.attribute("maxPixels") } == ["2073600"])
        #expect(rules[3].all("VideoFilter").map { $0.attribute("minPixels") } == ["2073601"])
    }

    @Test func writesACPIXDocumentForTransportStreamsAndForAllTracks() throws {
        let root = try MarkupReader.read(Self.document([Self.record(scheme: .sampleAES)], .cpix))
        #expect(root.attribute("version") == "2.4")
        #expect(root.all("ContentKey").map { $0.attribute("commonEncryptionScheme") } == ["SAMPLE-AES"])
        #expect(root.all("ContentKeyUsageRule").map { $0.attribute("intendedTrackType") } == ["ALL"])
    }

    @Test(arguments: KeyExportFormat.allCases)
    func refusesWhatAFormCannotHold(format: KeyExportFormat) throws {
        #expect(throws: KeyExportError.noKey) { _ = try Self.document([], format) }
        let two = try [Self.record(Self.videoID, "HD"), Self.record(Self.audioID, "AUDIO")]
        if format.takesOneKey {
            #expect(throws: KeyExportError.oneKeyOnly) { _ = try Self.document(two, format) }
        } else {
            #expect(try !Self.document(two, format).isEmpty)
        }
        let alike = try [Self.record(Self.videoID), Self.record(Self.audioID)]
        let withoutURL: [([ContentKeyRecord], String, KeyExportError)] = [
            (two, "skd://{contentId}", .url(.notToldApart(.track))), (alike, "skd://{contentId}", .sharedURL),
            (two, "skd://{kid}/{period}", .url(.fieldMissing("period"))),
        ]
        for (records, template, fault) in withoutURL {
            let template = try SKDTemplate(parsing: template)
            if [.json, .nginxVOD, .mediaFileSegmenter].contains(format) {
                let keys = format.takesOneKey ? Array(records.prefix(1)) : records
                #expect(try !Self.document(keys, format, template).isEmpty)
            } else {
                #expect(throws: fault) { _ = try Self.document(records, format, template) }
            }
        }
        let other = try [Self.record(), Self.record(Self.audioID, content: "other")]
        #expect(throws: KeyExportError.severalContents) { _ = try Self.document(other, format) }
        #expect(!format.contentType.isEmpty)
    }

    /// A key without a URL does not hide the others of its content.
    @Test func aKeyWithoutAURLIsInTheList() throws {
        let keys = try [Self.record(Self.videoID, "HD"), Self.record(Self.audioID)]
        let bytes = try Self.document(keys, .json, SKDTemplate(parsing: "skd://{contentId}/{track}"))
        let listed = try #require(try JSONReader.parse(bytes).object?["keys"]?.array)
        #expect(listed.map { $0.object?["url"]?.string?.hasSuffix("/HD") } == [true, nil])
        #expect(listed.map { $0.object?["kid"]?.string } == keys.map(\.keyID.description))
    }

    /// FairPlay cannot play a stream with such a key. Without this refusal the stream could be made, and the fault
    /// would be found late.
    @Test(arguments: KeyExportFormat.allCases, [EncryptionScheme.cenc, .cens, .cbc1])
    func makesNoFairPlayStreamOfAnotherScheme(format: KeyExportFormat, scheme: EncryptionScheme) throws {
        let record = try Self.record(scheme: scheme)
        switch format {
        case .shaka, .shakaStreamer, .bento4, .bento4DASH, .bento4HLS, .gpac, .wowza, .usp, .mediaConvert, .bitmovin,
            .mediaFileSegmenter, .hls:
            #expect(throws: KeyExportError.schemeNotPlayed(record.keyID, scheme)) {
                _ = try Self.document([record], format)
            }
        case .nginxVOD:
            #expect(try Self.document([record], format) == Self.document([Self.record()], format))
        case .json: #expect(try Self.text([record], format).contains("\"scheme\":\"\(scheme.rawValue)\""))
        case .cpix:
            let root = try MarkupReader.read(Self.document([record], format))
            #expect(root.all("ContentKey").map { $0.attribute("commonEncryptionScheme") } == [scheme.rawValue])
            #expect(root.all("PlainValue").map(\.text) == [Base64.encode(hex(Self.key))])
            let systems = [DRMSystem.widevine, .playReady].map(\.identifier.description)
            #expect(root.all("DRMSystem").map { $0.attribute("systemId") } == systems)
        }
    }

    @Test func refusesKeysWithoutAContract() throws {
        let same = try [Self.record(Self.videoID, "HD"), Self.record(Self.audioID, "HD")]
        #expect(throws: KeyExportError.contract(.malformedContract)) { _ = try Self.document(same, .cpix) }
        let mixed = try [Self.record(Self.videoID, "HD"), Self.record(Self.audioID, "SD", scheme: .sampleAES)]
        #expect(throws: KeyExportError.contract(.mixedSchemes)) { _ = try Self.document(mixed, .cpix) }
    }

    /// A URL template may contain an apostrophe, which must not end the shell's quoted text.
    @Test func quotesURLsForShells() throws {
        let template = try SKDTemplate(parsing: "skd://{kid}'$(x)")
        let url = "skd://7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"
        #expect(try Self.text([Self.record()], .shaka, template).hasSuffix("--hls_key_uri '\(url)'\\''$(x)'\n"))
        #expect(try Self.text([Self.record()], .shakaStreamer, template).contains("hls_key_uri: '\(url)''$(x)'"))
    }
}
