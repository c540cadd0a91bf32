/// Sends the requests of a source to one server, for load generators. Many requests are under way at the same time.
///
/// It blocks the thread that runs it. Several loads can run on several threads. Redirects are not followed, and no
/// proxy is used.
package final class HTTPLoad {
    private struct Running {
        let handle: LoadHandle
        let number: Int
    }

    /// The longest sleep if no request is due.
    private static let sleepMaximum: Duration = .seconds(1)

    private let settings: HTTPLoadSettings
    private let multi: CurlMulti
    private let timer: CurlTimer
    private var running: [CurlHandleID: Running] = [:]
    private var idle: [LoadHandle] = []

    package init(_ settings: HTTPLoadSettings) throws(HTTPCallError) {
        self.settings = settings
        multi = try CurlMulti(
            connectionMaximum: settings.connectionCount, streamMaximum: settings.streamsPerConnection)
        timer = try CurlTimer()
    }

    /// Sends requests until the source has no more of them and all answers are there.
    ///
    /// Throws only if libcurl itself fails. A request that gets no answer is reported to the source.
    package func run(_ source: some HTTPLoadSource) throws(HTTPCallError) {
        while true {
            let nextStart = try startRequests(of: source)
            if nextStart == nil, running.isEmpty { return }
            try multi.perform()
            guard try !takeAnswers(for: source) else { continue }
            let now = ContinuousClock.now
            let rest = nextStart.map { min(now.duration(to: $0), Self.sleepMaximum) } ?? Self.sleepMaximum
            try multi.wait(atMost: rest, with: timer)
        }
    }

    /// Starts all requests that are due and have a place.
    ///
    /// Returns the time of the next request, or nil if there are no more requests.
    private func startRequests(of source: some HTTPLoadSource) throws(HTTPCallError) -> ContinuousClock.Instant? {
        while running.count < settings.requestMaximum {
            switch source.next(at: .now) {
            case .end: return nil
            case .wait(let time): return time
            case .send(let request):
                let handle = if let known = idle.popLast() { known } else { try LoadHandle(settings) }
                try handle.begin(request)
                try multi.add(handle.easy)
                running[handle.easy.id] = Running(handle: handle, number: request.number)
            }
        }
        // An answer must come first, and it ends the wait.
        return ContinuousClock.now + Self.sleepMaximum
    }

    /// Gives the source all answers that are complete. Returns whether there was one.
    private func takeAnswers(for source: some HTTPLoadSource) throws(HTTPCallError) -> Bool {
        var ended: [(CurlHandleID, UInt32)] = []
        multi.forEachEnded { ended.append(($0, $1)) }
        guard !ended.isEmpty else { return false }
        let now = ContinuousClock.now
        for (id, code) in ended {
            guard let call = running.removeValue(forKey: id) else { continue }
            multi.remove(call.handle.easy)
            idle.append(call.handle)
            source.take(try call.handle.end(number: call.number, code), at: now)
        }
        return true
    }
}

/// The requests of a load, and the receiver of its answers. All calls come from the thread that runs the load.
package protocol HTTPLoadSource: AnyObject {
    /// Returns what the load does next. It is called when a further request can be sent.
    func next(at now: ContinuousClock.Instant) -> HTTPLoadStep

    /// Takes the answer to a request. It was complete at `now`.
    func take(_ answer: HTTPLoadAnswer, at now: ContinuousClock.Instant)
}

/// The next step of a load.
package enum HTTPLoadStep: Sendable {
    case send(HTTPLoadRequest)
    /// No request is due before this time.
    case wait(until: ContinuousClock.Instant)
    case end
}

/// One request of a load: a POST.
package struct HTTPLoadRequest: Sendable {
    /// Identifies the request in its answer.
    package let number: Int
    package let body: [UInt8]
    package let bearer: String

    package init(number: Int, body: [UInt8], bearer: String) {
        self.number = number
        self.body = body
        self.bearer = bearer
    }
}

/// The result of one request of a load.
package struct HTTPLoadAnswer: Sendable {
    package enum Outcome: Sendable {
        /// `errorCode` is the field `X-Error-Code`, and `version` is the version of HTTP, such as "1.1".
        case answered(status: Int, errorCode: String?, version: String, body: [UInt8])
        /// No answer. The text is libcurl's, in English.
        case failed(String)
    }

    package let number: Int
    package let outcome: Outcome
    /// The number of connections that were opened for this request.
    package let newConnections: Int

    package init(number: Int, outcome: Outcome, newConnections: Int) {
        self.number = number
        self.outcome = outcome
        self.newConnections = newConnections
    }
}

/// The server and the connections of a load.
package struct HTTPLoadSettings: Sendable {
    package let url: String
    /// The only authorities, in PEM, that are trusted for the server; nil for the system's authorities.
    package var authorities: [UInt8]?
    /// Whether HTTP/2 is offered with TLS (by ALPN). Without TLS, HTTP/1.1 is used, because libcurl before version 8
    /// fails on connections of HTTP/2 without TLS when it uses them again.
    package var offersHTTP2 = false
    package var connectionCount = 1
    /// The most requests that share a connection at the same time; at least 1. More than 1 needs HTTP/2.
    package var streamsPerConnection = 1
    /// Whether each request has a new connection, with a full TLS handshake.
    package var startsNewConnections = false
    /// The time from the start of a request to its whole answer.
    package var timeout: Duration = .seconds(30)
    package var answerSizeMaximum = 256 * 1024
    /// The media type of the bodies, and of the answers that are asked for.
    package var mediaType = "application/octet-stream"

    package init(url: String) {
        self.url = url
    }

    var requestMaximum: Int { connectionCount * streamsPerConnection }
}
