import CommandLineKit
import KeyCrypto
import ServiceConfiguration

extension CommandError {
    static func configuration(_ error: ConfigurationError) -> CommandError { .failed(error.description) }

    static func file(_ error: FileError) -> CommandError { .failed(error.description) }

    static func newFile(_ error: NewFileError) -> CommandError { .failed(error.description) }

    /// The operating system gave OpenSSL no random bytes.
    static func noRandomBytes(_ error: CryptoError) -> CommandError {
        .failed("OpenSSL gave no random bytes (\(error))")
    }
}
