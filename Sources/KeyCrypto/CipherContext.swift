import ByteCoding
import COpenSSL

/// AES-128 in one mode without padding: the owner of an `EVP_CIPHER_CTX`. Only one thread at a time may use it.
@safe
final class CipherContext {
    private let cipher: OpaquePointer
    private let context: OpaquePointer

    /// Fetches the algorithm; nil if OpenSSL has no algorithm with this name.
    init?(_ name: String) {
        guard let cipher = unsafe EVP_CIPHER_fetch(nil, name, nil) else { return nil }
        guard let context = unsafe EVP_CIPHER_CTX_new() else {
            unsafe EVP_CIPHER_free(cipher)
            return nil
        }
        unsafe self.cipher = cipher
        unsafe self.context = context
        // The algorithm is set only once: setting it at each start would free and rebuild the state of the context.
        let isSet =
            unsafe EVP_CipherInit_ex2(context, cipher, nil, nil, 1, nil) == 1
            && EVP_CIPHER_CTX_set_padding(context, 0) == 1
        if !isSet { return nil }
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(context)
        unsafe EVP_CIPHER_free(cipher)
    }

    /// Sets the 16 bytes of `key` from `keyOffset` on, and a vector if the mode has one.
    func start(
        encrypting: Bool, key: borrowing SecretBytes, keyOffset: Int = 0, iv: Bytes16 = .zero
    ) throws(CryptoError) {
        guard key.count >= keyOffset + 16 else { throw .wrongSize(expected: keyOffset + 16, actual: key.count) }
        var vector = (iv.high.bigEndian, iv.low.bigEndian)
        let started = unsafe key.withUnsafeMemory { keyBytes in
            // Safe: OpenSSL copies 16 bytes of the key, whose size the guard has checked, and 16 bytes of the vector.
            unsafe withUnsafeBytes(of: &vector) { vectorBytes in
                unsafe EVP_CipherInit_ex2(
                    context, nil, keyBytes + keyOffset, vectorBytes.bindMemory(to: UInt8.self).baseAddress,
                    encrypting ? 1 : 0, nil) == 1
            }
        }
        guard started else { throw .operationFailed("start AES") }
    }

    /// Replaces the key by zeros. Otherwise the context would keep the key in ordinary memory until its next use: the
    /// first part of a key schedule is the key itself.
    func forgetKey() {
        // Safe: OpenSSL copies 16 bytes of each. Without a key of its own, the context keeps none.
        _ = unsafe EVP_CipherInit_ex2(context, nil, Self.zeros, Self.zeros, 1, nil)
    }

    private static let zeros = [UInt8](repeating: 0, count: 16)

    /// Processes whole blocks, and returns the result in a new array.
    func process(_ input: RawSpan) throws(CryptoError) -> [UInt8] {
        var failure: CryptoError?
        let output = unsafe [UInt8](unsafeUninitializedCapacity: input.byteCount) { buffer, initializedCount in
            // Safe: without padding, the output is as long as the input. After a failure, no byte counts as written.
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

    /// Processes whole blocks. `output` has room for as many bytes as `input` has.
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
