import ByteCoding
import KeyCrypto

@testable import FairPlay

extension SessionKeys {
    /// Returns SK, to compare it with the vectors.
    func revealedSessionKey() -> Bytes16 { plain.revealedBytes16() }
}
