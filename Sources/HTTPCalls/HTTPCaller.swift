package import EventLoops
import Glibc
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
