import COpenSSL

/// The numbers of an RSA private key in the form of crypto_mb: little-endian words, with half the size of the modulus
/// for each prime and each exponent.
///
/// All loops share them. They live as long as their key.
final class RSAPrivateNumbers: Sendable {
    /// The secret numbers, in the order in which they are stored.
    enum Secret: Int, CaseIterable {
        case prime1, prime2, exponent1, exponent2, coefficient

        /// The name of the number in OpenSSL (EVP_PKEY-RSA(7)).
        fileprivate var name: String {
            switch self {
            case .prime1: "rsa-factor1"
            case .prime2: "rsa-factor2"
            case .exponent1: "rsa-exponent1"
            case .exponent2: "rsa-exponent2"
            case .coefficient: "rsa-coefficient1"
            }
        }
    }

    /// The only public exponent with which crypto_mb can check its results.
    static let publicExponent: UInt = 65_537
    /// The sizes of moduli in bytes: those of FairPlay.
    static let sizes = [128, 256]

    /// The size of the modulus in bytes: one of `sizes`.
    let size: Int
    /// The modulus, big-endian.
    private let modulus: [UInt8]
    /// -1 divided by the modulus, modulo 2^64.
    let negativeInverse: UInt64
    /// The secret numbers, and then the modulus.
    private let memory: SecretBytes

    /// Takes the numbers out of a key. Returns nil if the key is not of the usual kind: a modulus of 1024 or 2048 bits,
    /// two primes of half that size, and the public exponent 65537.
    init?(_ key: OpenSSLKey) {
        defer { ERR_clear_error() }
        let (size, modulus) = (key.size, key.modulus)
        guard Self.sizes.contains(size), modulus.count == size, modulus[0] >= 0x80, modulus[size - 1] & 1 == 1,
            Self.hasUsualExponent(key), !Self.hasThirdPrime(key)
        else { return nil }
        let half = size / 2
        let memory = SecretBytes(count: half * Secret.allCases.count + size)
        for secret in Secret.allCases {
            let isWritten = unsafe memory.withUnsafeMemory { bytes in
                // Safe: the memory has `half` bytes for each secret number.
                unsafe Self.write(secret, of: key, to: bytes + secret.rawValue * half, count: half)
            }
            guard isWritten else { return nil }
        }
        unsafe memory.withUnsafeMemory { bytes in
            // Safe: the modulus has the last `size` bytes of the memory.
            for (index, byte) in modulus.reversed().enumerated() {
                unsafe bytes[half * Secret.allCases.count + index] = byte
            }
        }
        self.size = size
        self.modulus = modulus
        negativeInverse = Self.negativeInverse(of: modulus.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
        self.memory = memory
    }

    /// The words of a secret number, valid as long as this object.
    func words(of secret: Secret) -> UnsafePointer<UInt64> {
        unsafe words(at: secret.rawValue * (size / 2))
    }

    /// The words of the modulus, valid as long as this object.
    var modulusWords: UnsafePointer<UInt64> {
        unsafe words(at: Secret.allCases.count * (size / 2))
    }

    private func words(at offset: Int) -> UnsafePointer<UInt64> {
        unsafe memory.withUnsafeMemory { bytes in
            // Safe: the memory is aligned for words, and all numbers are whole numbers of words.
            unsafe UnsafePointer(UnsafeRawPointer(bytes + offset).assumingMemoryBound(to: UInt64.self))
        }
    }

    /// Returns the bytes if they are a number of the modulus' size and below it.
    func number(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        bytes.count == size && bytes.lexicographicallyPrecedes(modulus) ? Array(bytes) : nil
    }

    private static func write(
        _ secret: Secret, of key: OpenSSLKey, to output: UnsafeMutablePointer<UInt8>, count: Int
    ) -> Bool {
        var number: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(key.pointer, secret.name, &number) == 1 else { return false }
        defer { unsafe BN_clear_free(number) }
        switch secret {
        case .prime1, .prime2: guard unsafe BN_num_bits(number) == Int32(count * 8) else { return false }
        case .exponent1, .exponent2, .coefficient: break
        }
        return unsafe BN_bn2lebinpad(number, output, Int32(count)) == Int32(count)
    }

    private static func hasThirdPrime(_ key: OpenSSLKey) -> Bool {
        var number: OpaquePointer?
        defer { unsafe BN_clear_free(number) }
        return unsafe EVP_PKEY_get_bn_param(key.pointer, "rsa-factor3", &number) == 1
    }

    private static func hasUsualExponent(_ key: OpenSSLKey) -> Bool {
        var number: OpaquePointer?
        defer { unsafe BN_free(number) }
        return unsafe EVP_PKEY_get_bn_param(key.pointer, OSSL_PKEY_PARAM_RSA_E, &number) == 1
            && BN_is_word(number, publicExponent) == 1
    }

    /// Newton's iteration. Each step doubles the number of right bits, and an odd number is its own inverse in three.
    private static func negativeInverse(of word: UInt64) -> UInt64 {
        var inverse = word
        for _ in 0..<5 { inverse = inverse &* (2 &- word &* inverse) }
        return 0 &- inverse
    }
}
