import Foundation
import Glibc

/// The figures of `openssl speed`: RSA private operations per second of one process's CPU time.
enum OpenSSLSpeed {
    /// With several processes at the same time, returns their average. Cores that share a unit slow one another down.
    static func privateOperationsPerSecond(bits: Int, seconds: Int, processes: Int = 1) throws -> Double {
        letAlarmsThrough()
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "openssl", "speed", "-seconds", String(seconds), "-multi", String(processes), "rsa\(bits)",
        ]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        // The last line reads "rsa 1024 bits 0.000060s 0.000004s 16600.0 250000.0": seconds and rates of signing and
        // verifying.
        guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("rsa \(bits) bits") }),
            let rate = line.split(separator: " ").suffix(2).first.flatMap({ Double($0) })
        else { throw BenchmarkError("openssl speed printed no figure for rsa\(bits)") }
        return rate / Double(processes)
    }

    /// Unblocks signals of this thread. Worker threads block all signals and a child inherits that, but `openssl speed`
    /// ends its rounds by SIGALRM.
    private static func letAlarmsThrough() {
        var set = sigset_t()
        // Safe: the set is valid during both calls, and only this thread's mask changes.
        unsafe sigemptyset(&set)
        unsafe pthread_sigmask(SIG_SETMASK, &set, nil)
    }
}
