import ByteCoding
import ContentKeys
import Foundation
import Testing

@testable import PackagerAPI

/// Encryption contracts (packagers, sections 1.4 and 1.7).
@Suite struct EncryptionContractTests {
    private static let bothFilters = "<cpix:VideoFilter/><cpix:AudioFilter/>"

    private static func rule(_ trackType: String, _ filters: String) -> Contract.Rule {
        Contract.Rule(trackType: trackType, filters: filters)
    }

    private static func contract(_ rules: Contract.Rule...) -> Contract {
        Contract(
            name: rules.map { "\($0.trackType) \($0.filters)" }.joined(separator: ", "), rules: rules,
            systems: [Documents.fairPlay], scheme: "cbcs")
    }

    @Test(arguments: Contract.presetCases)
    func answersEveryPreset(contract: Contract) throws {
        let answer = try Documents.answer(contract.document)
        let keys = answer.all("ContentKey")
        #expect(keys.count == contract.rules.count)
        #expect(Set(keys.map { $0.attribute("kid") }).count == keys.count)
        #expect(keys.allSatisfy { $0.attribute("commonEncryptionScheme") == contract.scheme })
        #expect(keys.allSatisfy { $0.all("PlainValue").map(\.text.isEmpty) == [false] })
        #expect(answer.all("DRMSystem").count == keys.count * contract.systems.count)
        let types = answer.all("ContentKeyUsageRule").map { $0.attribute("intendedTrackType") }
        #expect(types == contract.rules.map(\.trackType))
    }

    @Test func countsAllPresets() {
        #expect(Contract.presetCases.count == 42)
    }

    /// The document of SPEKE v1 with the header of v2.
    @Test func answersOneKeyForAllTracks() throws {
        let contract = Contract.of(["ALL"], [Documents.widevine], scheme: "cenc")
        let request = try CPIXRequest(parsing: Array(contract.document.utf8), version: .v20)
        #expect(request.keys.map(\.track) == [.unlabelled])
    }

    @Test(
        arguments: [
            contract(rule("ALL", bothFilters), rule("AUDIO", "<cpix:AudioFilter/>")),
            contract(rule("ALL", "<cpix:VideoFilter/>")), contract(rule("ALL", "<cpix:AudioFilter/>")),
            contract(rule("ALL", bothFilters + "<cpix:VideoFilter/>")),
            contract(rule("ALL", "<cpix:VideoFilter maxPixels=\"1\"/><cpix:AudioFilter/>")),
            contract(rule("ALL", "<cpix:VideoFilter hdr=\"true\"/><cpix:AudioFilter/>")),
            contract(rule("ALL", "<cpix:VideoFilter/><cpix:AudioFilter minChannels=\"3\"/>")),
            contract(rule("ALL+SD", bothFilters)),
            // The two negative contracts of the public suite.
            contract(
                rule("ALL", "<cpix:VideoFilter/>"), rule("ALL", "<cpix:VideoFilter/>"),
                rule("STEREO_AUDIO", "<cpix:AudioFilter/>"), rule("MULTICHANNEL_AUDIO", "<cpix:AudioFilter/>")),
            contract(
                rule("SD", "<cpix:VideoFilter/>"), rule("HD", "<cpix:VideoFilter/>"),
                rule("ALL", "<cpix:AudioFilter/>"), rule("ALL", "<cpix:AudioFilter/>")),
            // Repeated, empty or malformed track types.
            contract(rule("SD", "<cpix:VideoFilter/>"), rule("SD", "<cpix:VideoFilter/>")),
            contract(rule("", "<cpix:VideoFilter/>")), contract(rule("SD+", "<cpix:VideoFilter/>")),
            contract(rule("SD+SD", "<cpix:VideoFilter/>")), contract(rule("two words", "<cpix:VideoFilter/>")),
            // Filters that do not fit the track type, and filters that are missing or cannot match.
            contract(rule("SD", "<cpix:VideoFilter/>"), rule("AUDIO", "<cpix:VideoFilter/>")),
            contract(rule("SD", "<cpix:AudioFilter/>")),
            contract(rule("SD", "<cpix:VideoFilter/>"), rule("HD", "<cpix:BitrateFilter/>")),
            contract(rule("SD", "<cpix:VideoFilter minPixels=\"2\" maxPixels=\"1\"/>")),
            contract(rule("SD", "<cpix:VideoFilter minFps=\"60\" maxFps=\"30\"/>")),
            contract(rule("SD", "<cpix:VideoFilter maxPixels=\"-1\"/>")),
            contract(rule("SD", "<cpix:VideoFilter maxPixels=\"many\"/>")),
            contract(rule("AUDIO", "<cpix:AudioFilter minChannels=\"7\" maxChannels=\"6\"/>")),
        ])
    func refusesMalformedContracts(contract: Contract) {
        let error = Documents.refusal(contract.document)
        #expect(error == .malformedContract)
        #expect(error?.text == "Malformed encryption contract")
    }

    /// One key for video and audio, or for two rules, would give both the same protection.
    @Test(
        arguments: [
            contract(rule("SD+STEREO_AUDIO", bothFilters)), contract(rule("VIDEO", bothFilters)),
            contract(rule("own", bothFilters)), contract(rule("SD+STEREO_AUDIO", "<cpix:VideoFilter/>")),
        ])
    func refusesOneKeyForVideoAndAudio(contract: Contract) {
        let error = Documents.refusal(contract.document)
        #expect(error == .unsupportedContract)
        #expect(error?.text == "Requested CPIX encryption contract not supported")
    }

