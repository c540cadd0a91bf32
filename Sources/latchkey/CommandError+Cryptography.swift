import CommandLineKit
import KeyCrypto

extension CommandError {
    /// OpenSSL failed at what every installation can do.
    static func cryptography(_ error: CryptoError) -> CommandError {
        .failed("a cryptographic operation failed (\(error)); is the installation of OpenSSL complete?")
    }
}
