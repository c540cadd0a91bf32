import COpenSSL

/// One digest, fetched once; the one owner of an `EVP_MD_CTX`. One thread at a time may use it.
@safe
final class DigestContext {
    private let algorithm: OpaquePointer
    private let context: OpaquePointer
    /// The size of a digest in bytes.
    private let size: Int

    /// Nil if OpenSSL has no algorithm of this name.
    init?(_ name: String) {
        guard let algorithm = unsafe EVP_MD_fetch(nil, name, nil) else { return nil }
        guard let context = unsafe EVP_MD_CTX_new() else {
            unsafe EVP_MD_free(algorithm)
            return nil
        }
        unsafe self.algorithm = algorithm
        unsafe self.context = context
        size = unsafe Int(EVP_MD_get_size(algorithm))
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
        unsafe EVP_MD_free(algorithm)
    }

    func digest(_ input: RawSpan) throws(CryptoError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: size)
        try unsafe output.withUnsafeMutableBufferPointer { (buffer) throws(CryptoError) in
            guard let base = buffer.baseAddress else { return }
            try unsafe digest(input, into: base)
        }
        return output
    }

    /// `output` has room for one digest.
    func digest(_ input: RawSpan, into output: UnsafeMutablePointer<UInt8>) throws(CryptoError) {
        let done = unsafe input.withUnsafeBytes { bytes in
            unsafe EVP_DigestInit_ex2(context, algorithm, nil) == 1
                && EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
                && EVP_DigestFinal_ex(context, output, nil) == 1
        }
        guard done else { throw .operationFailed("digest") }
    }
}
