import COpenSSL

/// Reads private keys in all common forms: PEM or DER, PKCS#8 or traditional, plain or encrypted with a passphrase.
enum PrivateKeyReader {
    struct Reading {
        let key: OpenSSLKey
        /// Whether the passphrase was needed.
        let wasEncrypted: Bool
    }

    /// Reads a private key; nil if the bytes are not a private key. Throws `passphraseMissing` or `passphraseWrong`.
    static func read(_ bytes: [UInt8], passphrase: SharedSecret?) throws(CryptoError) -> Reading? {
        defer { ERR_clear_error() }
        guard let passphrase else {
            var request = unsafe PassphraseRequest(passphrase: nil, count: 0)
            return try unsafe read(bytes, &request)
        }
        return try unsafe passphrase.bytes.withUnsafeMemory { (memory) throws(CryptoError) in
            // Safe: the request ends before the memory.
            var request = unsafe PassphraseRequest(passphrase: memory, count: passphrase.bytes.count)
            return try unsafe read(bytes, &request)
        }
    }

    private static func read(
        _ bytes: [UInt8], _ request: inout PassphraseRequest
    ) throws(CryptoError) -> Reading? {
        let key = unsafe MemoryInput.isPEM(bytes) ? readPEM(bytes, &request) : readDER(bytes, &request)
        let wasAsked = unsafe request.wasAsked
        if let key { return Reading(key: key, wasEncrypted: wasAsked) }
        guard wasAsked else { return nil }
        throw unsafe request.passphrase == nil ? .passphraseMissing : .passphraseWrong
    }

    /// Reads the DER within PEM into secret memory first. OpenSSL's reader of PEM keys leaves the DER behind in
    /// ordinary memory.
    private static func readPEM(_ bytes: [UInt8], _ request: inout PassphraseRequest) -> OpenSSLKey? {
        var (der, count) = unsafe (UnsafeMutablePointer<UInt8>?.none, 0)
        let found: Bool? = unsafe MemoryInput.read(bytes) { bio in
            // Safe: the callback gets the request, which outlives the call.
            unsafe PEM_bytes_read_bio_secmem(
                &der, &count, nil, PEM_STRING_EVP_PKEY, bio, answerPassphrase, &request) == 1
        }
        guard found == true, let der = unsafe der else { return nil }
        defer { unsafe latchkey_secure_clear_free(der, count) }
        // Safe: the memory has `count` bytes until it is freed.
        let bytes = unsafe UnsafeRawBufferPointer(start: der, count: count)
        // A passphrase that was needed has opened the block, and what is in it is plain.
        return unsafe request.wasAsked ? readPlainDER(bytes) : readDER(bytes, &request)
    }

    private static func readDER(_ bytes: [UInt8], _ request: inout PassphraseRequest) -> OpenSSLKey? {
        // Safe: the array exists during the call.
        unsafe bytes.withUnsafeBytes { buffer in unsafe readDER(buffer, &request) }
    }

    private static func readDER(
        _ bytes: UnsafeRawBufferPointer, _ request: inout PassphraseRequest
    ) -> OpenSSLKey? {
        // This reader accepts only encrypted keys. For other bytes, it does not ask for the passphrase.
        let encrypted = unsafe MemoryInput.read(bytes) { bio in
            unsafe OpenSSLKey(owning: d2i_PKCS8PrivateKey_bio(bio, nil, answerPassphrase, &request))
        }
        if unsafe encrypted != nil || request.wasAsked { return encrypted }
        return unsafe readPlainDER(bytes)
    }

    private static func readPlainDER(_ bytes: UnsafeRawBufferPointer) -> OpenSSLKey? {
        unsafe MemoryInput.read(bytes) { bio in unsafe OpenSSLKey(owning: d2i_PrivateKey_bio(bio, nil)) }
    }
}

/// The argument of OpenSSL's password callback: the passphrase if there is one, and whether the callback was called.
@unsafe
private struct PassphraseRequest {
    /// The passphrase, which is lent during one reading.
    let passphrase: UnsafeMutablePointer<UInt8>?
    let count: Int
    var wasAsked = false
}

/// OpenSSL's password callback: copies the passphrase of the request in `userData`, and never asks at a terminal.
private func answerPassphrase(
    buffer: UnsafeMutablePointer<CChar>?, size: Int32, isWriting: Int32, userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let buffer = unsafe buffer, let userData = unsafe userData else { return -1 }
    // Safe: `PrivateKeyReader` passes a request that outlives the call, and the buffer has `size` bytes.
    let request = unsafe userData.assumingMemoryBound(to: PassphraseRequest.self)
    unsafe request.pointee.wasAsked = true
    guard let passphrase = unsafe request.pointee.passphrase, unsafe request.pointee.count <= Int(size) else {
        return -1
    }
    let count = unsafe request.pointee.count
    unsafe UnsafeMutableRawPointer(buffer).copyMemory(from: passphrase, byteCount: count)
    return Int32(count)
}
