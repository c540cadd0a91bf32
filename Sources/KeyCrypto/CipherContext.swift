import ByteCoding
import COpenSSL

/// AES-128 in one mode without padding, fetched once; the one owner of an `EVP_CIPHER_CTX`. One thread at a time may
/// use it.
@safe
final class CipherContext {
    private let cipher: OpaquePointer
    private let context: OpaquePointer

    /// Nil if OpenSSL has no algorithm of this name.
    init?(_ name: String) {
        guard let cipher = unsafe EVP_CIPHER_fetch(nil, name, nil) else { return nil }
        guard let context = unsafe EVP_CIPHER_CTX_new() else {
            unsafe EVP_CIPHER_free(cipher)
            return nil
        }
        unsafe self.cipher = cipher
        unsafe self.context = context
        // The algorithm is set once: naming it again at each start would free and rebuild the state behind the context.
        let isSet =
            unsafe EVP_CipherInit_ex2(context, cipher, nil, nil, 1, nil) == 1
            && EVP_CIPHER_CTX_set_padding(context, 0) == 1
        if !isSet { return nil }
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(context)
        unsafe EVP_CIPHER_free(cipher)
    }

    /// Takes the 16 bytes of `key` from `keyOffset`, and a vector if the mode has one.
    func start(
        encrypting: Bool, key: borrowing SecretBytes, keyOffset: Int = 0, iv: Bytes16 = .zero
    ) throws(CryptoError) {
        guard key.count >= keyOffset + 16 else { throw .wrongSize(expected: keyOffset + 16, actual: key.count) }
        var vector = (iv.high.bigEndian, iv.low.bigEndian)
        let started = unsafe key.withUnsafeMemory { keyBytes in
            // OpenSSL copies 16 key bytes, which the guard showed to be there, and 16 bytes of the vector.
            unsafe withUnsafeBytes(of: &vector) { vectorBytes in
                unsafe EVP_CipherInit_ex2(
                    context, nil, keyBytes + keyOffset, vectorBytes.bindMemory(to: UInt8.self).baseAddress,
                    encrypting ? 1 : 0, nil) == 1
            }
        }
        guard started else { throw .operationFailed("start AES") }
    }

    /// Runs whole blocks into a new array.
    func process(_ input: RawSpan) throws(CryptoError) -> [UInt8] {
        var failure: CryptoError?
        let output = unsafe [UInt8](unsafeUninitializedCapacity: input.byteCount) { buffer, initializedCount in
            // The output of whole blocks without padding is as long as the input; on failure none counts as written.
            do throws(CryptoError) {
                if let base = buffer.baseAddress { try unsafe update(input, into: base) }
                initializedCount = input.byteCount
            } catch {
                failure = error
                initializedCount = 0
            }
        }
        if let failure { throw failure }
        return output
    }

    /// Runs whole blocks; `output` has room for as many bytes as `input` has.
    func update(_ input: RawSpan, into output: UnsafeMutablePointer<UInt8>) throws(CryptoError) {
        guard input.byteCount % 16 == 0 else {
            throw .wrongSize(expected: (input.byteCount + 15) & ~15, actual: input.byteCount)
        }
        var written: Int32 = 0
        let updated = unsafe input.withUnsafeBytes { bytes in
            unsafe EVP_CipherUpdate(
                context, output, &written, bytes.bindMemory(to: UInt8.self).baseAddress, Int32(bytes.count))
        }
        guard updated == 1, Int(written) == input.byteCount else { throw .operationFailed("run AES") }
    }
}
