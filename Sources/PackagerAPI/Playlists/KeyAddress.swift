import ByteCoding
import ContentKeys

/// The address of a FairPlay key as a playlist has it, `skd://…`, and what may be wrong with it.
///
/// Players make the asset id of an SPC of it: of all of it, of what stands behind `skd://`, or of its host (packagers,
/// section 4). So it must survive each of these ways.
struct KeyAddress {
    /// What an SPC can carry, in bytes.
    static let sizeMaximum = AssetID.sizes.upperBound
    /// What an alias of a key can have, in bytes.
    static let aliasSizeMaximum = AssetID.aliasSizes.upperBound
    private static let scheme = "skd://"

    let text: String

    /// Whether a text begins with `skd:`, in letters of either case.
    static func hasScheme(_ text: String) -> Bool {
        text.utf8.prefix(4).map { $0 == UInt8(ascii: ":") ? $0 : $0 | 0x20 } == Array("skd:".utf8)
    }

    /// Whether it has a variable of `EXT-X-DEFINE`, whose value is not known here.
    var hasVariables: Bool { text.contains("{$") }

    /// What stands behind `skd:` and its slashes.
    var identifier: Substring.UTF8View {
        text.utf8.dropFirst(4).drop { $0 == UInt8(ascii: "/") }
    }

    /// Whether it begins as players expect it.
    var hasUsualScheme: Bool { text.hasPrefix(Self.scheme) }

    /// The first character that a URI cannot have, or a percent sign that begins no escape or that of a zero.
    var firstIllegalCharacter: Character? {
        if let character = text.first(where: { !Self.isAllowed($0) }) { return character }
        guard let decoded = PercentEncoding.decode(Array(text.utf8)) else { return "%" }
        return decoded.contains(0) ? "%" : nil
    }

    /// RFC 3986, sections 2.2 and 2.3, and the percent sign.
    private static func isAllowed(_ character: Character) -> Bool {
        guard let byte = character.asciiValue, character.utf8.count == 1 else { return false }
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            return true
        default: return "-._~:/?#[]@!$&'()*+,;=%".utf8.contains(byte)
        }
    }

    /// What players send that send the host alone, if that is something else than all that stands behind `skd://`.
    /// Many parsers of addresses give a host in small letters, and end it at a slash, a question mark, a number sign or
    /// a colon.
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

    /// The key id that the address itself has; nil if it has another kind of name.
    var keyID: KeyID? {
        guard let assetID = try? AssetID(bytes: Array(text.utf8)) else { return nil }
        for case .keyID(let keyID) in AssetReference(assetID).candidates { return keyID }
        return nil
    }
}
