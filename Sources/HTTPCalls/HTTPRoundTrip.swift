private import CCurl

/// One request, for programs that send one request at a time and need the whole answer.
package struct HTTPRoundTripRequest: Sendable {
    package enum Method: Sendable {
        case get
        /// POST with this body.
        case post([UInt8])
    }

    package let method: Method
    package let url: String
    /// Complete lines without a line end. libcurl's own `Content-Type`, `Accept` and `User-Agent` are not sent.
    package var fields: [String]

    package init(_ method: Method, _ url: String, fields: [String] = []) {
        self.method = method
        self.url = url
        self.fields = fields
    }
}

/// The settings for the way from this program to the server.
package struct HTTPRoundTripSettings: Sendable {
    package enum Proxy: Equatable, Sendable {
        /// The proxy in `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy`, which libcurl reads.
        case environment
        case none
        /// This proxy for every address.
        case url(String)
    }

    package var proxy: Proxy = .environment
    /// The path of the server's unix socket; nil for a server that is reached by name or address.
    package var unixSocket: String?
    /// The only authorities, in PEM, that are trusted for the server; nil for the system's authorities.
    package var authorities: [UInt8]?
    /// Whether HTTP/2 is offered with TLS (by ALPN). Without TLS, HTTP/1.1 is used.
    package var offersHTTP2 = true
    /// The time from the name look-up to the whole answer, in whole milliseconds, at least one.
    package var timeout: Duration = .seconds(30)
    /// The most bytes of an answer, after its content encoding was removed.
    package var answerSizeMaximum = 256 * 1024

    package init() {}
}

