private import CCurl
import KeyCrypto
import POSIXSockets

/// One easy handle of libcurl: one call at a time, on the thread of the calls. The connections are those of
/// `CurlMulti`.
@safe
final class CurlHandle {
    let handle: UnsafeMutableRawPointer
    /// The header fields of the call under way, which libcurl reads until it has ended.
    private var fields: UnsafeMutablePointer<curl_slist>?
    private let transfer: Transfer
    private let settings: HTTPCallSettings

    /// libcurl's own start, which must come before everything else and is not repeated.
    private static let library: CURLcode = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    static var isLibraryReady: Bool { library == CURLE_OK }

    /// Names the handle among those of one thread.
    var id: CurlHandleID { unsafe CurlHandleID(handle) }

    /// Throws `failed` where libcurl does not know an option.
    init(_ settings: HTTPCallSettings) throws(HTTPCallError) {
        guard Self.library == CURLE_OK, let handle = unsafe curl_easy_init() else {
            throw .failed(code: CURLE_FAILED_INIT.rawValue)
        }
        unsafe self.handle = handle
        self.settings = settings
        transfer = Transfer(reach: settings.reach, sizeMaximum: settings.answerSizeMaximum)
        try configure()
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(fields)
    }

    // MARK: Options

    private func configure() throws(HTTPCallError) {
        try set(CURLOPT_URL, settings.url)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        // An empty proxy and "*" keep what the environment says out.
        try set(CURLOPT_PROXY, "")
        try set(CURLOPT_NOPROXY, "*")
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_POST, 1)
        try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        try set(CURLOPT_USERAGENT, "latchkey")
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let authorities = settings.authorities {
            try set(CURLOPT_CAINFO_BLOB, authorities)
            // The system's folder of authorities would still count beside them.
            try check(unsafe latchkey_curl_set_text(handle, CURLOPT_CAPATH, nil))
        }
        // A resolver that does not answer holds no thread beyond the time-out.
        try set(CURLOPT_QUICK_EXIT, 1)
        if let identity = settings.identity { try present(identity) }
        // The transfer lives as long as the handle that calls back with it.
        let context = unsafe Unmanaged.passUnretained(transfer).toOpaque()
        try check(unsafe latchkey_curl_set_callbacks(handle, takeAnswer, openSocket, context))
    }

    private func present(_ identity: HTTPCallSettings.Identity) throws(HTTPCallError) {
        try set(CURLOPT_SSLCERTTYPE, "PEM")
        try set(CURLOPT_SSLKEYTYPE, "PEM")
        try set(CURLOPT_SSLCERT_BLOB, identity.certificates)
        try set(CURLOPT_SSLKEY_BLOB, identity.privateKey)
    }

    private func set(_ option: CURLoption, _ secret: SharedSecret) throws(HTTPCallError) {
        try secret.bytes.withBytes { (span) throws(HTTPCallError) in
            let code = unsafe span.withUnsafeBytes { bytes in
                unsafe latchkey_curl_set_bytes(handle, option, bytes.baseAddress, bytes.count)
            }
            try check(code)
        }
    }

    private func set(_ option: CURLoption, _ value: Int) throws(HTTPCallError) {
        try check(unsafe latchkey_curl_set_long(handle, option, value))
    }

    private func set(_ option: CURLoption, _ value: String) throws(HTTPCallError) {
        try check(unsafe latchkey_curl_set_text(handle, option, value))
    }

    private func set(_ option: CURLoption, _ value: [UInt8]) throws(HTTPCallError) {
        try check(unsafe latchkey_curl_set_bytes(handle, option, value, value.count))
    }

    private func check(_ code: CURLcode) throws(HTTPCallError) {
        guard code == CURLE_OK else { throw .failed(code: code.rawValue) }
    }

    // MARK: A call

    /// Makes the handle ready for a call that may take this long.
    func begin(_ body: [UInt8], fields lines: [String], within limit: Duration) throws(HTTPCallError) {
        let milliseconds = max(1, Int(limit / .milliseconds(1)))
        try set(CURLOPT_TIMEOUT_MS, milliseconds)
        try set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
        transfer.begin()
        // An empty Expect keeps libcurl from waiting for a "100 Continue" that few services send.
        var list = UnsafeMutablePointer<curl_slist>(nil)
        for line in lines + ["Content-Type: application/json", "Accept: application/json", "Expect:"] {
            unsafe list = curl_slist_append(list, line)
        }
        // The list of the call before has no reader any more.
        let before = unsafe fields
        unsafe fields = list
        try check(unsafe latchkey_curl_set_fields(handle, list))
        unsafe curl_slist_free_all(before)
        // libcurl copies the body during this call.
        try check(unsafe body.withUnsafeBytes { unsafe latchkey_curl_set_body(handle, $0.baseAddress, $0.count) })
    }

    /// What the call that has ended has brought; `code` is libcurl's.
    func end(_ code: UInt32) -> Result<[UInt8], HTTPCallError> {
        Result { () throws(HTTPCallError) in try answer(CURLcode(rawValue: code)) }
    }

    private func answer(_ code: CURLcode) throws(HTTPCallError) -> [UInt8] {
        if transfer.isAddressRefused { throw .addressForbidden }
        if transfer.isTooLarge { throw .answerTooLarge }
        if code == CURLE_OPERATION_TIMEDOUT { throw .timedOut }
        try check(code)
        var status = 0
        try check(unsafe latchkey_curl_status(handle, &status))
        guard status == 200 else { throw .status(status) }
        return transfer.answer
    }
}

/// What libcurl's call-backs of one handle see; they come on the thread that performs the call.
private final class Transfer {
    private let reach: HTTPCallSettings.Reach
    private let sizeMaximum: Int
    private(set) var answer: [UInt8] = []
    private(set) var isTooLarge = false
    private(set) var isAddressRefused = false

    init(reach: HTTPCallSettings.Reach, sizeMaximum: Int) {
        self.reach = reach
        self.sizeMaximum = sizeMaximum
    }

    func begin() {
        answer = []
        isTooLarge = false
        isAddressRefused = false
    }

    /// False where the answer becomes too large.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= sizeMaximum - answer.count else {
            isTooLarge = true
            return false
        }
        unsafe answer.append(contentsOf: bytes)
        return true
    }

    func mayConnect(to address: IPAddress?) -> Bool {
        let isAllowed =
            switch reach {
            case .publicAddresses: address?.isPublic ?? false
            case .anyAddress: address != nil
            case .loopback: address?.isLoopback ?? false
            }
        // Another address of the same name may do.
        isAddressRefused = !isAllowed
        return isAllowed
    }
}

// The call-backs are free functions: a closure could belong to an actor, and libcurl calls them on its caller's thread.

private func takeAnswer(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    // The context is the handle's transfer, and the bytes are there until this function returns.
    let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let chunk = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer.take(chunk) ? size * count : 0
}

private func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ target: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context = unsafe context, let target = unsafe target else { return -1 }
    // As above; the target is there until this function returns.
    let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    guard transfer.mayConnect(to: unsafe address(of: target)) else { return -1 }
    return unsafe latchkey_curl_open_socket(target)
}

private func address(of target: UnsafeMutablePointer<curl_sockaddr>) -> IPAddress? {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = unsafe latchkey_curl_address(target, &bytes)
    func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
    switch count {
    case 4: return .v4(UInt32(number(0..<4)))
    case 16: return .v6(number(0..<8), number(8..<16))
    default: return nil
    }
}
