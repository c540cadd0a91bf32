import Foundation
import Testing

/// A request of SPEKE v2 with one key for each rule, for every listed system (packagers, section 1.7).
struct Contract: Sendable, CustomTestStringConvertible {
    struct Rule: Sendable {
        let trackType: String
        /// The filters as XML.
        let filters: String
    }

    var name: String
    var rules: [Rule]
    var systems: [String]
    var scheme: String

    var testDescription: String { "\(name), \(systems.count) systems, \(scheme)" }

    static func keyID(_ index: Int) -> String {
        "00000000-0000-4000-8000-0000000000" + String(0x10 + index, radix: 16)
    }

    var document: String {
        let keys = rules.indices.map { index in
            "<cpix:ContentKey kid=\"\(Self.keyID(index))\" commonEncryptionScheme=\"\(scheme)\"/>"
        }
        let entries = rules.indices.flatMap { index in
            systems.map { system in
                "<cpix:DRMSystem kid=\"\(Self.keyID(index))\" systemId=\"\(system)\"><cpix:PSSH/>"
                    + (system == Documents.fairPlay ? "" : "<cpix:ContentProtectionData/>")
                    + "<cpix:HLSSignalingData playlist=\"media\"/><cpix:HLSSignalingData playlist=\"master\"/>"
                    + "</cpix:DRMSystem>"
            }
        }
        let usage = rules.enumerated().map { index, rule in
            "<cpix:ContentKeyUsageRule kid=\"\(Self.keyID(index))\" intendedTrackType=\"\(rule.trackType)\">"
                + rule.filters + "</cpix:ContentKeyUsageRule>"
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <cpix:CPIX contentId="movie-001" version="2.3" xmlns:cpix="urn:dashif:org:cpix" \
            xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc">
            <cpix:ContentKeyList>\(keys.joined())</cpix:ContentKeyList>
            <cpix:DRMSystemList>\(entries.joined())</cpix:DRMSystemList>
            <cpix:ContentKeyUsageRuleList>\(usage.joined())</cpix:ContentKeyUsageRuleList>
            </cpix:CPIX>
            """
    }

    // MARK: - SPEKE's presets (packagers, sections 1.4 and 1.7)

    private static let filters: [String: String] = [
        "VIDEO": "<cpix:VideoFilter/>", "AUDIO": "<cpix:AudioFilter/>",
        "SD": "<cpix:VideoFilter maxPixels=\"589824\"/>",
        "HD": "<cpix:VideoFilter minPixels=\"589825\"/>",
        "HD1": "<cpix:VideoFilter minPixels=\"589825\" maxPixels=\"921600\"/>",
        "HD2": "<cpix:VideoFilter minPixels=\"921601\" maxPixels=\"2073600\"/>",
        "SD+HD1": "<cpix:VideoFilter maxPixels=\"921600\"/>",
        "UHD": "<cpix:VideoFilter minPixels=\"2073601\"/>",
        "UHD1": "<cpix:VideoFilter minPixels=\"2073601\" maxPixels=\"8847360\"/>",
        "UHD2": "<cpix:VideoFilter minPixels=\"8847361\"/>",
        "STEREO_AUDIO": "<cpix:AudioFilter maxChannels=\"2\"/>",
        "MULTICHANNEL_AUDIO": "<cpix:AudioFilter minChannels=\"3\"/>",
        "MULTICHANNEL_AUDIO_3_6": "<cpix:AudioFilter minChannels=\"3\" maxChannels=\"6\"/>",
        "MULTICHANNEL_AUDIO_7": "<cpix:AudioFilter minChannels=\"7\"/>",
        "ALL": "<cpix:VideoFilter/><cpix:AudioFilter/>",
    ]

    static func of(
        _ trackTypes: [String], _ systems: [String] = [Documents.fairPlay], scheme: String = "cbcs"
    ) -> Contract {
        let rules = trackTypes.map { Rule(trackType: $0, filters: filters[$0] ?? "") }
        return Contract(name: trackTypes.joined(separator: " "), rules: rules, systems: systems, scheme: scheme)
    }

    static let presets = [
        ["VIDEO", "AUDIO"], ["SD", "HD", "UHD", "STEREO_AUDIO", "MULTICHANNEL_AUDIO"],
        ["SD", "HD1", "HD2", "UHD1", "UHD2", "STEREO_AUDIO", "MULTICHANNEL_AUDIO_3_6", "MULTICHANNEL_AUDIO_7"],
        ["SD+HD1", "HD2", "UHD1", "UHD2", "STEREO_AUDIO", "MULTICHANNEL_AUDIO"], ["SD", "HD"],
        ["STEREO_AUDIO", "MULTICHANNEL_AUDIO"],
    ]

    /// Each preset for each combination of systems: `cbcs` with FairPlay, `cenc` without it.
    static let presetCases: [Contract] = presets.flatMap { trackTypes in
        (1...7).map { combination in
            let systems = [Documents.fairPlay, Documents.widevine, Documents.playReady].enumerated()
                .filter { combination & 1 << $0.offset != 0 }.map(\.element)
            return of(trackTypes, systems, scheme: combination & 1 == 1 ? "cbcs" : "cenc")
        }
    }
}
