import ByteCoding
import CommandSupport
import FairPlay
import KeyCrypto
import Testing

@testable import OperatorCommands

/// Requests in the form of the SDK's test inputs. They are made here.
@Suite struct SDKTestInputTests {
    private static let key = "000102030405060708090a0b0c0d0e0f"
    private static let other = "F0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF"

    /// A request for a license, with trailing commas.
    private static func text(_ info: String, name: String = "create-ckc", more: String = "") -> [UInt8] {
        Array(
            """
            { "fairplay-streaming-request": { "version": 1, "\(name)": [
                { "id": 1, "spc": "AAAAAQ==", \(more) "asset-info": [{ \(info), },], },
            ], }, }
            """.utf8)
    }

    private func license(_ info: String) throws -> LibraryLicense? {
        guard case .license(let license) = try SDKTestInput(parsing: Self.text(info)).wish else { return nil }
        return license
    }

    @Test func readsARequest() throws {
        let input = try SDKTestInput(parsing: Self.text(#""content-type": "sd""#))
        #expect(input.message == [0, 0, 0, 1])
        let license = try #require(
            try license(#""content-key": "\#(Self.key)", "content-iv": "\#(Self.other)", "content-type": "uhd""#))
        #expect(license.key.bytes.revealed() == Array(0...15) && license.iv.bytes == Array(0xF0...0xFF))
        #expect(
            license.terms == LibraryTerms(contentType: .uhd, scheme: .cbcs, hdcp: .type0, validity: .session))
    }

    /// The library takes zeros for what is missing.
    @Test func takesZerosForAMissingKey() throws {
        let license = try #require(try license(#""content-type": "audio""#))
        #expect(license.key.bytes.revealed() == [UInt8](repeating: 0, count: 16) && license.iv == .zero)
    }

    private static let limits: [(info: String, validity: LibraryTerms.Validity)] = [
        (#""lease-duration": 600"#, .lease(.init(atLeastOne: 600))),
        (#""offline-hls": {}"#, .kept(.init(name: nil, storage: nil, playback: nil))),
        (
            #""offline-hls": { "rental-duration": 60, "playback-duration": 0 }"#,
            .kept(.init(name: nil, storage: .init(atLeastOne: 60), playback: nil))
        ),
        (
            #""offline-hls": { "stream-id": "\#(key)", "title-id": "\#(other)", "playback-duration": 5 }"#,
            .kept(
                .init(
                    name: (
                        Bytes16(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F),
                        Bytes16(high: 0xF0F1_F2F3_F4F5_F6F7, low: 0xF8F9_FAFB_FCFD_FEFF)
                    ), storage: nil, playback: .init(atLeastOne: 5)))
        ),
    ]

    @Test(arguments: limits)
    func readsTheLimits(info: String, validity: LibraryTerms.Validity) throws {
        let license = try #require(
            try license(#""content-type": "hd", "hdcp-type": 1, "encryption-scheme": "cbc-ts", \#(info)"#))
        #expect(
            license.terms
                == LibraryTerms(contentType: .hd, scheme: .transportStream, hdcp: .type1, validity: validity))
    }

    @Test func tellsOtherWishesApart() throws {
        let scheme = #""content-type": "sd", "encryption-scheme": "cenc-v1""#
        guard case .otherLicense("cenc-v1") = try SDKTestInput(parsing: Self.text(scheme)).wish else {
            Issue.record("this server does not ask for cenc-v1")
            return
        }
        for text in [
            Self.text(#""content-type": "sd""#, name: "get-client-info"),
            Self.text(#""content-type": "sd""#, more: #""check-in": true,"#),
        ] {
            guard case .facts = try SDKTestInput(parsing: text).wish else {
                Issue.record("only the facts are asked for")
                return
            }
        }
    }

    @Test(arguments: [
        (#""content-type": "8k""#, "content-type"), (#""hdcp-type": 0"#, "content-type"),
        (#""content-type": "sd", "hdcp-type": "0""#, "hdcp-type"),
        (#""content-type": "sd", "hdcp-type": 2"#, "hdcp-type"),
        (#""content-type": "sd", "content-key": "00""#, "content-key"),
        (#""content-type": "sd", "content-iv": 5"#, "content-iv"),
        (#""content-type": "sd", "lease-duration": 4294967295"#, "lease-duration"),
        (#""content-type": "sd", "lease-duration": -1"#, "lease-duration"),
        (#""content-type": "sd", "lease-duration": "600""#, "lease-duration"),
        (#""content-type": "sd", "lease-duration": 600, "offline-hls": {}"#, "offline-hls"),
        (#""content-type": "sd", "offline-hls": { "rental-duration": 1.5 }"#, "rental-duration"),
        (#""content-type": "sd", "offline-hls": { "stream-id": "00" }"#, "stream-id"),
    ])
    func namesTheMemberThatIsWrong(info: String, member: String) {
        #expect(throws: SDKTestInputFault.member(member)) { try SDKTestInput(parsing: Self.text(info)) }
    }

    @Test(arguments: [
        ("{}", "fairplay-streaming-request"), (#"{ "fairplay-streaming-request": {} }"#, "get-client-info"),
        (#"{ "fairplay-streaming-request": { "create-ckc": [] } }"#, "create-ckc"),
        (#"{ "fairplay-streaming-request": { "create-ckc": [{}, {}] } }"#, "create-ckc"),
        (#"{ "fairplay-streaming-request": { "create-ckc": [{ "spc": "" }] } }"#, "spc"),
        (#"{ "fairplay-streaming-request": { "create-ckc": [{ "spc": "AA==" }] } }"#, "asset-info"),
    ])
    func refusesOtherTexts(text: String, member: String) {
        #expect(throws: SDKTestInputFault.member(member)) { try SDKTestInput(parsing: Array(text.utf8)) }
    }

    @Test func refusesWhatIsNotJSON() {
        #expect(throws: SDKTestInputFault.self) { try SDKTestInput(parsing: Array("{".utf8)) }
    }
}
