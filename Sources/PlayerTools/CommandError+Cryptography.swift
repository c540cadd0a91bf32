import CommandLineKit
import KeyCrypto

extension CommandError {
    /// OpenSSL failed at an operation that every complete installation supports.
    static func cryptography(_ error: CryptoError) -> CommandError {
        .failed("a cryptographic operation failed (\(error)); is the installation of OpenSSL complete?")
    }
}
