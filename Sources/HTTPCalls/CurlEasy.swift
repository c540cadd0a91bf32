import CCurl
import KeyCrypto

/// One easy handle of libcurl and its options. One thread uses it.
///
/// Every option throws `failed` with libcurl's code if libcurl does not know it or its value.
@safe
final class CurlEasy {
    let handle: UnsafeMutableRawPointer
    /// The header fields of the transfer under way, which libcurl reads until it has ended.
    private var fields: UnsafeMutablePointer<curl_slist>?

    /// libcurl's own start, which must come before everything else and is not repeated.
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
        unsafe curl_slist_free_all(fields)
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

    /// Trusts these authorities, in PEM, and no others.
    func trust(_ authorities: [UInt8]) throws(HTTPCallError) {
        try set(CURLOPT_CAINFO_BLOB, authorities)
        // The system's folder of authorities would still count beside them.
        try check(unsafe latchkey_curl_set_text(handle, CURLOPT_CAPATH, nil))
    }

    /// Sends these header fields: complete lines without an end. A line without a value takes libcurl's own field away.
    func setFields(_ lines: [String]) throws(HTTPCallError) {
        var list = UnsafeMutablePointer<curl_slist>(nil)
        for line in lines { unsafe list = curl_slist_append(list, line) }
        // The list of the transfer before has no reader any more.
        let before = unsafe fields
        unsafe fields = list
        try check(unsafe latchkey_curl_set_fields(handle, list))
        unsafe curl_slist_free_all(before)
    }

    /// Posts these bytes, which libcurl copies.
    func setBody(_ body: [UInt8]) throws(HTTPCallError) {
        try check(unsafe body.withUnsafeBytes { unsafe latchkey_curl_set_body(handle, $0.baseAddress, $0.count) })
    }

    /// The status of the answer that has come.
    func status() throws(HTTPCallError) -> Int {
        var status = 0
        try check(unsafe latchkey_curl_status(handle, &status))
        return status
    }

    func check(_ code: CURLcode) throws(HTTPCallError) {
        guard code == CURLE_OK else { throw .failed(code: code.rawValue) }
    }
}
