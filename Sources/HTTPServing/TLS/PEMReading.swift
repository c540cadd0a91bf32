private import COpenSSL
import KeyCrypto

/// Reads what TLS needs from PEM.
enum PEMReading {
    /// All certificates in the text, in order; none when one of them is malformed.
    static func certificates(_ pem: [UInt8]) -> [CertificateHandle] {
        defer { ERR_clear_error() }
        var found: [CertificateHandle] = []
        unsafe withReader(pem.span.bytes) { bio in
            while let certificate = unsafe PEM_read_bio_X509(bio, nil, nil, nil) {
                unsafe found.append(CertificateHandle(owning: certificate))
            }
        }
        // The reader ends with "no start line"; anything else is a broken block.
        return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE ? found : []
    }

    /// The private key in the text; `nil` for none, and for one under a passphrase.
    static func privateKey(_ pem: borrowing SecretBytes) -> PrivateKeyHandle? {
        defer { ERR_clear_error() }
        return pem.withBytes { bytes in
            unsafe withReader(bytes) { bio in
                unsafe PrivateKeyHandle(owning: PEM_read_bio_PrivateKey(bio, nil, refusePassphrase, nil))
            }
        }
    }

    /// The reader refers to the bytes and ends before they do.
    private static func withReader<Result>(_ bytes: RawSpan, _ body: (OpaquePointer?) -> Result) -> Result {
        unsafe bytes.withUnsafeBytes { buffer in
            let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count))
            defer { unsafe BIO_free(bio) }
            return unsafe body(bio)
        }
    }
}

/// OpenSSL's password callback. It gives no password, so that OpenSSL does not ask at a terminal.
private func refusePassphrase(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ isWriting: Int32, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    -1
}
