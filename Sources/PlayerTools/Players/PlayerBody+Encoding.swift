import ByteCoding
import PlayerMessages

/// One key that a player asks for.
struct AskedKey: Sendable {
    let uri: KeyURI
    /// The asset id in the SPC.
    let assetID: [UInt8]
    let spc: [UInt8]
}

extension PlayerBody {
    /// The body of one request. Forms with a single SPC use the first key.
    ///
    /// Only `streamingKeys` has a member for `isOffline`. For all other shapes the address says it.
    func encode(_ keys: [AskedKey], isOffline: Bool) -> [UInt8] {
        guard let first = keys.first else { return [] }
        let base64 = Base64.encode(first.spc)
        switch self {
        case .raw: return first.spc
        case .base64: return Array(base64.utf8)
        case .form(let spelling, let asset):
            return Array("spc=\(Self.spell(first.spc, spelling))\(Self.part(asset, first.assetID))".utf8)
        case .escapedForm: return Array(PercentEncoding.encodeComponent(Array("spc=\(base64)".utf8)).utf8)
        case .object(let member, let alphabet):
            let text = alphabet == .urlSafe ? Self.urlSafe(first.spc) : base64
            return JSONWriter.object { $0.member(member.rawValue, text) }
        case .getFairplayLicense:
            return JSONWriter.object { writer in
                writer.object("getFairplayLicense") { $0.member("spcMessage", base64) }
            }
        case .keyArray: return Self.keyArray(keys)
        case .streamingKeys:
            return Self.streamingKeys(keys.map(\.spc), isOffline: isOffline) { keys[$0].uri.text }
        }
    }

    /// The name of a key in the answer, for forms with many keys.
    static func label(of key: AskedKey, at index: Int, in body: PlayerBody) -> String {
        body == .keyArray ? Base64.encode(key.assetID) : "\(index + 1)"
    }

    private static func keyArray(_ keys: [AskedKey]) -> [UInt8] {
        let elements = keys.map { key in
            JSONWriter.object { writer in
                writer.member("keyID", Base64.encode(key.assetID))
                writer.member("payload", Base64.encode(key.spc))
            }
        }
        return Array("[".utf8) + elements.joined(separator: ",".utf8) + Array("]".utf8)
    }

    /// Apple's JSON object with several SPCs. Their ids count from 1. `uri` is given the index of an SPC.
    static func streamingKeys(
        _ spcs: [[UInt8]], isOffline: Bool = false, uri: (Int) -> String? = { _ in nil }
    ) -> [UInt8] {
        JSONWriter.object { writer in
            writer.object("fairplay-streaming-request") { writer in
                writer.member("version", 1)
                writer.array("streaming-keys") { writer in
                    for (index, spc) in spcs.enumerated() {
                        writer.object { writer in
                            writer.member("id", index + 1)
                            if let uri = uri(index) { writer.member("uri", uri) }
                            writer.member("spc", base64: spc)
                            if isOffline { writer.member("offline", true) }
                        }
                    }
                }
            }
        }
    }

    private static func spell(_ spc: [UInt8], _ spelling: FormSpelling) -> String {
        let text = Base64.encode(spc)
        switch spelling {
        case .plain: return text
        case .escaped: return PercentEncoding.encodeComponent(Array(text.utf8))
        case .urlSafe: return urlSafe(spc)
        case .reactNative: return escapeForReactNative(text)
        }
    }

    private static func part(_ asset: FormAsset, _ assetID: [UInt8]) -> String {
        switch asset {
        case .none: ""
        case .named: "&assetId=" + PercentEncoding.encodeComponent(assetID)
        case .bare: "&" + String(decoding: assetID, as: UTF8.self)
        }
    }

    private static func urlSafe(_ bytes: [UInt8]) -> String {
        String(Base64.encode(bytes).map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }

    /// Escapes like react-native-video, whose `addingPercentEncoding` allows all characters except `?=&+`.
    private static func escapeForReactNative(_ text: String) -> String {
        text.replacing("+", with: "%2B").replacing("=", with: "%3D")
    }
}

extension PercentEncoding {
    /// Escapes like `encodeURIComponent`: everything except letters, digits and `-_.!~*'()`.
    static func encodeComponent(_ bytes: [UInt8]) -> String {
        var text = ""
        for byte in bytes {
            let character = Character(Unicode.Scalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber || "-_.!~*'()".contains(character) {
                text.append(character)
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return text
    }
}
