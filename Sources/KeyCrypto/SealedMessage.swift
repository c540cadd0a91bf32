import COpenSSL

/// Messages that only the holders of certain private keys can open: CMS AuthEnvelopedData (RFC 5083) with AES-256-GCM
/// (RFC 5084), in DER.
///
/// The content's key is encrypted by RSAES-OAEP for RSA certificates, and by ECDH for EC ones. `openssl cms -decrypt
/// -inform DER` opens such a message too.
package enum SealedMessage {
    /// The most recipients of one message.
    package static let recipientsMaximum = 16

    /// Seals a message for the holders of the certificates in a PEM or DER file: 1 to 16 certificates with RSA or EC
    /// keys.
    ///
    /// Throws `notACertificate` for anything else, and `notAKey` for a certificate with another kind of key or a weak
    /// one.
    package static func seal(
        _ message: borrowing SecretBytes, for certificates: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        defer { ERR_clear_error() }
        let recipients = OpenSSLCertificate.readAll(certificates, countMaximum: recipientsMaximum)
        guard !recipients.isEmpty else { throw .notACertificate }
        for (index, recipient) in recipients.enumerated() {
            let key = recipient.publicKey
            guard let key, key.isKind("RSA") && key.bits >= 2048 || key.isKind("EC") && key.bits >= 256 else {
                throw .notAKey(
                    "certificate \(index + 1) has \(key?.summary ?? "an unknown key"); an RSA key needs at least 2048 bits, "
                        + "and an EC key at least 256")
            }
        }
        guard let contents = unsafe CMS_encrypt(nil, nil, EVP_aes_256_gcm(), UInt32(CMS_BINARY | CMS_PARTIAL)) else {
            throw .operationFailed("seal a message")
        }
        defer { unsafe CMS_ContentInfo_free(contents) }
        for recipient in recipients {
            guard unsafe add(recipient, to: contents) else { throw .operationFailed("seal for a certificate") }
        }
        let isSealed = unsafe message.withUnsafeMemory { memory in
            // The reader lends `memory` and is freed before it goes; the sealed message holds none of it.
            guard let input = unsafe BIO_new_mem_buf(memory, Int32(message.count)) else { return false }
            defer { unsafe BIO_free(input) }
            return unsafe CMS_final(contents, input, nil, UInt32(CMS_BINARY)) == 1
        }
        guard isSealed else { throw .operationFailed("seal a message") }
        return try unsafe MemoryOutput.collect { output in unsafe i2d_CMS_bio(output, contents) == 1 }.revealed()
    }

    /// The numbers of two equal certificates in a file, from 1; nil if all are different.
    package static func repetition(in certificates: [UInt8]) -> (first: Int, second: Int)? {
        let all = OpenSSLCertificate.readAll(certificates, countMaximum: recipientsMaximum).map(\.der)
        for (index, one) in all.enumerated() {
            if let first = all[..<index].firstIndex(of: one) { return (first + 1, index + 1) }
        }
        return nil
    }

    /// Opens a message with a private key in PEM or DER.
    ///
    /// Throws `authenticationFailed` if the key is not a recipient's or the message was altered, `notAKey` for bytes
    /// that are no private key, `passphraseMissing` or `passphraseWrong`.
    package static func open(
        _ sealed: [UInt8], with privateKey: borrowing SecretBytes, passphrase: SharedSecret? = nil
    ) throws(CryptoError) -> SecretBytes {
        defer { ERR_clear_error() }
        var bytes = privateKey.revealed()
        defer { bytes.wipe() }
        guard let reading = try PrivateKeyReader.read(bytes, passphrase: passphrase) else {
            throw .notAKey("a private key")
        }
        let contents = unsafe MemoryInput.read(sealed) { bio in unsafe d2i_CMS_bio(bio, nil) }
        guard let contents = unsafe contents else { throw .authenticationFailed }
        defer { unsafe CMS_ContentInfo_free(contents) }
        do {
            return try unsafe MemoryOutput.collect { output in
                unsafe CMS_decrypt(contents, reading.key.pointer, nil, nil, output, UInt32(CMS_BINARY)) == 1
            }
        } catch {
            throw .authenticationFailed
        }
    }

    /// `contents` lives as long as the call.
    private static func add(_ recipient: OpenSSLCertificate, to contents: OpaquePointer) -> Bool {
        guard let key = recipient.publicKey else { return false }
        let flags = UInt32(CMS_BINARY | CMS_KEY_PARAM)
        guard let added = unsafe CMS_add1_recipient_cert(contents, recipient.pointer, flags) else { return false }
        guard let context = unsafe CMS_RecipientInfo_get0_pkey_ctx(added) else { return false }
        // OpenSSL's own choices are SHA-1, and PKCS #1 v1.5 for RSA.
        if key.isKind("EC") { return unsafe EVP_PKEY_CTX_set_ecdh_kdf_md(context, EVP_sha256()) == 1 }
        guard key.isKind("RSA") else { return false }
        return unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1
            && EVP_PKEY_CTX_set_rsa_oaep_md(context, EVP_sha256()) == 1
            && EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha256()) == 1
    }
}
