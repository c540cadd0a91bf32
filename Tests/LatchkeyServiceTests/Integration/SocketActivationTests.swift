import ByteCoding
import Foundation
import Synchronization
import TestSupport
import Testing

/// Sockets that stay open when the daemon ends.
@Suite(.tags(.startsProcesses), .serialized) struct SocketActivationTests {
    /// Every connection is answered by the old or the new daemon, even if no daemon accepts it for a long time.
    @Test func aRestartRefusesNoConnection() throws {
        let folder = try DevelopmentFolder()
        let socket = try ListeningTestSocket()
        var daemon = try RunningDaemon(folder, passing: socket)
        #expect(daemon.publicAddress == socket.address)
        let load = ConnectionLoad(socket.address, threadCount: 4)
        load.wait(forAnswers: 50)
        for _ in 0..<3 {
            daemon.process.signal(SIGTERM)
            #expect(daemon.process.waitForExit() == 0)
            #expect(!daemon.log.contains { $0["event"]?.string == "stopped_with_work_left" })
            daemon = try RunningDaemon(folder, passing: socket)
            load.wait(forAnswers: 50)
        }
        #expect(load.stop() == [])
    }

    @Test func namesASocketThatWasNotPassed() throws {
        let folder = try DevelopmentFolder()
        let process = try RunningDaemon.start(folder, environment: ["LATCHKEY_LISTEN": "systemd:public"])
        #expect(process.waitForExit() == 78)
        #expect(process.messages.text.contains("FileDescriptorName=public"))
    }
}

/// Threads that repeatedly connect, send one request and close.
private final class ConnectionLoad: Sendable {
    private struct State {
        var isStopping = false
        var answerCount = 0
        var runningThreadCount: Int
        var failures: [String] = []
    }

    private let state: Mutex<State>

    init(_ address: String, threadCount: Int) {
        state = Mutex(State(runningThreadCount: threadCount))
        for _ in 0..<threadCount {
            Thread.detachNewThread { [self] in
                while !state.withLock(\.isStopping) { ask(address) }
                state.withLock { $0.runningThreadCount -= 1 }
            }
        }
    }

    /// Waits until `count` more requests have been answered, or one has failed.
    func wait(forAnswers count: Int) {
        let goal = state.withLock(\.answerCount) + count
        while state.withLock({ $0.answerCount < goal && $0.failures.isEmpty }) { sched_yield() }
    }

    /// Ends the threads, and returns the failures.
    func stop() -> [String] {
        state.withLock { $0.isStopping = true }
        while state.withLock({ $0.runningThreadCount > 0 }) { sched_yield() }
        return state.withLock(\.failures)
    }

    private func ask(_ address: String) {
        do {
            let status = try LoopbackConnection(address).request("GET", "/livez").status
            state.withLock { state in
                state.answerCount += 1
                if status != 200 { state.failures.append("status \(status)") }
            }
        } catch {
            state.withLock { $0.failures.append("\(error)") }
        }
    }
}
