private import CCurl

/// One easy handle of libcurl for the requests of a load, one at a time.
@safe
final class LoadHandle {
    let easy: CurlEasy
    private let mediaType: String
    private let answer: LoadBody
    /// The token whose header fields the handle has.
    private var bearer: String?

    init(_ settings: HTTPLoadSettings) throws(HTTPCallError) {
        easy = try CurlEasy()
        mediaType = settings.mediaType
        answer = LoadBody(sizeMaximum: settings.answerSizeMaximum)
        try configure(settings)
        // Safe: the body exists as long as the handle whose callback uses it.
        let context = unsafe Unmanaged.passUnretained(answer).toOpaque()
        try easy.check(unsafe latchkey_curl_set_writer(easy.handle, takeLoadBody, context))
    }

    private func configure(_ settings: HTTPLoadSettings) throws(HTTPCallError) {
        let milliseconds = max(1, Int(settings.timeout / .milliseconds(1)))
        try easy.set(CURLOPT_URL, settings.url)
        try easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        try easy.set(CURLOPT_FOLLOWLOCATION, 0)
        try easy.set(CURLOPT_PROXY, "")
        try easy.set(CURLOPT_NOPROXY, "*")
        try easy.set(CURLOPT_NOSIGNAL, 1)
        try easy.set(CURLOPT_TIMEOUT_MS, milliseconds)
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
        let version = settings.offersHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
        try easy.set(CURLOPT_HTTP_VERSION, Int(version))
        try easy.set(CURLOPT_SSL_VERIFYPEER, 1)
        try easy.set(CURLOPT_SSL_VERIFYHOST, 2)
        try easy.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let authorities = settings.authorities { try easy.trust(authorities) }
        if settings.startsNewConnections {
            try easy.set(CURLOPT_FRESH_CONNECT, 1)
            try easy.set(CURLOPT_FORBID_REUSE, 1)
            // Without a remembered session, every handshake is a full one.
            try easy.set(CURLOPT_SSL_SESSIONID_CACHE, 0)
        }
        try easy.set(CURLOPT_POST, 1)
    }

    /// Prepares the handle for a request.
    func begin(_ request: HTTPLoadRequest) throws(HTTPCallError) {
        answer.begin()
        try easy.setBody(request.body)
        guard request.bearer != bearer else { return }
        bearer = request.bearer
        try easy.setFields([
            "Content-Type: \(mediaType)", "Accept: \(mediaType)", "Authorization: Bearer \(request.bearer)",
            "User-Agent: latchkey-bench", "Expect:",
        ])
    }

    /// Returns the result of a request that has ended. `code` is libcurl's result code.
    func end(number: Int, _ code: UInt32) throws(HTTPCallError) -> HTTPLoadAnswer {
        var connections = 0
        try easy.check(unsafe latchkey_curl_connections(easy.handle, &connections))
        return HTTPLoadAnswer(
            number: number, outcome: try outcome(CURLcode(rawValue: code)), newConnections: connections)
    }

    private func outcome(_ code: CURLcode) throws(HTTPCallError) -> HTTPLoadAnswer.Outcome {
        if answer.isTooLarge { return .failed("The answer is too large") }
        // Safe: libcurl returns a constant text that ends with 0.
        guard code == CURLE_OK else { return .failed(unsafe String(cString: curl_easy_strerror(code))) }
        let status = try easy.status()
        let errorCode = status == 200 ? nil : easy.fields.first { $0.name.lowercased() == "x-error-code" }?.value
        return .answered(status: status, errorCode: errorCode, version: try easy.version(), body: answer.bytes)
    }
}

/// The body of the answer that a handle receives.
private final class LoadBody {
    private let sizeMaximum: Int
    private(set) var bytes: [UInt8] = []
    private(set) var isTooLarge = false

    init(sizeMaximum: Int) {
        self.sizeMaximum = sizeMaximum
    }

    func begin() {
        bytes = []
        isTooLarge = false
    }

    /// Appends a part of the answer. Returns false if the answer becomes too large.
    func take(_ part: UnsafeRawBufferPointer) -> Bool {
        guard part.count <= sizeMaximum - bytes.count else {
            isTooLarge = true
            return false
        }
        unsafe bytes.append(contentsOf: part)
        return true
    }
}

// A free function, because a closure could be isolated to an actor. libcurl calls it on the thread of the load.
private func takeLoadBody(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    // Safe: the context is the handle's body, and the bytes exist until this function returns.
    let body = unsafe Unmanaged<LoadBody>.fromOpaque(context).takeUnretainedValue()
    let part = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe body.take(part) ? size * count : 0
}
