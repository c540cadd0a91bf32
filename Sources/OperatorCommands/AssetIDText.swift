import ByteCoding
package import ContentKeys

/// Asset ids on a command line, where not every one of them is text.
package enum AssetIDText {
    /// The bytes of a text, or behind "hex:" those that the hexadecimal digits spell; nil if they are not hexadecimal
    /// digits.
    package static func bytes(_ text: String) -> [UInt8]? {
        let prefix = "hex:"
        guard text.hasPrefix(prefix) else { return Array(text.utf8) }
        return try? Hexadecimal.decode(String(text.dropFirst(prefix.count)))
    }

    /// The text by which a command shows an asset id.
    package static func text(of assetID: AssetID) -> String {
        String(validating: assetID.bytes, as: UTF8.self) ?? "hex:" + Hexadecimal.encode(assetID.bytes)
    }
}
