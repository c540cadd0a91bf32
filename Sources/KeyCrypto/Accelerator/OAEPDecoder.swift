import COpenSSL

/// Removes OAEP paddings from decrypted numbers, in constant time, with OpenSSL's own function. Belongs to one backend.
@safe
final class OAEPDecoder {
    // Fetched once, because a look-up takes a lock.
    private let sha1: OpaquePointer
    private let sha256: OpaquePointer

    /// Returns nil if OpenSSL lacks a digest.
    init?() {
        guard let sha1 = unsafe EVP_MD_fetch(nil, OAEPDigest.sha1.name, nil) else { return nil }
        guard let sha256 = unsafe EVP_MD_fetch(nil, OAEPDigest.sha256.name, nil) else {
            unsafe EVP_MD_free(sha1)
            return nil
        }
        unsafe self.sha1 = sha1
        unsafe self.sha256 = sha256
    }

    deinit {
        unsafe EVP_MD_free(sha1)
        unsafe EVP_MD_free(sha256)
    }

    /// Writes the message within a padded number of `size` bytes to `output`. Returns the size of the message; nil if
    /// the padding is wrong.
    func decode(
        _ padded: UnsafePointer<UInt8>, size: Int, padding: OAEPDigest, into output: borrowing SecretBytes
    ) -> Int? {
        let digest = unsafe padding == .sha1 ? sha1 : sha256
        let count = unsafe output.withUnsafeMemory { memory in
            // Safe: OpenSSL writes at most `output.count` bytes.
            unsafe latchkey_oaep_message(memory, Int32(output.count), padded, Int32(size), digest)
        }
        // The error queue is cleared in every case, so that a refusal and a success take the same time.
        ERR_clear_error()
        return count >= 0 ? Int(count) : nil
    }
}
