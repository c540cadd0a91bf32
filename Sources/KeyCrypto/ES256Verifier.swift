/// A signature that waits for its check, together with others: the digest of its message is known.
package struct ES256Check: Sendable {
    package let key: ES256PublicKey
    /// The SHA-256 of the message.
    let digest: [UInt8]
    /// r ‖ s, 64 bytes.
    let signature: ArraySlice<UInt8>

    /// Digests the message. `crypto` belongs to the calling thread. Returns nil for a signature of another size, which
    /// no key has made, and if OpenSSL fails.
    package init?(
        _ signature: ArraySlice<UInt8>, for message: ArraySlice<UInt8>, by key: ES256PublicKey,
        using crypto: CryptoContext
    ) {
        guard signature.count == ES256PublicKey.signatureSize, let digest = try? crypto.sha256(message) else {
            return nil
        }
        self.key = key
        self.digest = digest
        self.signature = signature
    }

    /// Checks the signature alone, with OpenSSL. Returns nil if OpenSSL fails.
    func verify() -> Bool? { key.verify(self) }
}

/// Checks signatures in batches. A backend belongs to one loop, and runs on the thread beside it.
package protocol ES256Verifier: AnyObject {
    /// The best number of checks in one batch.
    var groupSize: Int { get }
    /// Whether a batch costs less than its checks one after another. If not, it is not worth to collect them.
    var gainsFromBatches: Bool { get }

    /// Whether each signature is valid, in the order of the checks; nil if that could not be found out.
    func verify(_ checks: [ES256Check]) -> [Bool?]
}
