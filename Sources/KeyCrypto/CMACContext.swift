import COpenSSL

/// AES-128-CMAC (RFC 4493), fetched once; the one owner of an `EVP_MAC_CTX`. One thread at a time may use it.
@safe
final class CMACContext {
    private let context: OpaquePointer

    /// The size of a key and of a code in bytes.
    static let size = 16

    /// Nil if OpenSSL has no CMAC.
    init?() {
        guard let algorithm = unsafe EVP_MAC_fetch(nil, "CMAC", nil) else { return nil }
        // The context holds a reference of its own.
        defer { unsafe EVP_MAC_free(algorithm) }
        guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { return nil }
        unsafe self.context = context
    }

    deinit {
        unsafe EVP_MAC_CTX_free(context)
    }

    /// The code of the parts as if they stood one after another. The key has 16 bytes.
    func code(of parts: [ArraySlice<UInt8>], key: borrowing SecretBytes) throws(CryptoError) -> [UInt8] {
        guard key.count == Self.size else { throw .wrongSize(expected: Self.size, actual: key.count) }
        // OpenSSL copies the key during the call.
        let started = unsafe key.withUnsafeMemory { bytes in
            unsafe latchkey_cmac_aes128_init(context, bytes, key.count) == 1
        }
        guard started else { throw .operationFailed("start CMAC") }
        for part in parts {
            // An empty part may have no address at all, and adds nothing.
            let updated = unsafe part.withUnsafeBufferPointer { bytes in
                unsafe bytes.isEmpty || EVP_MAC_update(context, bytes.baseAddress, bytes.count) == 1
            }
            guard updated else { throw .operationFailed("run CMAC") }
        }
        var output = [UInt8](repeating: 0, count: Self.size)
        var size = 0
        // `output` has room for the whole code.
        let finished = unsafe EVP_MAC_final(context, &output, &size, Self.size) == 1
        guard finished, size == Self.size else { throw .operationFailed("run CMAC") }
        return output
    }
}
