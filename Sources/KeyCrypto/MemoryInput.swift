import COpenSSL

/// Lends bytes to OpenSSL's readers.
enum MemoryInput {
    /// Calls `body` with a reader over `bytes`, which must not keep it.
    static func read<Result>(_ bytes: [UInt8], _ body: (OpaquePointer) -> Result?) -> Result? {
        unsafe bytes.withUnsafeBytes { buffer in unsafe read(buffer, body) }
    }

    static func read<Result>(_ buffer: UnsafeRawBufferPointer, _ body: (OpaquePointer) -> Result?) -> Result? {
        // Safe: the reader refers to `buffer`, and is freed before it.
        guard let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else { return nil }
        defer { unsafe BIO_free(bio) }
        return unsafe body(bio)
    }

    /// Whether the bytes are PEM rather than DER. The beginning of a PEM block is searched everywhere, because tools
    /// write explanations before it.
    static func isPEM(_ bytes: [UInt8]) -> Bool {
        bytes.contains("-----BEGIN ".utf8)
    }
}

/// Collects the bytes of OpenSSL's writers in secret memory.
enum MemoryOutput {
    static func collect(_ body: (OpaquePointer) -> Bool) throws(CryptoError) -> SecretBytes {
        guard let bio = unsafe BIO_new(BIO_s_secmem()) else { throw .operationFailed("make a buffer") }
        defer { unsafe BIO_free(bio) }
        var start: UnsafeMutablePointer<CChar>?
        guard unsafe body(bio) else { throw .operationFailed("write a key") }
        let count = unsafe latchkey_bio_memory(bio, &start)
        guard count > 0, let start = unsafe start else { throw .operationFailed("write a key") }
        // Safe: `start` points to `count` bytes, which exist as long as `bio`.
        return unsafe SecretBytes(copying: RawSpan(_unsafeStart: start, byteCount: count))
    }
}
