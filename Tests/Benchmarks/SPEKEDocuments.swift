import ByteCoding
import Foundation

/// SPEKE v2 requests for a video and an audio key. Each document has its own content and key ids.
struct SPEKEDocuments {
    /// The number of documents: more than a small cache of answers would hold, and few enough that each is requested
    /// often.
    static let count = 256

    enum Systems: String, CaseIterable {
        case fairPlay = "FairPlay"
        case all = "three systems"

        var identifiers: [String] {
            let fairPlay = "94ce86fb-07ff-4f43-adb8-93d2fa968ca2"
            return switch self {
            case .fairPlay: [fairPlay]
            case .all: [fairPlay, "edef8ba9-79d6-4ace-a3c8-27dcd51d21ed", "9a04f079-9840-4286-ab92-e65be0885f95"]
            }
        }
    }

    let bodies: [[UInt8]]

    init(_ systems: Systems) {
        bodies = (0..<Self.count).map { Array(Self.text($0, systems).utf8) }
    }

    private static let tracks = [("VIDEO", "Video"), ("AUDIO", "Audio")]

    private static func text(_ number: Int, _ systems: Systems) -> String {
        let keyIDs = tracks.indices.map { KeyID(words: Bytes16(high: 0x7B1D_0C9E_52A4_4E0B, low: key(number, $0))) }
        let keys = keyIDs.map { "<cpix:ContentKey kid=\"\($0)\" commonEncryptionScheme=\"cbcs\"/>" }
        let signalling = keyIDs.flatMap { keyID in systems.identifiers.map { system(keyID, $0) } }
        let rules = zip(keyIDs, tracks).map { keyID, track in
            """
            <cpix:ContentKeyUsageRule kid="\(keyID)" intendedTrackType="\(track.0)"><cpix:\(track.1)Filter/>\
            </cpix:ContentKeyUsageRule>
            """
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <cpix:CPIX contentId="benchmark-\(number)" version="2.3" xmlns:cpix="urn:dashif:org:cpix" \
            xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc">
            <cpix:ContentKeyList>\(keys.joined())</cpix:ContentKeyList>
            <cpix:DRMSystemList>\(signalling.joined())</cpix:DRMSystemList>
            <cpix:ContentKeyUsageRuleList>\(rules.joined())</cpix:ContentKeyUsageRuleList>
            </cpix:CPIX>
            """
    }

    private static func key(_ number: Int, _ track: Int) -> UInt64 {
        0x9C61_0000_0000_0000 | UInt64(number << 1 | track)
    }

    private static func system(_ keyID: KeyID, _ identifier: String) -> String {
        """
        <cpix:DRMSystem kid="\(keyID)" systemId="\(identifier)"><cpix:HLSSignalingData playlist="media"/>\
        <cpix:HLSSignalingData playlist="master"/></cpix:DRMSystem>
        """
    }

    /// Writes a script for `wrk` to a folder. It sends the documents in turn with these header fields.
    func writeScript(in folder: URL, headers: [String: String]) throws -> URL {
        let documents = folder.appending(path: "speke-documents")
        try Data(bodies.joined()).write(to: documents)
        let fields = headers.sorted { $0.key < $1.key }.map { "[\"\($0.key)\"] = \"\($0.value)\"" }
        let script = folder.appending(path: "speke.lua")
        try """
        local file = assert(io.open("\(documents.path)", "rb"))
        local headers = {\(fields.joined(separator: ", "))}
        local requests = {}
        function init(arguments)
            for _, size in ipairs({\(bodies.map { "\($0.count)" }.joined(separator: ","))}) do
                requests[#requests + 1] = wrk.format("POST", nil, headers, file:read(size))
            end
        end
        local last = 0
        function request()
            last = last % #requests + 1
            return requests[last]
        end
        """.write(to: script, atomically: false, encoding: .utf8)
        return script
    }
}
