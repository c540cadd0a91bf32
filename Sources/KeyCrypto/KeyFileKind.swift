import COpenSSL

/// What a file of certificates or keys seems to be, for messages about a file of another kind than expected.
package enum KeyFileKind: Equatable, Sendable {
    case certificateRequest
    /// PKCS#12: certificates and private keys under a password, such as `.p12` and `.pfx`.
    case keyStore
    /// The text says which key the certificate has.
    case certificate(String)
    case privateKey
    /// The text says which key it is.
    case publicKey(String)
    case zipArchive
    /// Text in UTF-16, as some editors write it.
    case utf16Text
    /// The beginning of a PEM or DER file.
    case cutOff

    /// Nil for any other file.
    package init?(_ bytes: [UInt8]) {
        if Self.isKeyStore(bytes) {
            self = .keyStore
        } else if Self.isRequest(bytes) {
            self = .certificateRequest
        } else if let certificate = OpenSSLCertificate.readAll(bytes, countMaximum: 16).first {
            self = .certificate(certificate.publicKey?.summary ?? "an unknown key")
        } else if let key = OpenSSLKey.publicKey(from: bytes) {
            self = .publicKey(key.summary)
        } else if Self.isPrivateKey(bytes) {
            self = .privateKey
        } else if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) {
            self = .zipArchive
        } else if Self.isUTF16(bytes) {
            self = .utf16Text
        } else if Self.isCutOff(bytes) {
            self = .cutOff
        } else {
            return nil
        }
    }

    /// A byte order mark, and characters that all have a zero byte.
    private static func isUTF16(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 4, bytes.count % 2 == 0 else { return false }
        let isLittle = bytes.starts(with: [0xFF, 0xFE])
        guard isLittle || bytes.starts(with: [0xFE, 0xFF]) else { return false }
        return stride(from: isLittle ? 3 : 2, to: bytes.count, by: 2).allSatisfy { bytes[$0] == 0 }
    }

    /// A PEM text without its last line, or a DER sequence that says that it is longer than the file. Only sequences of
    /// 256 bytes and more are recognised, so that few secrets look like one.
    private static func isCutOff(_ bytes: [UInt8]) -> Bool {
        if MemoryInput.isPEM(bytes) { return !String(decoding: bytes, as: UTF8.self).contains("-----END ") }
        guard bytes.count > 64, bytes.starts(with: [0x30, 0x82]) else { return false }
        return 4 + Int(bytes[2]) << 8 + Int(bytes[3]) > bytes.count
    }

    private static func isRequest(_ bytes: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        return unsafe MemoryInput.read(bytes) { bio in
            let request =
                MemoryInput.isPEM(bytes)
                ? unsafe PEM_read_bio_X509_REQ(bio, nil, nil, nil) : unsafe d2i_X509_REQ_bio(bio, nil)
            defer { unsafe X509_REQ_free(request) }
            return unsafe request != nil
        } ?? false
    }

    /// RFC 7292, section 4: a sequence that begins with the version 3, which begins no other file of keys.
    private static func isKeyStore(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 2, bytes[0] == 0x30 else { return false }
        let lengthSize = bytes[1] < 0x80 ? 1 : 1 + Int(bytes[1] & 0x7F)
        return bytes.dropFirst(1 + lengthSize).starts(with: [0x02, 0x01, 0x03])
    }

    private static func isPrivateKey(_ bytes: [UInt8]) -> Bool {
        do throws(CryptoError) {
            return try PrivateKeyReader.read(bytes, passphrase: nil) != nil
        } catch {
            return error == .passphraseMissing
        }
    }
}

extension KeyFileKind: CustomStringConvertible {
    /// What the file is, and the command that takes out of it what another field may need.
    package var description: String {
        switch self {
        case .certificateRequest:
            "a certificate signing request (CSR): name the certificate that was issued for it"
        case .keyStore:
            "a PKCS#12 file: take the certificate out of it with openssl pkcs12 -in FILE -clcerts -nokeys -out"
                + " CERTIFICATE.pem, and the private key with openssl pkcs12 -in FILE -nocerts -noenc -out KEY.pem"
        case .certificate(let key):
            "a certificate of \(key); openssl x509 -in FILE -noout -pubkey writes its public key"
        case .privateKey: "a private key"
        case .publicKey(let key): "\(key), public part"
        case .zipArchive: "a ZIP archive: unpack it, and name the file in it"
        case .utf16Text: "text in UTF-16: save it as plain text (ASCII or UTF-8)"
        case .cutOff: "only the beginning of a PEM or DER file: copy the whole file again"
        }
    }
}

extension OpenSSLKey {
    /// Algorithm and size, such as "an RSA key of 2048 bits" or "an EC key on the curve secp384r1".
    var summary: String {
        if isKind("RSA") { return unsafe "an RSA key of \(EVP_PKEY_get_bits(pointer)) bits" }
        guard isKind("EC") else {
            // Safe: the name belongs to OpenSSL, and is copied.
            let name = unsafe EVP_PKEY_get0_type_name(pointer).map { unsafe String(cString: $0) }
            return "a key for \(name ?? "an unknown algorithm")"
        }
        var name = [CChar](repeating: 0, count: 80)
        var count = 0
        guard unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, &count) == 1 else { return "an EC key" }
        let curve = String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "an EC key on the curve \(curve)"
    }
}
