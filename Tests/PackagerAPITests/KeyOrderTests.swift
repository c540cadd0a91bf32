import ByteCoding
import ContentKeys
import KeyCrypto
import TestSupport
import Testing

@testable import PackagerAPI

/// Orders in JSON.
@Suite struct KeyOrderTests {
    private static let kid = "7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"
    private static let key = "00112233445566778899aabbccddeeff"
    private static let iv = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

    private static func order(_ text: String) throws -> KeyOrder { try KeyOrder(parsing: Array(text.utf8)) }

    private static func tracks(_ tracks: String) throws -> KeyOrder {
        try order(#"{"contentId": "movie-1", "tracks": [\#(tracks)]}"#)
    }

    @Test func readsNamesOfTracks() throws {
        let order = try Self.tracks(#""VIDEO", "AUDIO", "SD", "HD1", "UHD2", "SD+HD1", "MULTICHANNEL_AUDIO_7", "ALL""#)
        #expect(order.contentID == (try ContentID("movie-1")))
        #expect(
            order.keys.map(\.track.label?.text)
                == ["VIDEO", "AUDIO", "SD", "HD1", "UHD2", "SD+HD1", "MULTICHANNEL_AUDIO_7", nil])
        #expect(order.keys.map(\.track.contentType) == [.sd, .audio, .sd, .hd, .uhd, .hd, .audio, .sd])
        #expect(order.keys.allSatisfy { $0.scheme == .cbcs && $0.periodIndex == nil && $0.keyID == nil })
        #expect(!order.imports && !order.importsAll)
    }

    @Test func readsEverythingOfATrack() throws {
        let order = try Self.order(
            """
            {"contentId": "live/1", "scheme": "sample-aes", "period": 7, "tracks": [
              {"track": "4K", "contentType": "uhd", "kid": "\(Self.kid)", "iv": "\(Self.iv)", "key": "\(Self.key)",
               "hdcp": "type1", "securityLevel": "main"},
              {"track": "AUDIO", "kid": null, "iv": null, "key": null}]}
            """)
        let key = order.keys[0]
        #expect(key.keyID == (try KeyID(parsing: Self.kid)))
        #expect(key.track == (try Track(label: TrackLabel("4K"), contentType: .uhd)))
        #expect(key.scheme == .sampleAES && key.periodIndex == 7)
        #expect(key.iv.map { Hexadecimal.encode($0.bytes) } == Self.iv)
        #expect(key.key.map { Hexadecimal.encode($0.bytes.revealed()) } == Self.key)
        #expect(key.leastHDCP == .type1 && key.leastSecurityLevel == .main)
        #expect(order.keys[1].key == nil && order.keys[1].keyID == nil && order.keys[1].scheme == .sampleAES)
        #expect(order.imports && !order.importsAll)
    }

    /// The tracks get their keys in the order of the text.
    @Test func givesEachTrackItsOwnKey() throws {
        let order = try Self.tracks(
            """
            {"key": "\(Self.key)", "iv": "\(Self.iv)", "track": "HD"}, "AUDIO",
            {"track": "SD", "iv": "\(Self.iv)", "key": "\(String(Self.key.reversed()))"}
            """)
        #expect(
            order.keys.map { $0.key.map { Hexadecimal.encode($0.bytes.revealed()) } }
                == [Self.key, nil, String(Self.key.reversed())])
    }

