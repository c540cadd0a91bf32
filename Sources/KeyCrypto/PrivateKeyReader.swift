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

    private static func readPEM(_ bytes: [UInt8], _ request: inout PassphraseRequest) -> OpenSSLKey? {
        unsafe MemoryInput.read(bytes) { bio in
            // Safe: the callback gets the request, which outlives the call.
            unsafe OpenSSLKey(owning: PEM_read_bio_PrivateKey(bio, nil, answerPassphrase, &request))
        }
    }

    private static func readDER(_ bytes: [UInt8], _ request: inout PassphraseRequest) -> OpenSSLKey? {
        // This reader accepts only encrypted keys. For other bytes, it does not ask for the passphrase.
        let encrypted = unsafe MemoryInput.read(bytes) { bio in
            unsafe OpenSSLKey(owning: d2i_PKCS8PrivateKey_bio(bio, nil, answerPassphrase, &request))
        }
        if unsafe encrypted != nil || request.wasAsked { return encrypted }
        return unsafe MemoryInput.read(bytes) { bio in unsafe OpenSSLKey(owning: d2i_PrivateKey_bio(bio, nil)) }
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
