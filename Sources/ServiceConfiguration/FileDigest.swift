import Glibc
import KeyCrypto

/// What tells whether a file holds the same as before. It is good within one process alone, and tells nothing of a
/// secret.
package struct FileDigest: Equatable, Sendable {
    private let code: [UInt8]

    /// A key that no other process has, so that a digest cannot be compared with guesses.
    private static let key = Result { () throws(CryptoError) in
        try HMACSHA256Key(SecretBytes.random(count: HMACSHA256Key.codeSize))
    }

    init(of contents: borrowing SecretBytes) throws(CryptoError) {
        let key = try Self.key.get()
        code = try contents.withWipedArray { (bytes) throws(CryptoError) in try key.code(for: bytes[...]) }
    }

    /// For a large file: which one it is, its size, and when it was changed. Nil if there is no such file.
    init?(ofFileAt path: String) {
        var status = stat()
        // Swift lends the path as a C string for the call alone.
        guard unsafe stat(path, &status) == 0 else { return nil }
        let numbers = [
            Int(status.st_dev), Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
        ]
        code = numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
    }
}
