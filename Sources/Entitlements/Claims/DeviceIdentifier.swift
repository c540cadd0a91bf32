import ByteCoding

/// The 20 bytes by which an SPC names its device (HU), as a token pins them.
package struct DeviceIdentifier: Hashable, Sendable {
    package static let size = 20

    package let bytes: [UInt8]

    /// Nil for any other number of bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// Forty hexadecimal digits in either case, or 27 characters of base64url; nil for anything else.
    package init?(text: String) {
        let bytes = text.utf8.count == Self.size * 2 ? try? Hexadecimal.decode(text) : try? Base64URL.decode(text)
        guard let bytes else { return nil }
        self.init(bytes)
    }
}

extension DeviceIdentifier: CustomStringConvertible {
    /// Forty upper-case hexadecimal digits, as Apple's tools print it.
    package var description: String { Hexadecimal.encode(bytes).uppercased() }
}
