private import CCurl
import KeyCrypto
import POSIXSockets

/// One easy handle of libcurl for one call at a time, on the thread of the calls. `CurlMulti` has the connections.
@safe
final class CurlHandle {
    private static let entityTagSizeMaximum = 256

    let easy: CurlEasy
    private let transfer: Transfer
    private let settings: HTTPCallSettings
    /// Whether the call is a GET. No other call needs the entity tag of its answer.
    private var isGet = false

    /// Identifies the handle.
    var id: CurlHandleID { easy.id }

    /// Makes a handle. Throws `failed` if libcurl does not know an option.
    init(_ settings: HTTPCallSettings) throws(HTTPCallError) {
        easy = try CurlEasy()
        self.settings = settings
        transfer = Transfer(reach: settings.reach, sizeMaximum: settings.answerSizeMaximum)
        try configure()
    }

    // MARK: Options

    private func configure() throws(HTTPCallError) {
        try easy.set(CURLOPT_URL, settings.url)
        try easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        try easy.set(CURLOPT_FOLLOWLOCATION, 0)
        // An empty proxy and "*" make libcurl ignore the environment.
        try easy.set(CURLOPT_PROXY, "")
        try easy.set(CURLOPT_NOPROXY, "*")
        try easy.set(CURLOPT_NOSIGNAL, 1)
        try easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        try easy.set(CURLOPT_USERAGENT, "latchkey")
        try easy.set(CURLOPT_SSL_VERIFYPEER, 1)
        try easy.set(CURLOPT_SSL_VERIFYHOST, 2)
        try easy.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let authorities = settings.authorities { try easy.trust(authorities) }
        // libcurl then does not wait for its resolver thread after the timeout.
        try easy.set(CURLOPT_QUICK_EXIT, 1)
        if let identity = settings.identity { try present(identity) }
        // Safe: the transfer exists as long as the handle whose callbacks use it.
        let context = unsafe Unmanaged.passUnretained(transfer).toOpaque()
        try easy.check(unsafe latchkey_curl_set_callbacks(easy.handle, takeAnswer, openSocket, context))
    }

    private func present(_ identity: HTTPCallSettings.Identity) throws(HTTPCallError) {
        try easy.set(CURLOPT_SSLCERTTYPE, "PEM")
        try easy.set(CURLOPT_SSLKEYTYPE, "PEM")
        try easy.set(CURLOPT_SSLCERT_BLOB, identity.certificates)
        try easy.set(CURLOPT_SSLKEY_BLOB, identity.privateKey)
    }

    // MARK: A call

    /// Prepares the handle for a call that may take `limit`.
    func begin(
        _ message: HTTPCallMessage, fields lines: [String], within limit: Duration
    ) throws(HTTPCallError) {
        let milliseconds = max(1, Int(limit / .milliseconds(1)))
        try easy.set(CURLOPT_TIMEOUT_MS, milliseconds)
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
        transfer.begin()
        switch message {
        case .get:
            isGet = true
            try easy.set(CURLOPT_HTTPGET, 1)
            try easy.setFields(lines + ["Accept: application/json"])
        case .post(let body):
            isGet = false
            try easy.set(CURLOPT_POST, 1)
            // With an empty Expect, libcurl does not wait for a "100 Continue", which few services send.
            try easy.setFields(lines + ["Content-Type: application/json", "Accept: application/json", "Expect:"])
            try easy.setBody(body)
        }
    }

    /// Returns the result of a call that has ended. `code` is libcurl's result code.
    func end(_ code: UInt32) -> Result<HTTPCallAnswer, HTTPCallError> {
        Result { () throws(HTTPCallError) in try answer(CURLcode(rawValue: code)) }
    }

    private func answer(_ code: CURLcode) throws(HTTPCallError) -> HTTPCallAnswer {
        if transfer.isAddressRefused { throw .addressForbidden }
        if transfer.isTooLarge { throw .answerTooLarge }
        if code == CURLE_OPERATION_TIMEDOUT { throw .timedOut }
        try easy.check(code)
        return HTTPCallAnswer(
            status: try easy.status(), body: transfer.answer, entityTag: isGet ? entityTag : nil)
    }

    /// The entity tag of the answer, if it can be sent back as it is (RFC 9110, section 8.8.3).
    private var entityTag: String? {
        easy.fields.last { $0.name.lowercased() == "etag" }.map(\.value).flatMap { tag in
            let isPlain = tag.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            return isPlain && (1...Self.entityTagSizeMaximum).contains(tag.utf8.count) ? tag : nil
        }
    }
}

/// The state of libcurl's callbacks for one handle. They run on the thread that performs the call.
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

    /// Appends a part of the answer. Returns false if the answer becomes too large.
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
        // The flag can become false again, because the name may have another address, which is allowed.
        isAddressRefused = !isAllowed
        return isAllowed
    }
}

// The callbacks are free functions, because a closure could be isolated to an actor. libcurl calls them on the thread
// that performs the call.

private func takeAnswer(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    // Safe: the context is the handle's transfer, and the bytes exist until this function returns.
    let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let chunk = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer.take(chunk) ? size * count : 0
}

private func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ target: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context = unsafe context, let target = unsafe target else { return -1 }
    // Safe: the context is the handle's transfer, and the target exists until this function returns.
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
