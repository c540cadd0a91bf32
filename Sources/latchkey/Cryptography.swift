import CommandLineKit
import KeyCrypto

/// Failures of OpenSSL, as a command tells them.
enum Cryptography {
    static func attempt<Result>(_ body: () throws(CryptoError) -> Result) throws(CommandError) -> Result {
        do throws(CryptoError) {
            return try body()
        } catch {
            throw failure(error)
        }
    }

    static func failure(_ error: CryptoError) -> CommandError {
        .failed("a cryptographic operation failed (\(error)); is the installation of OpenSSL complete?")
    }
}