/// The answer of a server, with any status.
package struct HTTPRoundTripAnswer: Sendable {
    package let status: Int
    /// The HTTP version: "1.0", "1.1", "2" or "3".
    package let version: String
    /// The fields in the order of the answer. The case of names is unchanged.
    package let fields: [(name: String, value: String)]
    package let body: [UInt8]
    /// The time from the beginning of the transfer to the whole answer.
    package let duration: Duration

    /// Returns the value of the first field with a name, which is compared without regard to case.
    package func value(of name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// Why there is no answer. Texts come from libcurl, in English, and are for people.
package enum HTTPRoundTripError: Error, Equatable, Sendable {
    case hostUnknown
    case proxyUnknown
    /// The server or its proxy accepts no connection.
    case notConnected(String)
    case timedOut
    /// The authorities do not confirm the server's certificate, or it is for another name.
    case certificateRefused(String)
    /// The given authorities are not certificates in PEM.
    case authoritiesUnusable
    /// The proxy refused the connection with this status.
    case proxyRefused(status: Int)
    case answerTooLarge
    /// The connection ended before the answer was complete.
    case closedEarly
    /// Another error. The number is libcurl's.
    case failed(code: UInt32, String)
}

/// Sends a request with libcurl, over its own connection.
///
/// The certificate of the server is always checked. Redirects are not followed, so that the contents of a request only
/// go to the named server. Answers may be compressed.
package enum HTTPRoundTrip {
    /// Sends a request. Blocks the thread until the answer is complete or the timeout is reached.
    package static func perform(
        _ request: HTTPRoundTripRequest, _ settings: HTTPRoundTripSettings
    ) throws(HTTPRoundTripError) -> HTTPRoundTripAnswer {
        let transfer = RoundTripTransfer(sizeMaximum: settings.answerSizeMaximum)
        let outcome: Result<HTTPRoundTripAnswer, HTTPRoundTripError>
        do throws(HTTPCallError) {
            let easy = try CurlEasy()
            try configure(easy, settings)
            try set(request, on: easy)
            outcome = try transfer.run(easy)
        } catch {
            // An option failed: libcurl is too old, or was built without a feature.
            throw .failed(code: CURLE_UNKNOWN_OPTION.rawValue, "\(error)")
        }
        return try outcome.get()
    }

    /// Returns the certificate that a server presents, in PEM. Returns nil if the server presents none.
    ///
    /// The certificate is not checked. The request is a GET without fields of the caller, so that a wrong server learns
    /// nothing. Blocks the thread.
    package static func servedCertificate(
        _ url: String, _ settings: HTTPRoundTripSettings
    ) throws(HTTPRoundTripError) -> [UInt8]? {
        let transfer = RoundTripTransfer(sizeMaximum: settings.answerSizeMaximum)
        do throws(HTTPCallError) {
            let easy = try CurlEasy()
            try configure(easy, settings)
            try easy.set(CURLOPT_SSL_VERIFYPEER, 0)
            try easy.set(CURLOPT_SSL_VERIFYHOST, 0)
            try easy.set(CURLOPT_CERTINFO, 1)
            try set(HTTPRoundTripRequest(.get, url), on: easy)
            // Also of a server that wants a certificate of its client and ends the connection.
            _ = try transfer.run(easy)
            return unsafe latchkey_curl_served_certificate(easy.handle).map { unsafe Array(String(cString: $0).utf8) }
        } catch {
            throw .failed(code: CURLE_UNKNOWN_OPTION.rawValue, "\(error)")
        }
    }

    private static func configure(_ easy: CurlEasy, _ settings: HTTPRoundTripSettings) throws(HTTPCallError) {
        let milliseconds = max(1, Int(settings.timeout / .milliseconds(1)))
        try easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        try easy.set(CURLOPT_FOLLOWLOCATION, 0)
        try easy.set(CURLOPT_NOSIGNAL, 1)
        try easy.set(CURLOPT_TIMEOUT_MS, milliseconds)
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
        let version = settings.offersHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
        try easy.set(CURLOPT_HTTP_VERSION, Int(version))
        // An empty text offers every encoding that libcurl supports, as browsers and apps do.
        try easy.set(CURLOPT_ACCEPT_ENCODING, "")
        try easy.set(CURLOPT_SSL_VERIFYPEER, 1)
        try easy.set(CURLOPT_SSL_VERIFYHOST, 2)
        try easy.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let path = settings.unixSocket { try easy.set(CURLOPT_UNIX_SOCKET_PATH, path) }
        if let authorities = settings.authorities { try easy.trust(authorities) }
        switch settings.proxy {
        case .environment: break
        case .none: try easy.set(CURLOPT_PROXY, "")
        case .url(let url):
            try easy.set(CURLOPT_PROXY, url)
            // Makes libcurl ignore `no_proxy`.
            try easy.set(CURLOPT_NOPROXY, "")
        }
    }

    private static func set(_ request: HTTPRoundTripRequest, on easy: CurlEasy) throws(HTTPCallError) {
        try easy.set(CURLOPT_URL, request.url)
        let names = Set(request.fields.map { $0.prefix { $0 != ":" }.lowercased() })
        let unwanted = ["Content-Type", "Accept", "User-Agent"].filter { !names.contains($0.lowercased()) }
        // Without "Expect:", libcurl would wait for a "100 Continue" before larger bodies.
        try easy.setFields(request.fields + unwanted.map { $0 + ":" } + ["Expect:"])
        switch request.method {
        case .get: try easy.set(CURLOPT_HTTPGET, 1)
        case .post(let body):
            try easy.set(CURLOPT_POST, 1)
            try easy.setBody(body)
        }
    }
}

/// The state of libcurl's callbacks for one transfer. They run on the thread that performs the transfer.
@safe
private final class RoundTripTransfer {
    private let sizeMaximum: Int
    private var body: [UInt8] = []
    private var isTooLarge = false
    /// The buffer for libcurl's error text.
    private let message: UnsafeMutablePointer<CChar>

    init(sizeMaximum: Int) {
        self.sizeMaximum = sizeMaximum
        unsafe message = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        unsafe message.deallocate()
    }

    func run(_ easy: CurlEasy) throws(HTTPCallError) -> Result<HTTPRoundTripAnswer, HTTPRoundTripError> {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        // Safe: this object exists until the function returns, and the callbacks run only during `curl_easy_perform`.
        try easy.check(unsafe latchkey_curl_set_writer(easy.handle, takeRoundTrip, context))
        try easy.check(unsafe latchkey_curl_set_error_buffer(easy.handle, message))
        let code = unsafe curl_easy_perform(easy.handle)
        try easy.check(unsafe latchkey_curl_set_error_buffer(easy.handle, nil))
        guard code == CURLE_OK else { return .failure(try error(of: code, easy)) }
        return .success(try answer(of: easy))
    }

    /// Appends a part of the answer. Returns false if the answer becomes too large.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= sizeMaximum - body.count else {
            isTooLarge = true
            return false
        }
        unsafe body.append(contentsOf: bytes)
        return true
    }

    private func answer(of easy: CurlEasy) throws(HTTPCallError) -> HTTPRoundTripAnswer {
        var microseconds: Int64 = 0
        try easy.check(unsafe latchkey_curl_total_time(easy.handle, &microseconds))
        return HTTPRoundTripAnswer(
            status: try easy.status(), version: try easy.version(), fields: easy.fields, body: body,
            duration: .microseconds(microseconds))
    }

    private func error(of code: CURLcode, _ easy: CurlEasy) throws(HTTPCallError) -> HTTPRoundTripError {
        if isTooLarge { return .answerTooLarge }
        var proxyStatus = 0
        try easy.check(unsafe latchkey_curl_connect_status(easy.handle, &proxyStatus))
        if proxyStatus != 0, proxyStatus / 100 != 2 { return .proxyRefused(status: proxyStatus) }
        // Safe: libcurl ends its text with 0 within the buffer.
        let own = unsafe String(cString: message)
        let text = own.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : own
        return switch code {
        case CURLE_COULDNT_RESOLVE_HOST: .hostUnknown
        case CURLE_COULDNT_RESOLVE_PROXY: .proxyUnknown
        case CURLE_COULDNT_CONNECT: .notConnected(text)
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_PEER_FAILED_VERIFICATION: .certificateRefused(text)
        case CURLE_SSL_CACERT_BADFILE: .authoritiesUnusable
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE: .closedEarly
        default: .failed(code: code.rawValue, text)
        }
    }
}

// A free function, because a closure could be isolated to an actor. libcurl calls it on the thread that performs the
// transfer.
private func takeRoundTrip(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    // Safe: the context is the running transfer, and the bytes exist until this function returns.
    let transfer = unsafe Unmanaged<RoundTripTransfer>.fromOpaque(context).takeUnretainedValue()
    let chunk = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer.take(chunk) ? size * count : 0
}
