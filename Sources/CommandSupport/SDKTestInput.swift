package import ByteCoding
package import FairPlay
import KeyCrypto

/// A test input of Apple's SDK (SDK 26, section 6): a request to the library with one operation.
///
/// It is JSON, and trailing commas are accepted. Its content key is a sample that everyone with the SDK has, so it is
/// not treated as a secret.
package struct SDKTestInput {
    /// What the operation asks for.
    package enum Wish {
        /// A license with these terms.
        case license(LibraryLicense)
        /// A license with a value that this server never uses. The text is the value.
        case otherLicense(String)
        /// The facts of the SPC only.
        case facts
    }

    package let message: [UInt8]
    package let wish: Wish

    private static let limits = JSONLimits(sizeMaximum: 1 << 20)

    package init(parsing text: [UInt8]) throws(SDKTestInputFault) {
        let root = try wrap(
            SDKTestInputFault.notJSON, try JSONReader.parse(text, dialect: .json5, limits: Self.limits))
        guard let request = root.object?["fairplay-streaming-request"]?.object else {
            throw .member("fairplay-streaming-request")
        }
        let name = request["create-ckc"] == nil ? "get-client-info" : "create-ckc"
        guard let operations = request[name]?.array, operations.count == 1, let operation = operations[0].object else {
            throw .member(name)
        }
        guard let digits = operation["spc"]?.string, let message = try? Base64.decode(digits), !message.isEmpty else {
            throw .member("spc")
        }
        self.message = message
        guard name == "create-ckc", operation["check-in"]?.bool != true else {
            wish = .facts
            return
        }
        guard let infos = operation["asset-info"]?.array, infos.count == 1, let info = infos[0].object else {
            throw .member("asset-info")
        }
        wish = try AssetInfoReader(info: info).wish
    }
}

/// Why a test input cannot be used.
package enum SDKTestInputFault: Error, Equatable {
    case notJSON(JSONError)
    /// The member is missing, or has a value that the library does not define.
    case member(String)
}

extension SDKTestInputFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notJSON(let error): "it is not JSON: \(error)"
        case .member(let name): "its member \(name) is missing, or has no valid value"
        }
    }
}

/// Reads the terms of a license as a library takes them (SDK 26, section 3).
private struct AssetInfoReader {
    let info: JSONObject

    var wish: SDKTestInput.Wish {
        get throws(SDKTestInputFault) {
            guard let contentType = Self.contentTypes[info["content-type"]?.string ?? ""] else {
                throw .member("content-type")
            }
            let schemeName = info["encryption-scheme"]?.string ?? "cbcs"
            guard let scheme = Self.schemes[schemeName] else { return .otherLicense(schemeName) }
            let terms = LibraryTerms(
                contentType: contentType, scheme: scheme, hdcp: try hdcp, validity: try validity)
            let key = SharedSecret(SecretBytes(copying: try bytes16("content-key", in: info).bytes))
            return .license(LibraryLicense(key: key, iv: try bytes16("content-iv", in: info), terms: terms))
        }
    }

    private static let contentTypes: [String: LibraryTerms.ContentType] = [
        "audio": .audio, "sd": .sd, "hd": .hd, "uhd": .uhd,
    ]
    private static let schemes: [String: LibraryTerms.Scheme] = ["cbcs": .cbcs, "cbc-ts": .transportStream]

    private var hdcp: HDCPLevel {
        get throws(SDKTestInputFault) {
            guard let node = info["hdcp-type"] else { return .type0 }
            switch node.number?.signed {
            case -1: return .none
            case 0: return .type0
            case 1: return .type1
            default: throw .member("hdcp-type")
            }
        }
    }

    private var validity: LibraryTerms.Validity {
        get throws(SDKTestInputFault) {
            let lease = try seconds("lease-duration", in: info)
            guard let offline = info["offline-hls"] else { return lease.map { .lease($0) } ?? .session }
            // The library refuses both together.
            guard lease == nil, let members = offline.object else { throw .member("offline-hls") }
            let hasName = members["stream-id"] != nil || members["title-id"] != nil
            let name =
                hasName
                ? (streamID: try bytes16("stream-id", in: members), titleID: try bytes16("title-id", in: members)) : nil
            return .kept(
                .init(
                    name: name, storage: try seconds("rental-duration", in: members),
                    playback: try seconds("playback-duration", in: members)))
        }
    }

    private func seconds(_ name: String, in members: JSONObject) throws(SDKTestInputFault) -> LicenseSeconds? {
        guard let node = members[name] else { return nil }
        guard let number = node.number?.unsigned, number < UInt64(UInt32.max) else { throw .member(name) }
        return LicenseSeconds(number)
    }

    /// The library takes zeros for a member that is missing.
    private func bytes16(_ name: String, in members: JSONObject) throws(SDKTestInputFault) -> Bytes16 {
        guard let node = members[name] else { return .zero }
        guard let digits = node.string, let bytes = try? Hexadecimal.decode(digits), let value = Bytes16(bytes) else {
            throw .member(name)
        }
        return value
    }
}
