import ByteCoding

/// A key's address in a playlist, `skd://…`, and the asset ids that players make from it (clients, section 0, fact 7).
struct KeyURI: Equatable, Sendable {
    static let scheme = "skd://"
    /// The sizes of asset ids that an SPC can have, in bytes.
    static let assetIDSizes = 2...1024

    let text: String
    /// The key id, for players that take it from the media and not from the playlist. Nil if it is not known.
    let keyID: KeyID?

    /// Nil unless the text is printable ASCII of at most 1,024 bytes, and has `skd://` with further characters.
    ///
    /// Without `keyID`, the first key id in the text is taken.
    init?(_ text: String, keyID: KeyID? = nil) {
        guard text.hasPrefix(Self.scheme), text.utf8.count > Self.scheme.utf8.count,
            text.utf8.count <= Self.assetIDSizes.upperBound, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self.text = text
        self.keyID = keyID ?? Self.keyID(in: text)
    }

    /// The bytes that a player puts into the SPC. Nil if this address gives no bytes of a legal size.
    func assetID(_ form: AssetIDForm) -> [UInt8]? {
        let bytes: [UInt8]? =
            switch form {
            case .wholeURI: Array(text.utf8)
            case .withoutScheme: Array(rest.utf8)
            case .host: Array(host.utf8)
            case .keyID: keyID?.bytes
            }
        return bytes.flatMap { Self.assetIDSizes.contains($0.count) ? $0 : nil }
    }

    /// The address without the scheme.
    var rest: Substring { text.dropFirst(Self.scheme.count) }

    /// The host, without port, path and query.
    var host: Substring { rest.prefix { !"/?#:".contains($0) } }

    /// Whether the query has a parameter of this name with a value.
    func hasQueryItem(_ name: String) -> Bool {
        guard let mark = rest.firstIndex(of: "?") else { return false }
        let query = rest[mark...].dropFirst().prefix { $0 != "#" }
        return query.split(separator: "&").contains { $0.hasPrefix(name + "=") && $0.count > name.count + 1 }
    }

    /// The first part of the text that is a UUID or 32 hexadecimal digits.
    private static func keyID(in text: String) -> KeyID? {
        let parts = text.split { !$0.isHexDigit && $0 != "-" }
        return parts.lazy.compactMap { try? KeyID(parsing: String($0)) }.first
    }
}

/// The source from which a player makes the asset id.
enum AssetIDForm: Sendable {
    /// The whole address: Safari's modern EME with init data of the type `skd`.
    case wholeURI
    /// The address without `skd://`: most apps.
    case withoutScheme
    /// The host of the address: players that follow the legacy EME sample.
    case host
    /// The 16 bytes of the key id: Safari with init data of the types `sinf` and `cenc`.
    case keyID
}
