import Telemetry

/// The body of the thread that carries out the calls: it starts waiting calls, moves all running calls, and returns the
/// results of calls that have ended.
final class CallLoop {
    private struct Running {
        let handle: CurlHandle
        let call: QueuedCall
    }

    /// The longest that the thread sleeps if nothing wakes it.
    private static let sleepMaximum: Duration = .seconds(10)

    private let settings: HTTPCallSettings
    private let queue: HTTPCallQueue
    private let multi: CurlMulti
    private let clock = SystemMonotonicClock()
    private var running: [CurlHandleID: Running] = [:]
    /// The handles without a call. Together with those in `running`, there are at most as many as places.
    private var idle: [CurlHandle] = []

    init(_ settings: HTTPCallSettings, _ queue: HTTPCallQueue, _ multi: CurlMulti) {
        self.settings = settings
        self.queue = queue
        self.multi = multi
    }

    /// Runs until the queue is stopped and no call is running.
    func run() {
        while true {
            let turn = queue.turn(now: clock.monotonicTime)
            for (call, error) in turn.refused { call.caller.resume(returning: .failure(error)) }
            for call in turn.started { start(call) }
            let hasEnded = move()
            if turn.isStopped, running.isEmpty { return }
            // If a call has ended, its place is free for a waiting call, so the thread does not sleep.
            if !hasEnded { multi.wait(atMost: sleep(until: turn.nextDeadline)) }
        }
    }

    private func start(_ call: QueuedCall) {
        do throws(HTTPCallError) {
            let handle = if let known = idle.popLast() { known } else { try CurlHandle(settings) }
            try handle.begin(call.message, fields: call.fields, within: call.deadline - clock.monotonicTime)
            try multi.add(handle.easy)
            running[handle.id] = Running(handle: handle, call: call)
        } catch {
            queue.noteEnd()
            call.caller.resume(returning: .failure(error))
        }
    }

    /// Moves all running calls. Returns whether a call has ended.
    private func move() -> Bool {
        do throws(HTTPCallError) {
            try multi.perform()
        } catch {
            // libcurl cannot continue any of the running calls.
            for id in Array(running.keys) { end(id, .failure(error)) }
            return true
        }
        var ended: [(CurlHandleID, UInt32)] = []
        multi.forEachEnded { ended.append(($0, $1)) }
        for (id, code) in ended { if let handle = running[id]?.handle { end(id, handle.end(code)) } }
        return !ended.isEmpty
    }

    private func end(_ id: CurlHandleID, _ result: Result<HTTPCallAnswer, HTTPCallError>) {
        guard let ended = running.removeValue(forKey: id) else { return }
        multi.remove(ended.handle.easy)
        idle.append(ended.handle)
        queue.noteEnd()
        ended.call.caller.resume(returning: result)
    }

    private func sleep(until deadline: MonotonicTime?) -> Int32 {
        let rest = deadline.map { min($0 - clock.monotonicTime, Self.sleepMaximum) } ?? Self.sleepMaximum
        // The time is rounded up, so that the deadline has passed after the sleep.
        return Int32(max(0, rest / .milliseconds(1))) + 1
    }
}
