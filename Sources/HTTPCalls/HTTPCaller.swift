package import EventLoops
import Synchronization
import Telemetry

/// Calls one HTTP service from the tasks of loops, on threads of its own.
///
/// No redirect is followed, no proxy is taken from the environment, and where a connection goes is decided once its address is known. Each
/// thread keeps its connections to the service open for the next call.
package final class HTTPCaller: Sendable {
    private let settings: HTTPCallSettings
    private let pool: BlockingWorkerPool
    /// One for each thread, made when it is first needed.
    private let idle = Mutex<[CurlHandle]>([])

    /// Starts the threads.
    package init(_ settings: HTTPCallSettings) throws(EventLoopError) {
        self.settings = settings
        pool = try BlockingWorkerPool(
            threadCount: settings.threadCount, queueLengthMaximum: settings.waitingMaximum, name: "http-call")
    }

    /// Posts a JSON body and gives the body of the answer, which had the status 200. Fields are complete lines without an end.
    package func post(
        _ body: [UInt8], fields: [String], on loop: LoopContext
    ) async throws(HTTPCallError) -> [UInt8] {
        let deadline = SystemMonotonicClock().monotonicTime + settings.timeout
        let outcome: Result<[UInt8], HTTPCallError>
        let hasBegun = BegunFlag()
        do throws(WorkerPoolError) {
            outcome = try await pool.run(on: loop, within: settings.timeout) { [self] in
                hasBegun.set()
                let remaining = deadline - SystemMonotonicClock().monotonicTime
                return Result { () throws(HTTPCallError) in try call(body, fields, within: remaining) }
            }
        } catch {
            throw HTTPCallError(error, hasBegun: hasBegun.isSet)
        }
        return try outcome.get()
    }

    /// On a thread of the pool: as many handles are in use as threads.
    private func call(
        _ body: [UInt8], _ fields: [String], within limit: Duration
    ) throws(HTTPCallError) -> [UInt8] {
        guard limit > .zero else { throw .busy }
        let known = idle.withLock { $0.popLast() }
        let handle = if let known { known } else { try CurlHandle(settings) }
        defer { idle.withLock { $0.append(handle) } }
        return try handle.post(body, fields: fields, within: limit)
    }

    /// Refuses what waits, and waits for what is under way. Not to be called on a loop.
    package func stop() {
        pool.stop()
    }
}

/// Whether a call has left the queue: one that has not tells nothing of the service.
private final class BegunFlag: Sendable {
    private let state = Atomic<Bool>(false)

    var isSet: Bool { state.load(ordering: .relaxed) }

    func set() { state.store(true, ordering: .relaxed) }
}

extension HTTPCallError {
    fileprivate init(_ error: WorkerPoolError, hasBegun: Bool) {
        switch error {
        case .queueFull: self = .busy
        case .deadlineExceeded: self = hasBegun ? .timedOut : .busy
        case .stopped: self = .stopped
        }
    }
}
