package import EventLoops
import Glibc
package import KeyCrypto
import Telemetry

/// Calls one HTTP service for the tasks of loops. It makes many calls concurrently, on its own thread.
///
/// Redirects are not followed, and proxies in the environment are ignored. The address is checked before a connection
/// is opened. Connections are kept open for later calls. The settings limit the number of concurrent calls, and each
/// call has its own connection.
package final class HTTPCaller: Sendable {
    private let settings: HTTPCallSettings
    private let queue: HTTPCallQueue
    private let multi: CurlMulti
    private let thread: JoinableThread

    /// Starts the thread.
    package init(_ settings: HTTPCallSettings) throws(EventLoopError) {
        self.settings = settings
        let queue = HTTPCallQueue(placeCount: settings.callMaximum, waitingMaximum: settings.waitingMaximum)
        let multi: CurlMulti
        do throws(HTTPCallError) {
            multi = try CurlMulti(connectionMaximum: settings.callMaximum)
        } catch {
            throw .threadNotStarted(errno: ENOMEM)
        }
        self.queue = queue
        self.multi = multi
        thread = JoinableThread(
            try NativeThread(name: "http-calls") { CallLoop(settings, queue, multi).run() })
    }

    deinit {
        // It does not wait, because this may run on a loop's thread. The thread owns everything that it needs, and ends
        // by itself.
        queue.stop()
        multi.wake()
    }

    /// Posts a JSON body, and returns the body of the answer with status 200. Throws `HTTPCallError` for any other
    /// status.
    ///
    /// `fields` are complete lines without a line end. The caller's task returns to its own executor.
    package func post(_ body: [UInt8], fields: [String]) async throws(HTTPCallError) -> [UInt8] {
        let answer = try await call(.post(body), fields: fields)
        guard answer.status == 200 else { throw .status(answer.status) }
        return answer.body
    }

    /// Gets the document of the URL, and returns an answer with status 200 or 304. Throws `HTTPCallError` for any other
    /// status.
    ///
    /// If the document still has the entity tag, the service may answer with status 304 and no body. The caller's task
    /// returns to its own executor.
    package func get(ifNot entityTag: String?) async throws(HTTPCallError) -> HTTPCallAnswer {
        let answer = try await call(.get, fields: entityTag.map { ["If-None-Match: \($0)"] } ?? [])
        guard answer.status == 200 || (answer.status == 304 && entityTag != nil) else { throw .status(answer.status) }
        return answer
    }

    private func call(_ message: HTTPCallMessage, fields: [String]) async throws(HTTPCallError) -> HTTPCallAnswer {
        let deadline = SystemMonotonicClock().monotonicTime + settings.timeout
        let result = await withCheckedContinuation { caller in
            let call = QueuedCall(message: message, fields: fields, deadline: deadline, caller: caller)
            if let refusal = queue.append(call) {
                caller.resume(returning: .failure(refusal))
            } else {
                multi.wake()
            }
        }
        return try result.get()
    }

    /// Refuses the waiting calls, and waits for the running ones. It must not be called on a loop.
    package func stop() {
        queue.stop()
        multi.wake()
        thread.join()
    }
}

/// The settings of a service that is called.
package struct HTTPCallSettings: Sendable {
    /// The addresses to which the service's name may resolve.
    package enum Reach: Equatable, Sendable {
        /// Only addresses of the public internet.
        case publicAddresses
        /// Any address, because the operator has listed the host as an internal one.
        case anyAddress
        /// Only addresses of this machine.
        case loopback
    }

    /// A certificate and its key, both in PEM, by which this server authenticates to the service.
    package struct Identity: Sendable {
        package let certificates: SharedSecret
        package let privateKey: SharedSecret

        package init(certificates: SharedSecret, privateKey: SharedSecret) {
            self.certificates = certificates
            self.privateKey = privateKey
        }
    }

    package let url: String
    package let reach: Reach
    /// The only authorities, in PEM, that are trusted for the service; nil for the system's authorities.
    package var authorities: [UInt8]?
    package var identity: Identity?
    /// The time from the call to the whole answer, including the wait for a place.
    package var timeout: Duration = .milliseconds(800)
    package var answerSizeMaximum = 64 * 1024
    /// The default of `callMaximum`. If each call takes 100 ms, it allows 640 calls per second.
    package static let callMaximumDefault = 64

    /// The most concurrent calls, each on its own connection.
    package var callMaximum = callMaximumDefault
    /// The most calls that wait for a place.
    package var waitingMaximum = 256

    package init(url: String, reach: Reach) {
        self.url = url
        self.reach = reach
    }
}

/// What a call sends.
enum HTTPCallMessage: Sendable {
    case get
    /// POST with this JSON text.
    case post([UInt8])
}

/// The answer to a call.
package struct HTTPCallAnswer: Equatable, Sendable {
    package let status: Int
    package let body: [UInt8]
    /// The entity tag of the document, for a later `get`; nil if the service sends none that can be sent back.
    package let entityTag: String?

    package init(status: Int, body: [UInt8], entityTag: String? = nil) {
        self.status = status
        self.body = body
        self.entityTag = entityTag
    }
}

/// Why a call failed.
package enum HTTPCallError: Error, Equatable, Sendable {
    /// Too many calls wait, or the call has waited too long for a place. The service is not at fault.
    case busy
    case timedOut
    /// The service's name resolves to a forbidden address.
    case addressForbidden
    /// The name look-up, the connection or TLS failed. The number is libcurl's.
    case failed(code: UInt32)
    /// The status is not 200. Redirects are among these.
    case status(Int)
    case answerTooLarge
    /// The server is shutting down.
    case stopped
}
