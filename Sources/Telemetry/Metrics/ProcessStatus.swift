import Glibc

/// What the kernel says about a process in /proc/PID/stat (proc(5)).
struct ProcessStatus: Equatable {
    /// User and system time in ticks.
    let processorTicks: UInt64
    /// Ticks from boot to the start of the process.
    let startTicks: UInt64
    /// Size of the address space in bytes.
    let virtualBytes: UInt64
    /// Resident pages.
    let residentPages: UInt64

    /// Nil if the line does not have the fields of proc(5).
    init?(line: String) {
        // The second field is the program's name in parentheses, which may hold blanks and parentheses itself.
        guard let nameEnd = line.lastIndex(of: ")") else { return nil }
        let fields = line[nameEnd...].dropFirst().split { $0 == " " || $0 == "\n" }
        // What is left begins with field 3, the state.
        let number = { (field: Int) in field - 3 < fields.count ? UInt64(fields[field - 3]) : nil }
        guard let user = number(14), let system = number(15), let start = number(22), let size = number(23),
            let resident = number(24)
        else { return nil }
        processorTicks = user &+ system
        startTicks = start
        virtualBytes = size
        residentPages = resident
    }

    /// This process now; nil if /proc is not there.
    static func current() -> ProcessStatus? {
        // Safe: the path is a literal.
        let descriptor = unsafe open("/proc/self/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        // Safe: the pointer is used within the closure only, together with its own count. One read gets the whole line.
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return nil }
        return ProcessStatus(line: String(decoding: bytes.prefix(count), as: UTF8.self))
    }
}
