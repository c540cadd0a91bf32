import CCurl
import KeyCrypto

/// One easy handle of libcurl with its options. Only one thread may use it.
///
/// Setting an option throws `failed` with libcurl's code if libcurl does not know the option or its value.
@safe
final class CurlEasy {
    let handle: UnsafeMutableRawPointer
    /// The header fields of the running transfer. libcurl reads them until the transfer has ended.
    private var sentFields: UnsafeMutablePointer<curl_slist>?

    /// Identifies the handle.
    var id: CurlHandleID { unsafe CurlHandleID(handle) }

    /// The result of the global initialisation of libcurl, which must happen once, before everything else.
    private static let library: CURLcode = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    static var isLibraryReady: Bool { library == CURLE_OK }

    init() throws(HTTPCallError) {
        guard Self.isLibraryReady, let handle = unsafe curl_easy_init() else {
            throw .failed(code: CURLE_FAILED_INIT.rawValue)
        }
        unsafe self.handle = handle
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(sentFields)
    }

    func set(_ option: CURLoption, _ value: Int) throws(HTTPCallError) {
        try check(unsafe latchkey_curl_set_long(handle, option, value))
    }

    func set(_ option: CURLoption, _ value: String) throws(HTTPCallError) {
        try check(unsafe latchkey_curl_set_text(handle, option, value))
    }

    func set(_ option: CURLoption, _ value: [UInt8]) throws(HTTPCallError) {
        try check(unsafe latchkey_curl_set_bytes(handle, option, value, value.count))
    }

    func set(_ option: CURLoption, _ secret: SharedSecret) throws(HTTPCallError) {
        try secret.bytes.withBytes { (span) throws(HTTPCallError) in
            let code = unsafe span.withUnsafeBytes { bytes in
                unsafe latchkey_curl_set_bytes(handle, option, bytes.baseAddress, bytes.count)
            }
            try check(code)
        }
    }

    /// Trusts only these authorities, in PEM.
    func trust(_ authorities: [UInt8]) throws(HTTPCallError) {
        try set(CURLOPT_CAINFO_BLOB, authorities)
        // Without this, the authorities in the system's folder would be trusted too.
        try check(unsafe latchkey_curl_set_text(handle, CURLOPT_CAPATH, nil))
    }

    /// Sets the header fields: complete lines without a line end. A line without a value removes libcurl's own field.
    func setFields(_ lines: [String]) throws(HTTPCallError) {
        var list = UnsafeMutablePointer<curl_slist>(nil)
        for line in lines { unsafe list = curl_slist_append(list, line) }
        // The previous list can be freed, because its transfer has ended.
        let before = unsafe sentFields
        unsafe sentFields = list
        try check(unsafe latchkey_curl_set_fields(handle, list))
        unsafe curl_slist_free_all(before)
    }

    /// Posts these bytes, which libcurl copies.
    func setBody(_ body: [UInt8]) throws(HTTPCallError) {
        try check(unsafe body.withUnsafeBytes { unsafe latchkey_curl_set_body(handle, $0.baseAddress, $0.count) })
    }

    /// Returns the status of the received answer.
    func status() throws(HTTPCallError) -> Int {
        var status = 0
        try check(unsafe latchkey_curl_status(handle, &status))
        return status
    }

    /// Returns the HTTP version of the received answer: "1.0", "1.1", "2" or "3".
    func version() throws(HTTPCallError) -> String {
        var version = 0
        try check(unsafe latchkey_curl_version(handle, &version))
        return switch version {
        case Int(CURL_HTTP_VERSION_1_0): "1.0"
        case Int(CURL_HTTP_VERSION_2_0): "2"
        case Int(CURL_HTTP_VERSION_3): "3"
        default: "1.1"
        }
    }

    /// The header fields of the received answer, in their order.
    var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        var last = UnsafeMutablePointer<curl_header>(nil)
        // Safe: libcurl keeps the fields until the handle is used again, and their names and values end with 0.
        while let field = unsafe latchkey_curl_next_field(handle, last) {
            unsafe fields.append((String(cString: field.pointee.name), String(cString: field.pointee.value)))
            unsafe last = field
        }
        return fields
    }

    func check(_ code: CURLcode) throws(HTTPCallError) {
        guard code == CURLE_OK else { throw .failed(code: code.rawValue) }
    }
}