    @Test(
        arguments: [
            (#""HD", 7"#, "tracks[1]"), (#""""#, "tracks[0]"), (#""a b""#, "tracks[0]"),
            (#""mine""#, "tracks[0].contentType"), (#""VIDEO+AUDIO""#, "tracks[0].contentType"),
            (#"{"track": "HD", "contentType": "sd"}"#, "tracks[0].contentType"),
            (#"{"track": "HD", "contentType": "8k"}"#, "tracks[0].contentType"),
            (#"{"contentType": "hd"}"#, "tracks[0].track"),
            (#"{"track": "HD", "kid": "x"}"#, "tracks[0].kid"), (#"{"track": "HD", "kid": 1}"#, "tracks[0].kid"),
            (#"{"track": "HD", "iv": "00"}"#, "tracks[0].iv"),
            (#"{"track": "HD", "iv": "\#(iv)0"}"#, "tracks[0].iv"),
            (#"{"track": "HD", "key": "\#(key)"}"#, "tracks[0].iv"),
            (#"{"track": "HD", "iv": "\#(iv)", "key": "00"}"#, "tracks[0].key"),
            (#"{"track": "HD", "iv": "\#(iv)", "key": 1}"#, "tracks[0].key"),
            (#"{"track": "HD", "iv": "\#(iv)", "key": ""}"#, "tracks[0].key"),
            (#"{"track": "HD", "iv": "\#(iv)", "key": "0"}"#, "tracks[0].key"),
            (#"{"track": "HD", "iv": "\#(iv)", "key": "\#(String(repeating: "x", count: 32))"}"#, "tracks[0].key"),
            (#"{"track": "HD", "iv": "\#(iv)", "k\u0065y": "\#(key)"}"#, "tracks[0].key"),
            (#"{"track": "HD", "hdcp": "type2"}"#, "tracks[0].hdcp"),
            (#""HD", "HD""#, "tracks[1]"),
            (#"{"track": "HD", "kid": "\#(kid)"}, "HD""#, "tracks[1]"),
            (#""HD", "SD", {"track": "HD", "kid": "\#(kid)"}"#, "tracks[0]"),
            (#"{"track": "ALL", "kid": "\#(kid)"}, "ALL""#, "tracks[1]"),
            (#"{"track": "HD", "kid": "\#(kid)"}, {"track": "SD", "kid": "\#(kid)"}"#, "tracks[1].kid"),
            ("", "tracks"),
        ])
    func namesTheMemberOfATrackThatIsWrong(tracks: String, member: String) throws {
        do throws(KeyOrderFault) {
            _ = try KeyOrder(parsing: Array(#"{"contentId": "movie-1", "tracks": [\#(tracks)]}"#.utf8))
            Issue.record("\(tracks) was taken")
        } catch {
            #expect(error.member == member)
            #expect(!error.description.contains(Self.key))
        }
    }

    @Test(
        arguments: [
            ("{}", "contentId"), (#"{"contentId": "a b", "tracks": ["HD"]}"#, "contentId"),
            (#"{"contentId": "c"}"#, "tracks"), (#"{"contentId": "c", "tracks": "HD"}"#, "tracks"),
            (#"{"contentId": "c", "tracks": ["HD"], "scheme": "aes"}"#, "scheme"),
            (#"{"contentId": "c", "tracks": ["HD"], "period": -1}"#, "period"),
            (#"{"contentId": "c", "tracks": ["HD"], "period": 4294967296}"#, "period"),
            (#"{"contentId": "c", "tracks": ["HD"], "period": "1"}"#, "period"),
            (#"{"contentId": "c", "tracks": ["HD"], "key": "\#(key)"}"#, nil),
            (#"{"contentId": "c", "tracks": [{"track": "HD", "x": 1}]}"#, nil),
            ("", nil), ("[]", nil), (#"{"contentId": "c", "contentId": "c", "tracks": ["HD"]}"#, nil),
        ] as [(String, String?)])
    func namesTheMemberThatIsWrong(text: String, member: String?) throws {
        do throws(KeyOrderFault) {
            _ = try KeyOrder(parsing: Array(text.utf8))
            Issue.record("\(text) was taken")
        } catch {
            #expect(error.member == member)
            #expect(!error.description.contains(Self.key))
        }
    }

    /// Says before a key is stored whether it has a URL of its own.
    @Test func checksTheURLsOfItsKeys() throws {
        let tracks = try SKDTemplate(parsing: "skd://{contentId}/{track}")
        let order = try Self.tracks(#""HD", "AUDIO""#)
        for template in [tracks, .standard] { try order.checkURLs(template, authority: nil) }
        #expect(throws: KeyExportError.url(.fieldMissing("track"))) {
            try Self.tracks(#""HD", "ALL""#).checkURLs(tracks, authority: nil)
        }
        let twice = try Self.tracks(
            #"{"track": "HD", "kid": "\#(Self.kid)"}, {"track": "HD", "kid": "\#(Self.key)"}"#)
        #expect(throws: KeyExportError.sharedURL) { try twice.checkURLs(tracks, authority: nil) }
        try twice.checkURLs(.standard, authority: nil)
        let long = try Self.order(#"{"contentId": "\#(String(repeating: "c", count: 198))", "tracks": ["HD"]}"#)
        #expect(throws: KeyExportError.url(.tooLong(207))) { try long.checkURLs(tracks, authority: nil) }
    }

    @Test func refusesMoreKeysThanThereMayBe() throws {
        let tracks = { (count: Int) in (0..<count).map { #"{"track": "t\#($0)", "contentType": "hd"}"# } }
        #expect(try Self.tracks(tracks(64).joined(separator: ",")).keys.count == 64)
        #expect(throws: KeyOrderFault.self) { _ = try Self.tracks(tracks(65).joined(separator: ",")) }
    }

    @Test func refusesEveryTruncation() throws {
        let text = #"{"contentId": "c", "tracks": [{"track": "HD", "iv": "\#(Self.iv)", "key": "\#(Self.key)"}]}"#
        #expect(try Self.order(text).keys.count == 1)
        for size in 0..<text.utf8.count {
            #expect(throws: KeyOrderFault.self) { _ = try KeyOrder(parsing: Array(text.utf8.prefix(size))) }
        }
    }
}
