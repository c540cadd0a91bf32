import COpenSSL

/// Multiplies ciphertexts by random numbers before the private operation, so that its time says nothing about a chosen
/// ciphertext, and removes the random numbers from the results.
///
/// OpenSSL makes the random numbers, a new one every 32 ciphertexts, and squares them in between. Belongs to one
/// backend and one key.
@safe
final class RSABlinding {
    private let blinding: OpaquePointer
    private let montgomery: OpaquePointer
    private let context: OpaquePointer
    private let ciphertext: OpaquePointer
    private let factor: OpaquePointer

    /// Returns nil if OpenSSL cannot make a random number.
    init?(_ key: RSAPrivateKey) {
        defer { ERR_clear_error() }
        var modulus: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(key.key.pointer, OSSL_PKEY_PARAM_RSA_N, &modulus) == 1 else { return nil }
        defer { unsafe BN_free(modulus) }
        // Then OpenSSL inverts the random numbers in constant time.
        unsafe BN_set_flags(modulus, BN_FLG_CONSTTIME)
        let exponent = unsafe BN_new()
        defer { unsafe BN_free(exponent) }
        let context = unsafe BN_CTX_secure_new()
        let montgomery = unsafe BN_MONT_CTX_new()
        let ciphertext = unsafe BN_new()
        let factor = unsafe BN_secure_new()
        let isReady =
            unsafe BN_set_word(exponent, RSAPrivateNumbers.publicExponent) == 1
            && BN_MONT_CTX_set(montgomery, modulus, context) == 1
        let blinding =
            isReady
            ? unsafe BN_BLINDING_create_param(nil, exponent, modulus, context, BN_mod_exp_mont, montgomery) : nil
        guard let context = unsafe context, let montgomery = unsafe montgomery, let blinding = unsafe blinding,
            let ciphertext = unsafe ciphertext, let factor = unsafe factor
        else {
            // These functions accept null pointers.
            unsafe BN_BLINDING_free(blinding)
            unsafe BN_MONT_CTX_free(montgomery)
            unsafe BN_CTX_free(context)
            unsafe BN_free(ciphertext)
            unsafe BN_clear_free(factor)
            return nil
        }
        unsafe self.context = context
        unsafe self.montgomery = montgomery
        unsafe self.blinding = blinding
        unsafe self.ciphertext = ciphertext
        unsafe self.factor = factor
    }

    deinit {
        unsafe BN_BLINDING_free(blinding)
        unsafe BN_MONT_CTX_free(montgomery)
        unsafe BN_CTX_free(context)
        unsafe BN_free(ciphertext)
        unsafe BN_clear_free(factor)
    }

    /// Blinds a number below the modulus. Writes the product, big-endian, and the number that `unblind` needs. Both
    /// have the size of the modulus. Returns false if OpenSSL fails.
    func blind(
        _ number: [UInt8], into blinded: UnsafeMutablePointer<UInt8>, inverse: UnsafeMutablePointer<UInt8>,
        size: Int
    ) -> Bool {
        let size = Int32(size)
        return unsafe BN_bin2bn(number, Int32(number.count), ciphertext) != nil
            && BN_BLINDING_convert_ex(ciphertext, factor, blinding, context) == 1
            && BN_bn2binpad(ciphertext, blinded, size) == size && BN_bn2lebinpad(factor, inverse, size) == size
    }

    /// Removes the random number from a result in constant time. `result` is big-endian, and is replaced. Both numbers
    /// are aligned for words.
    func unblind(
        _ result: UnsafeMutablePointer<UInt8>, inverse: UnsafePointer<UInt8>, numbers: RSAPrivateNumbers
    ) {
        // OpenSSL keeps the inverse multiplied by 2^(8 * size), and the multiplication divides by that number.
        var bytes = unsafe UnsafeMutableBufferPointer(start: result, count: numbers.size)
        unsafe bytes.reverse()
        // Safe: all numbers have `size` bytes, the least significant one first.
        unsafe latchkey_montgomery_multiply(
            UnsafeMutableRawPointer(result).assumingMemoryBound(to: UInt64.self),
            UnsafeRawPointer(result).assumingMemoryBound(to: UInt64.self),
            UnsafeRawPointer(inverse).assumingMemoryBound(to: UInt64.self), numbers.modulusWords,
            numbers.negativeInverse, numbers.size / 8)
        unsafe bytes.reverse()
    }
}
