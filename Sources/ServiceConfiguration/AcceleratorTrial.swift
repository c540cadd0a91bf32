import ByteCoding
import Glibc
package import KeyCrypto
import POSIXSockets

/// Loads and tests an accelerator in a child process before this process loads it.
///
/// A library that was cut off or altered ends the process that loads it. Then only the child ends, and OpenSSL serves.
package enum AcceleratorTrial {
    /// The first argument of the child process. It is not an option for people.
    private static let argument = "--accelerator-trial"
    /// How long a trial may take. The self-test takes less than a second.
    private static let limit: Duration = .seconds(30)
    private static let reasonSizeMaximum = 4096

    /// How a child process ends by itself.
    private enum Status: Int32 {
        /// It is not 0, because a library may end the process before the trial.
        case passed = 13
        /// The child has sent the reason.
        case refused = 10
        case processorUnsuited = 11
        /// The process was not started by `run`.
        case notAsked = 12
    }

    /// Loads a library, after a child process has loaded and tested it. Throws why OpenSSL must serve instead.
    package static func load(
        path: String, observer: @escaping @Sendable (CryptoAccelerator.Event) -> Void
    ) throws(AcceleratorRefusal) -> CryptoAccelerator {
        try run(path: path)
        return try CryptoAccelerator(path: path, observer: observer)
    }

    /// Runs the program, which must call `runIfAsked`, as a child process that loads and tests the library.
    static func run(
        path: String, program: String = "/proc/self/exe", within limit: Duration = limit
    ) throws(AcceleratorRefusal) {
        // Safe: Swift passes the path as a C string that is valid during the call.
        guard unsafe access(path, F_OK) == 0 else { throw .notInstalled(path: path) }
        var child = try wrap(
            { (error: SocketError) in AcceleratorRefusal.trialFailed("could not be started: \(error)") },
            try SpawnedProgram(
                path: program, arguments: ["latchkey", argument, path], environment: environment))
        guard awaitEnd(of: child, within: limit) else {
            throw .trialFailed("has not ended within \(limit.components.seconds) s")
        }
        let reason = readReason(from: child)
        switch child.reap() {
        case .exited(Status.passed.rawValue): return
        case .exited(Status.processorUnsuited.rawValue): throw .processorUnsuited
        case .exited(Status.refused.rawValue): throw .trialRefused(reason)
        case .exited(let status): throw .trialFailed("has ended with status \(status)")
        case .killed(let signal): throw .trialFailed("was ended by \(name(of: signal))")
        case nil: throw .trialFailed("has ended in an unknown way")
        }
    }

    /// Runs a trial if the command line asks for it, and returns the exit status. Nil for every other command line.
    ///
    /// `words` begin with the program's name.
    package static func runIfAsked(_ words: [String]) -> Int32? {
        guard words.count == 3, words[1] == argument else { return nil }
        guard let stream = InheritedStream(), stream.isOfParent() else { return Status.notAsked.rawValue }
        // The crash of a damaged library needs no core file.
        try? ProcessProtection.forbidDumpsAndTracing()
        // If the parent ends before a library that hangs, this process must end too.
        alarm(UInt32(limit.components.seconds))
        do throws(AcceleratorRefusal) {
            _ = try CryptoAccelerator(path: words[2]) { _ in }
            return Status.passed.rawValue
        } catch {
            guard error != .processorUnsuited else { return Status.processorUnsuited.rawValue }
            let reason = Array(error.description.utf8.prefix(reasonSizeMaximum))
            _ = stream.writeAll(reason.span)
            return Status.refused.rawValue
        }
    }

    /// The child inherits only where libraries are. It needs no secret.
    private static var environment: [String] {
        let kept = "LD_LIBRARY_PATH"
        // Safe: the value is copied, and nothing changes the environment at the same time.
        let value = unsafe getenv(kept).map { unsafe "\(kept)=\(String(cString: $0))" }
        return ["SWIFT_BACKTRACE=enable=no"] + [value].compactMap(\.self)
    }

    private static func awaitEnd(of child: borrowing SpawnedProgram, within limit: Duration) -> Bool {
        let end = ContinuousClock.now + limit
        while true {
            let rest = ContinuousClock.now.duration(to: end)
            guard rest > .zero else { return false }
            var entry = pollfd(fd: child.processNumber, events: Int16(POLLIN), revents: 0)
            // Safe: the entry is a local variable.
            let milliseconds = rest.components.seconds * 1000 + rest.components.attoseconds / 1_000_000_000_000_000
            let count = unsafe poll(&entry, 1, Int32(clamping: milliseconds + 1))
            if count > 0 { return true }
            guard count == 0 || errno == EINTR else { return false }
        }
    }

    private static func readReason(from child: borrowing SpawnedProgram) -> String {
        var bytes = [UInt8](repeating: 0, count: reasonSizeMaximum)
        guard case .bytes(let count) = child.read(into: &bytes, from: 0) else { return "it did not say why" }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    private static func name(of signal: Int32) -> String {
        let names = [
            SIGBUS: "SIGBUS", SIGILL: "SIGILL", SIGSEGV: "SIGSEGV", SIGABRT: "SIGABRT", SIGFPE: "SIGFPE",
            SIGTRAP: "SIGTRAP", SIGALRM: "SIGALRM", SIGKILL: "SIGKILL",
        ]
        return names[signal] ?? "signal \(signal)"
    }
}
