import ByteCoding
import ContentKeys

/// The address of a FairPlay key in a playlist, `skd://…`, and the checks of it.
///
/// Players turn the address into the asset id of an SPC. Some use the whole address, some the part after `skd://`, and
/// some only the host (packagers, section 4). So each of these parts should name the key.
struct KeyAddress {
    /// The size of the longest asset id in an SPC, in bytes.
    static let sizeMaximum = AssetID.sizes.upperBound
    /// The size of the longest alias of a key, in bytes.
    static let aliasSizeMaximum = AssetID.aliasSizes.upperBound
    private static let scheme = "skd://"

    let text: String

    /// Whether a text begins with `skd:`, in letters of either case.
    static func hasScheme(_ text: String) -> Bool {
        text.utf8.prefix(4).map { $0 == UInt8(ascii: ":") ? $0 : $0 | 0x20 } == Array("skd:".utf8)
    }

    /// Whether the address has a variable of `EXT-X-DEFINE`, whose value is not known here.
    var hasVariables: Bool { text.contains("{$") }

    /// The part after `skd:` and its slashes.
    var identifier: Substring.UTF8View {
        text.utf8.dropFirst(4).drop { $0 == UInt8(ascii: "/") }
    }

    /// Whether the address begins with `skd://`, as players expect it.
    var hasUsualScheme: Bool { text.hasPrefix(Self.scheme) }

    /// The first character that is not allowed in a URI; a percent sign if an escape is invalid or stands for a zero
    /// byte; nil if all is good.
    var firstIllegalCharacter: Character? {
        if let character = text.first(where: { !Self.isAllowed($0) }) { return character }
        guard let decoded = PercentEncoding.decode(Array(text.utf8)) else { return "%" }
        return decoded.contains(0) ? "%" : nil
    }

    /// Whether a URI may have the character: those of RFC 3986, sections 2.2 and 2.3, and the percent sign.
    private static func isAllowed(_ character: Character) -> Bool {
        guard let byte = character.asciiValue, character.utf8.count == 1 else { return false }
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            return true
        default: return "-._~:/?#[]@!$&'()*+,;=%".utf8.contains(byte)
        }
    }

    /// The asset id from players that send only the host, compared with the whole part after `skd://`.
    ///
    /// Many URL parsers turn the host into lower case, and end it at a slash, a question mark, a number sign or a
    /// colon.
    var host: HostReading {
        let rest = text.dropFirst(Self.scheme.count)
        let host = rest.prefix { !"/?#:".contains($0) }
        if host.utf8.count < rest.utf8.count { return .truncated(to: host.lowercased()) }
        let small = host.lowercased()
        return small.utf8.elementsEqual(host.utf8) ? .whole : .lowerCased(to: small)
    }

    enum HostReading: Equatable {
        case whole
        case truncated(to: String)
        case lowerCased(to: String)
    }

    /// The key id in the address; nil if the address has another kind of name.
    var keyID: KeyID? {
        guard let assetID = try? AssetID(bytes: Array(text.utf8)) else { return nil }
        for case .keyID(let keyID) in AssetReference(assetID).candidates { return keyID }
        return nil
    }
}
