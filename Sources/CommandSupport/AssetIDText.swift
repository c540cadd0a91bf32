import ByteCoding
package import ContentKeys

/// Asset ids on a command line: as text, or as "hex:" and hexadecimal digits if they are not text.
package enum AssetIDText {
    /// The bytes of an asset id: those of the text, or those that the digits after "hex:" spell.
    ///
    /// Nil if "hex:" is not followed by hexadecimal digits.
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
