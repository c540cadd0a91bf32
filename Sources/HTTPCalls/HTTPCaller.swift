package import EventLoops
import Glibc
package import KeyCrypto
import Telemetry

/// Calls one HTTP service from the tasks of loops, many at once, on one thread of its own.
///
/// No redirect is followed, no proxy is taken from the environment, and where a connection goes is decided once its
/// address is known. A connection is kept open for the next call. So many calls are under way as the settings allow,
/// each on a connection of its own.
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
        // Without waiting: this may be a loop's thread. The thread holds all that it needs, and ends by itself.
        queue.stop()
        multi.wake()
    }

    /// Posts a JSON body and gives the body of the answer, which had the status 200. Fields are complete lines without
    /// an end. The caller's task returns to its own executor.
    package func post(_ body: [UInt8], fields: [String]) async throws(HTTPCallError) -> [UInt8] {
        let deadline = SystemMonotonicClock().monotonicTime + settings.timeout
        let result = await withCheckedContinuation { caller in
            let call = QueuedCall(body: body, fields: fields, deadline: deadline, caller: caller)
            if let refusal = queue.append(call) {
                caller.resume(returning: .failure(refusal))
            } else {
                multi.wake()
            }
        }
        return try result.get()
    }

    /// Refuses what waits, and waits for what is under way. Not to be called on a loop.
    package func stop() {
        queue.stop()
        multi.wake()
        thread.join()
    }
}

/// A service that is called, and how.
package struct HTTPCallSettings: Sendable {
    /// Which addresses the service's name may lead to.
    package enum Reach: Equatable, Sendable {
        /// The public internet alone.
        case publicAddresses
        /// Any address: the operator has named the host as one inside.
        case anyAddress
        /// This machine alone.
        case loopback
    }

    /// A certificate and its key, both in PEM, by which the service knows this server.
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
    /// Authorities in PEM that alone may vouch for the service; nil for those of the system.
    package var authorities: [UInt8]?
    package var identity: Identity?
    /// From the question to the whole answer, waiting for a place included.
    package var timeout: Duration = .milliseconds(800)
    package var answerSizeMaximum = 64 * 1024
    /// How many calls may be under way at once, unless configured: at 100 ms each they are 640 in a second.
    package static let callMaximumDefault = 64

    /// How many calls may be under way at once, each on a connection of its own, and how many more may wait.
    package var callMaximum = callMaximumDefault
    package var waitingMaximum = 256

    package init(url: String, reach: Reach) {
        self.url = url
        self.reach = reach
    }
}

/// Why a call brought no answer.
package enum HTTPCallError: Error, Equatable, Sendable {
    /// As many calls wait as may: the fault is not the service's.
    case busy
    case timedOut
    /// The name leads to an address that the service may not have.
    case addressForbidden
    /// The name, the connection or TLS failed; the number is libcurl's.
    case failed(code: UInt32)
    /// Another status than 200; a redirection is one of these, and is not followed.
    case status(Int)
    case answerTooLarge
    /// The server goes down.
    case stopped
}
