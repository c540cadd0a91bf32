import COpenSSL

/// The owner of an `X509`, which is freed together with this object.
@safe
final class OpenSSLCertificate: @unchecked Sendable {
    // Safe to share: the certificate is only read after `init`, and OpenSSL locks the parts that it fills in later.
    let pointer: OpaquePointer

    /// Takes over the caller's reference.
    init?(owning pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe X509_free(pointer)
    }

    /// Reads all certificates in `bytes`, at most `countMaximum`: concatenated DER encodings, or the blocks of a PEM
    /// text.
    ///
    /// The result is empty if there is no certificate, if there are more than `countMaximum`, or if a DER file contains
    /// anything else.
    static func readAll(_ bytes: [UInt8], countMaximum: Int) -> [OpenSSLCertificate] {
        defer { ERR_clear_error() }
        let found = MemoryInput.isPEM(bytes) ? readPEM(bytes, countMaximum) : readDER(bytes, countMaximum)
        return found ?? []
    }

    private static func readDER(_ bytes: [UInt8], _ countMaximum: Int) -> [OpenSSLCertificate]? {
        unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return nil }
            let end = unsafe base + buffer.count
            // Safe: OpenSSL moves the cursor to the end of the bytes that it has read, which is at most `end`.
            var cursor: UnsafePointer<UInt8>? = unsafe base
            var found: [OpenSSLCertificate] = []
            while let position = unsafe cursor, unsafe position < end {
                guard found.count < countMaximum,
                    let certificate = unsafe OpenSSLCertificate(owning: d2i_X509(nil, &cursor, end - position))
                else { return nil }
                found.append(certificate)
            }
            return found
        }
    }

    private static func readPEM(_ bytes: [UInt8], _ countMaximum: Int) -> [OpenSSLCertificate]? {
        unsafe MemoryInput.read(bytes) { bio in
            var found: [OpenSSLCertificate] = []
            while let certificate = unsafe OpenSSLCertificate(owning: PEM_read_bio_X509(bio, nil, nil, nil)) {
                guard found.count < countMaximum else { return nil }
                found.append(certificate)
            }
            // At the end of the text, OpenSSL reports "no start line". Any other error means a malformed block.
            return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE ? found : nil
        }
    }

    /// The DER encoding; nil if OpenSSL has no memory for it.
    var der: [UInt8]? {
        let size = unsafe i2d_X509(pointer, nil)
        guard size > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let written = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            // Safe: the buffer has `size` bytes, which is the result of the first call.
            var cursor = buffer.baseAddress
            return unsafe i2d_X509(pointer, &cursor)
        }
        return written == size ? bytes : nil
    }

    var publicKey: OpenSSLKey? {
        defer { ERR_clear_error() }
        return unsafe OpenSSLKey(owning: X509_get_pubkey(pointer))
    }

    /// The beginning of the validity in seconds since 1970; nil if it cannot be read.
    var notBefore: Int64? {
        unsafe Self.seconds(X509_get0_notBefore(pointer))
    }

    /// The end of the validity in seconds since 1970; nil if it cannot be read.
    var notAfter: Int64? {
        unsafe Self.seconds(X509_get0_notAfter(pointer))
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        defer { ERR_clear_error() }
        var days: Int32 = 0
        var seconds: Int32 = 0
        // The Unix time is the difference from 1970-01-01 as OpenSSL counts it.
        guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { return nil }
        defer { unsafe ASN1_STRING_free(epoch) }
        guard unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
        return Int64(days) * 86_400 + Int64(seconds)
    }

    /// The subject's organization, of at most 127 bytes.
    var organization: String? { subjectText(NID_organizationName) }

    /// The subject's first organizational unit, of at most 127 bytes.
    var organizationalUnit: String? { subjectText(NID_organizationalUnitName) }

    private func subjectText(_ field: Int32) -> String? {
        guard let name = unsafe X509_get_subject_name(pointer) else { return nil }
        var text = [CChar](repeating: 0, count: 128)
        // Safe: OpenSSL writes at most the given size, including the terminator.
        let length = unsafe X509_NAME_get_text_by_NID(name, field, &text, Int32(text.count))
        guard length >= 0 else { return nil }
        return String(decoding: text.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The value of the first extension with this object identifier, in dotted form; nil if the certificate does not
    /// have it.
    func extensionValue(_ identifier: String) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard let object = unsafe OBJ_txt2obj(identifier, 1) else { return nil }
        defer { unsafe ASN1_OBJECT_free(object) }
        // Safe: the extension and its value belong to the certificate, which outlives this call.
        let index = unsafe X509_get_ext_by_OBJ(pointer, object, -1)
        guard index >= 0, let data = unsafe X509_EXTENSION_get_data(X509_get_ext(pointer, index)),
            let bytes = unsafe ASN1_STRING_get0_data(data)
        else { return nil }
        return unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: Int(ASN1_STRING_length(data))))
    }
}
