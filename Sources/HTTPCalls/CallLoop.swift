import Telemetry

/// The thread of the calls: starts those that wait, moves all that are under way together, and answers those that have
/// ended.
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
    /// Handles without a call; with those of `running` no more than there are places.
    private var idle: [CurlHandle] = []

    init(_ settings: HTTPCallSettings, _ queue: HTTPCallQueue, _ multi: CurlMulti) {
        self.settings = settings
        self.queue = queue
        self.multi = multi
    }

    /// Returns once the queue is stopped and no call is under way.
    func run() {
        while true {
            let turn = queue.turn(now: clock.monotonicTime)
            for (call, error) in turn.refused { call.caller.resume(returning: .failure(error)) }
            for call in turn.started { start(call) }
            let hasEnded = move()
            if turn.isStopped, running.isEmpty { return }
            // A call that has ended leaves its place to one that waits.
            if !hasEnded { multi.wait(atMost: sleep(until: turn.nextDeadline)) }
        }
    }

    private func start(_ call: QueuedCall) {
        do throws(HTTPCallError) {
            let handle = if let known = idle.popLast() { known } else { try CurlHandle(settings) }
            try handle.begin(call.body, fields: call.fields, within: call.deadline - clock.monotonicTime)
            try multi.add(handle)
            running[handle.id] = Running(handle: handle, call: call)
        } catch {
            queue.noteEnd()
            call.caller.resume(returning: .failure(error))
        }
    }

    /// Whether a call has ended.
    private func move() -> Bool {
        do throws(HTTPCallError) {
            try multi.perform()
        } catch {
            // libcurl can do nothing with these any more.
            for id in Array(running.keys) { end(id, .failure(error)) }
            return true
        }
        var ended: [(CurlHandleID, UInt32)] = []
        multi.forEachEnded { ended.append(($0, $1)) }
        for (id, code) in ended { if let handle = running[id]?.handle { end(id, handle.end(code)) } }
        return !ended.isEmpty
    }

    private func end(_ id: CurlHandleID, _ result: Result<[UInt8], HTTPCallError>) {
        guard let ended = running.removeValue(forKey: id) else { return }
        multi.remove(ended.handle)
        idle.append(ended.handle)
        queue.noteEnd()
        ended.call.caller.resume(returning: result)
    }

    private func sleep(until deadline: MonotonicTime?) -> Int32 {
        let rest = deadline.map { min($0 - clock.monotonicTime, Self.sleepMaximum) } ?? Self.sleepMaximum
        // Rounded up, so that the deadline has passed after it.
        return Int32(max(0, rest / .milliseconds(1))) + 1
    }
}
