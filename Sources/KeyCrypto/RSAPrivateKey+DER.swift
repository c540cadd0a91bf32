import COpenSSL

extension RSAPrivateKey {
    /// The numbers in the order of PKCS#1, with their names in OpenSSL (EVP_PKEY-RSA(7)).
    private static let numberNames = [
        OSSL_PKEY_PARAM_RSA_N, OSSL_PKEY_PARAM_RSA_E, OSSL_PKEY_PARAM_RSA_D, "rsa-factor1", "rsa-factor2",
        "rsa-exponent1", "rsa-exponent2", "rsa-coefficient1",
    ]

    /// Returns the key as unencrypted PKCS#1 DER (RFC 8017, appendix A.1.2).
    ///
    /// OpenSSL's own writer leaves a copy behind in ordinary memory. Throws `operationFailed` for a key without the
    /// numbers of the Chinese remainder theorem, and for a key with an unusual size.
    package func privateDER() throws(CryptoError) -> SecretBytes {
        defer { ERR_clear_error() }
        var der: [UInt8] = [0x30, 0x82, 0, 0]
        // There is room for all numbers, so that the array never moves and leaves a copy behind.
        der.reserveCapacity(7 * (modulusSize + 5))
        defer { der.wipe() }
        // The version of a key with two primes.
        der += [0x02, 0x01, 0x00]
        for name in Self.numberNames {
            guard append(name, to: &der) else { throw .operationFailed("write a private key") }
        }
        let size = der.count - 4
        guard (0x100...0xFFFF).contains(size) else { throw .operationFailed("write a private key") }
        der[2] = UInt8(size >> 8)
        der[3] = UInt8(size & 0xFF)
        return SecretBytes(copying: der)
    }

    /// Appends an INTEGER. Returns false if the key does not have the number.
    private func append(_ name: String, to der: inout [UInt8]) -> Bool {
        var number = unsafe BN_secure_new()
        defer { unsafe BN_clear_free(number) }
        guard unsafe EVP_PKEY_get_bn_param(key.pointer, name, &number) == 1 else { return false }
        // With a zero bit before the highest one, because the number is not negative.
        let size = Int(unsafe BN_num_bits(number)) / 8 + 1
        guard size <= 0xFFFF else { return false }
        der.append(0x02)
        switch size {
        case ..<0x80: der.append(UInt8(size))
        case ..<0x100: der += [0x81, UInt8(size)]
        default: der += [0x82, UInt8(size >> 8), UInt8(size & 0xFF)]
        }
        let start = der.count
        der.append(contentsOf: repeatElement(0, count: size))
        return unsafe der.withUnsafeMutableBufferPointer { buffer in
            // Safe: the buffer has `size` bytes from `start` on.
            unsafe BN_bn2binpad(number, buffer.baseAddress?.advanced(by: start), Int32(size)) == Int32(size)
        }
    }
}
