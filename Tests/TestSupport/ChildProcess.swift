import Foundation
import Synchronization

// Programs with the Swift libraries inside, as benchmarks are, have no Testing.
#if canImport(Testing)
    import Testing
#endif

/// A program that a test has started. It is killed when its last owner releases it.
///
/// It starts without blocked or ignored signals, on any thread of the test, like a program that a shell starts.
package final class ChildProcess: Sendable {
    package let processID: Int32
    package let output: CollectedOutput
    package let messages: CollectedOutput
    private let status = Mutex<Int32?>(nil)
    private let program: String

    /// The largest number of seconds that a process may take to end after it was told to.
    private static let endSeconds: TimeInterval = 120

    /// Starts `program` (a path) with this environment, and with these descriptors from number 3 on. It inherits
    /// nothing else from the test.
    package init(
        program: String, arguments: [String], environment: [String: String] = [:], passing descriptors: [Int32] = []
    ) throws {
        Self.reportMissingTag(program)
        self.program = program
        let output = try ChildStream()
        let messages = try ChildStream()
        defer {
            close(output.writeEnd)
            close(messages.writeEnd)
        }
        let environment = ["PATH": "/usr/bin:/bin"].merging(environment) { $1 }
        processID = try Self.spawn(
            [program] + arguments, environment.map { "\($0)=\($1)" },
            [output.writeEnd, messages.writeEnd] + descriptors)
        self.output = CollectedOutput(descriptor: output.readEnd)
        self.messages = CollectedOutput(descriptor: messages.readEnd)
    }

    /// Reports a test that starts programs without the tag of such tests. Does nothing outside of tests.
    private static func reportMissingTag(_ program: String) {
        #if canImport(Testing)
            guard let test = Test.current, !test.tags.contains(.startsProcesses) else { return }
            Issue.record("\(test.name) starts \(program): its suite needs the tag .startsProcesses")
        #endif
    }

    deinit {
        if isRunning {
            kill(processID, SIGKILL)
            _ = reap(0)
        }
        keepForSearch()
    }

    /// The tool prints keys and tokens on its standard output, because it was asked to.
    private func keepForSearch() {
        switch program.split(separator: "/").last {
        case "latchkeyd": KeptForSearch.keep(written: output.bytes + messages.bytes)
        case "latchkey": KeptForSearch.keep(written: messages.bytes)
        default: break
        }
    }

    package func signal(_ number: Int32) {
        kill(processID, number)
    }

    /// Whether the process is still running.
    package var isRunning: Bool { reap(WNOHANG) == nil }

    /// Waits for the end and returns the exit status. A negative status is the signal that killed the process.
    ///
    /// A process that does not end within two minutes is killed, which the status shows.
    package func waitForExit() -> Int32 {
        if !messages.waitForEnd(seconds: Self.endSeconds) { kill(processID, SIGKILL) }
        _ = output.waitForEnd(seconds: Self.endSeconds)
        return reap(0) ?? -SIGKILL
    }

    /// Returns the status if the process has ended; nil otherwise. The kernel gives the status only once, so it is
    /// kept.
    private func reap(_ options: Int32) -> Int32? {
        status.withLock { status in
            if status != nil { return status }
            var raw: Int32 = 0
            // The status is a local variable.
            guard unsafe waitpid(processID, &raw, options) == processID else { return nil }
            status = raw & 0x7F == 0 ? raw >> 8 & 0xFF : -(raw & 0x7F)
            return status
        }
    }

    private static func spawn(
        _ arguments: [String], _ environment: [String], _ descriptors: [Int32]
    ) throws -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        var signals = sigset_t()
        var noSignals = sigset_t()
        let argumentList = unsafe arguments.map { unsafe strdup($0) } + [nil]
        let environmentList = unsafe environment.map { unsafe strdup($0) } + [nil]
        var processID: Int32 = 0
        // Every structure is initialized before it is used, and is valid until the call has returned. Both lists end
        // with nil.
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
            for index in unsafe argumentList.indices { unsafe free(argumentList[index]) }
            for index in unsafe environmentList.indices { unsafe free(environmentList[index]) }
        }
        unsafe sigfillset(&signals)
        unsafe sigemptyset(&noSignals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &noSignals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for (index, descriptor) in descriptors.enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(index + 1))
        }
        let error = unsafe posix_spawn(
            &processID, arguments[0], &actions, &attributes, argumentList, environmentList)
        guard error == 0 else { throw ChildProcessError(program: arguments[0], errno: error) }
        return processID
    }

    /// A pair of sockets. Unlike a pipe, it can be created so that no other child inherits it.
    private struct ChildStream {
        let readEnd: Int32
        let writeEnd: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            // The array has room for two descriptors.
            guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
                throw ChildProcessError(program: "socketpair", errno: errno)
            }
            (readEnd, writeEnd) = (ends[0], ends[1])
        }
    }
}

package struct ChildProcessError: Error {
    package let program: String
    package let errno: Int32
}

/// The programs that were built with these tests.
package enum BuiltProgram {
    /// Returns the path of a program. It is in the folder of the test bundle, which is this process's own program.
    package static func path(_ name: String) throws -> String {
        let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent(name).path
    }
}
