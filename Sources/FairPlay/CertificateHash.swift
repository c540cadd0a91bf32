import ByteCoding
package import KeyCrypto

/// The hash of an application certificate, or of a bundle file, by which an SPC names its credential.
package struct CertificateHash: Hashable, Sendable, CustomStringConvertible {
    /// The digest of a hash, which depends on the version of the SPC (protocol, sections 1.1 and 1.2).
    package enum Algorithm: Sendable, CaseIterable {
        case sha1
        case sha256

        /// The size of a hash in bytes.
        package var size: Int {
            switch self {
            case .sha1: 20
            case .sha256: 32
            }
        }
    }

    package let algorithm: Algorithm
    /// The bytes of the hash. Their number is the size of the algorithm.
    package let bytes: [UInt8]

    /// Takes a hash from a message or a tool; nil unless there are exactly 20 or 32 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard let algorithm = Algorithm.allCases.first(where: { $0.size == bytes.count }) else { return nil }
        self.algorithm = algorithm
        self.bytes = Array(bytes)
    }

    /// Computes the hash of `contents`.
    package init(
        _ algorithm: Algorithm, of contents: [UInt8], using crypto: CryptoContext
    ) throws(CryptoError) {
        self.algorithm = algorithm
        bytes =
            switch algorithm {
            case .sha1: try crypto.sha1(contents, in: 0..<contents.count)
            case .sha256: try crypto.sha256(contents)
            }
    }

    /// The hash as lower-case hexadecimal digits, as tools print certificate hashes.
    package var description: String {
        Hexadecimal.encode(bytes)
    }
}
