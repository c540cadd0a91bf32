import ByteCoding

/// What the bytes of an asset id may mean: they are no text by themselves.
enum AssetIDExplanation {
    static func text(of bytes: [UInt8]) -> String {
        if let text = printable(String(validating: bytes, as: UTF8.self)) { return "text \"\(text)\"" }
        if let text = printable(asciiInUTF16(bytes)) { return "UTF-16 text \"\(text)\"" }
        if let words = Bytes16(bytes) { return "16 bytes, as a key id \(KeyID(words: words))" }
        return "\(bytes.count) bytes that are no text"
    }

    /// Little-endian. Random bytes are often text in UTF-16, so only ASCII is believed.
    private static func asciiInUTF16(_ bytes: [UInt8]) -> String? {
        let pairs = stride(from: 0, to: bytes.count - 1, by: 2).map { (bytes[$0], bytes[$0 + 1]) }
        guard bytes.count % 2 == 0, pairs.allSatisfy({ $0 < 0x80 && $1 == 0 }) else { return nil }
        return String(decoding: pairs.map(\.0), as: UTF8.self)
    }

    /// Nil if a terminal would obey some of it, or if it could not be told from other text.
    private static func printable(_ text: String?) -> String? {
        guard let text, !text.isEmpty, LicenseProblem.printable(text) == text else { return nil }
        return text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .unassigned } ? text : nil
    }
}
