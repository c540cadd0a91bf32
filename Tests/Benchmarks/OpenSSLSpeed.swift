import Foundation
import Glibc

/// What `openssl speed` says of one core: RSA private operations per second.
enum OpenSSLSpeed {
    static func privateOperationsPerSecond(bits: Int, seconds: Int) throws -> Double {
        letAlarmsThrough()
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl", "speed", "-seconds", String(seconds), "rsa\(bits)"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        // The last line reads "rsa 1024 bits 0.000060s 0.000004s  16600.0 250000.0": seconds and rates of signing and verifying.
        guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("rsa \(bits) bits") }),
            let rate = line.split(separator: " ").suffix(2).first.flatMap({ Double($0) })
        else { throw BenchmarkError("openssl speed printed no figure for rsa\(bits)") }
        return rate
    }

    /// Worker threads block all signals, a child inherits that, and `openssl speed` ends its rounds by SIGALRM.
    private static func letAlarmsThrough() {
        var set = sigset_t()
        // The set is valid during both calls, and only this thread's mask changes.
        unsafe sigemptyset(&set)
        unsafe pthread_sigmask(SIG_SETMASK, &set, nil)
    }
}