    @Test func refusesOneKeyForTwoRules() throws {
        let document = Contract.of(["SD", "HD"]).document
        let change = document.replacing(
            "kid=\"\(Contract.keyID(1))\" intendedTrackType", with: "kid=\"\(Contract.keyID(0))\" intendedTrackType")
        #expect(change != document)
        #expect(Documents.refusal(change) == .unsupportedContract)
    }

    @Test func needsARuleForEachKeyAndAKeyForEachRule() throws {
        let document = Contract.of(["SD", "HD"]).document
        let rule = "<cpix:ContentKeyUsageRule kid=\"\(Contract.keyID(1))\""
        #expect(document.contains(rule))
        #expect(Documents.refusal(document.replacing(rule, with: "<cpix:ContentKeyUsageRule")) == .malformedContract)
        let unknown = document.replacing(rule, with: "<cpix:ContentKeyUsageRule kid=\"\(Documents.videoKeyID)\"")
        #expect(Documents.refusal(unknown) == .unknownKeyID(element: "ContentKeyUsageRule"))
        let entry = try #require(document.range(of: rule))
        let end = try #require(document.range(of: "</cpix:ContentKeyUsageRuleList>"))
        let without = document.replacingCharacters(in: entry.lowerBound..<end.lowerBound, with: "")
        #expect(Documents.refusal(without) == .malformedContract)
    }

    /// Live documents may contain keys of two periods.
    @Test func letsATrackTypeHaveAKeyForEachPeriod() throws {
        let filter = "<cpix:VideoFilter/>"
        let live = { (first: String, second: String) in
            let rules = [first, second].map {
                Contract.Rule(trackType: "VIDEO", filters: "<cpix:KeyPeriodFilter periodId=\"\($0)\"/>" + filter)
            }
            let periods =
                "<cpix:ContentKeyPeriodList><cpix:ContentKeyPeriod id=\"a\" index=\"1\"/>"
                + "<cpix:ContentKeyPeriod id=\"b\" index=\"2\"/></cpix:ContentKeyPeriodList>"
            return Contract(name: "live", rules: rules, systems: [Documents.fairPlay], scheme: "cbcs").document
                .replacing("<cpix:ContentKeyUsageRuleList>", with: periods + "<cpix:ContentKeyUsageRuleList>")
        }
        let request = try CPIXRequest(parsing: Array(live("a", "b").utf8), version: .v20)
        #expect(request.keys.map(\.period?.index) == [1, 2])
        #expect(Documents.refusal(live("a", "a")) == .malformedContract)
        #expect(Documents.refusal(live("a", "c")) == .unknownPeriod)
        let both = "a\"/><cpix:KeyPeriodFilter periodId=\"b"
        #expect(Documents.refusal(live("a", both)) == .unsupportedContract)
    }

    /// The filters of a key determine its policy (packagers, section 1.4).
    @Test(
        arguments: [
            ("SD", "<cpix:VideoFilter/>", ContentType.sd), ("HD", "<cpix:VideoFilter minPixels=\"589825\"/>", .hd),
            ("UHD", "<cpix:VideoFilter/>", .uhd), ("AUDIO", "<cpix:AudioFilter/>", .audio),
            ("VIDEO", "<cpix:VideoFilter/>", .sd), ("SD+HD1", "<cpix:VideoFilter maxPixels=\"921600\"/>", .hd),
            ("HD1", "<cpix:VideoFilter minPixels=\"589825\" maxPixels=\"921600\"/>", .hd),
            ("HD2", "<cpix:VideoFilter minPixels=\"921601\" maxPixels=\"2073600\"/>", .hd),
            ("UHD1", "<cpix:VideoFilter minPixels=\"2073601\" maxPixels=\"8847360\"/>", .uhd),
            ("UHD2", "<cpix:VideoFilter minPixels=\"8847361\"/>", .uhd),
            ("UHD2", "<cpix:VideoFilter/>", .uhd), ("HD1", "<cpix:VideoFilter/>", .hd),
            ("SD+HD1", "<cpix:VideoFilter maxPixels=\"589824\"/>", .hd),
            ("mine", "<cpix:VideoFilter maxPixels=\"589824\"/>", .sd),
            ("mine", "<cpix:VideoFilter maxPixels=\"589825\"/>", .hd),
            ("mine", "<cpix:VideoFilter maxPixels=\"2073601\"/>", .uhd),
            ("SD+HD", "<cpix:VideoFilter maxPixels=\"1\"/><cpix:VideoFilter maxPixels=\"2073600\"/>", .hd),
            ("STEREO_AUDIO", "<cpix:AudioFilter maxChannels=\"2\"/>", .audio),
        ])
    func givesEachKeyAContentType(trackType: String, filters: String, type: ContentType) throws {
        let document = Self.contract(Self.rule(trackType, filters)).document
        let request = try CPIXRequest(parsing: Array(document.utf8), version: .v20)
        #expect(request.keys.map(\.track.contentType) == [type])
        #expect(request.keys.map(\.track.label?.text) == [trackType])
    }

    /// The public suite's `SD+HD1` has one filter for its two parts.
    @Test func doesNotCountFilters() {
        let two =
            "<cpix:VideoFilter maxPixels=\"589824\"/><cpix:VideoFilter minPixels=\"589825\" maxPixels=\"921600\"/>"
        for filters in ["<cpix:VideoFilter maxPixels=\"921600\"/>", two] {
            #expect(Documents.refusal(Self.contract(Self.rule("SD+HD1", filters)).document) == nil)
        }
    }
}
