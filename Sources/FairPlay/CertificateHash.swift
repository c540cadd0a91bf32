import ByteCoding

/// The SHA-1 (20 bytes) of an application certificate, or of a bundle file, by which an SPC names its credential.
package struct CertificateHash: Hashable, Sendable, CustomStringConvertible {
    package static let size = 20

    package let bytes: [UInt8]

    /// Nil unless there are exactly 20 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = Array(bytes)
    }

    /// Forty lower-case hexadecimal digits, as tools print certificate hashes.
    package var description: String {
        Hexadecimal.encode(bytes)
    }
}
