import Foundation
import Glibc

/// The CPU time of another process.
enum ProcessTime {
    /// The user and system time in seconds, with a resolution of 1/100 s.
    static func seconds(of process: Int32) throws -> Double {
        let text = try String(contentsOf: URL(filePath: "/proc/\(process)/stat"), encoding: .utf8)
        // The fields after the name in parentheses: utime and stime are the 12th and 13th, in clock ticks.
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw BenchmarkError("cannot read the CPU time of process \(process)")
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}

/// The memory of this process.
enum ProcessMemory {
    /// The resident size in bytes.
    static func residentBytes() throws -> Int {
        let text = try String(contentsOf: URL(filePath: "/proc/self/statm"), encoding: .utf8)
        guard let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw BenchmarkError("cannot read the memory of this process")
        }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}

/// Finds a port that is not in use now.
enum FreePort {
    static func find() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Safe: the address stays valid during both calls, and sockaddr_in may be read and written as sockaddr.
        let isBound = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return unsafe bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
        }
        guard isBound else { throw BenchmarkError("no free port: errno \(errno)") }
        return UInt16(bigEndian: address.sin_port)
    }
}
