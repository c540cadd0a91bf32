import Glibc

/// The metrics that Prometheus' client libraries have for every process, read from /proc/self at each scrape.
package enum ProcessMetrics {
    /// Registers `process_cpu_seconds_total`, `process_open_fds`, `process_max_fds`, `process_virtual_memory_bytes`,
    /// `process_resident_memory_bytes` and `process_start_time_seconds`.
    package static func register(in registry: MetricsRegistry) {
        let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
        let pageSize = Double(sysconf(Int32(_SC_PAGESIZE)))
        let startTime = startTime(ticksPerSecond: ticksPerSecond)

        registry.sample(
            "process_cpu_seconds_total", help: "Total user and system CPU time spent in seconds.", isCounter: true
        ) { ProcessStatus.current().map { Double($0.processorTicks) / ticksPerSecond } }
        registry.sample("process_open_fds", help: "Number of open file descriptors.") { openDescriptorCount() }
        registry.sample("process_max_fds", help: "Maximum number of open file descriptors.") { descriptorLimit() }
        registry.sample("process_virtual_memory_bytes", help: "Virtual memory size in bytes.") {
            ProcessStatus.current().map { Double($0.virtualBytes) }
        }
        registry.sample("process_resident_memory_bytes", help: "Resident memory size in bytes.") {
            ProcessStatus.current().map { Double($0.residentPages) * pageSize }
        }
        registry.sample(
            "process_start_time_seconds", help: "Start time of the process since unix epoch in seconds."
        ) { startTime }
    }

    /// Resident memory in bytes; nil if /proc is missing.
    package static var residentSize: Int? {
        ProcessStatus.current().map { Int(clamping: $0.residentPages) * sysconf(Int32(_SC_PAGESIZE)) }
    }

    /// The time in seconds for which the process has used processors; nil if /proc is missing.
    package static var processorSeconds: Double? {
        ProcessStatus.current().map { Double($0.processorTicks) / Double(sysconf(Int32(_SC_CLK_TCK))) }
    }

    /// The start of the process in Unix time. /proc/stat has the time of boot, but a hardened service cannot read it;
    /// the boot-time clock is always available.
    private static func startTime(ticksPerSecond: Double) -> Double? {
        guard let status = ProcessStatus.current() else { return nil }
        let age = seconds(timespec.now(of: CLOCK_BOOTTIME)) - Double(status.startTicks) / ticksPerSecond
        return seconds(timespec.now(of: CLOCK_REALTIME)) - age
    }

    private static func seconds(_ time: timespec) -> Double {
        Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func descriptorLimit() -> Double? {
        var limit = rlimit()
        // Safe: the pointer is a local variable.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Double(limit.rlim_cur)
    }

    private static func openDescriptorCount() -> Double? {
        // Safe: the stream is open until `closedir`, and an entry is only compared with nil.
        guard let directory = unsafe opendir("/proc/self/fd") else { return nil }
        defer { unsafe closedir(directory) }
        var count = 0
        while unsafe readdir(directory) != nil { count += 1 }
        // Without ".", ".." and the descriptor with which this function reads the folder.
        return Double(count - 3)
    }
}

/// The kernel's data about a process in /proc/PID/stat (proc(5)).
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
        // The second field is the program's name in parentheses. The name itself may contain spaces and parentheses.
        guard let nameEnd = line.lastIndex(of: ")") else { return nil }
        let fields = line[nameEnd...].dropFirst().split { $0 == " " || $0 == "\n" }
        // The rest begins with field 3, the state.
        let number = { (field: Int) in field - 3 < fields.count ? UInt64(fields[field - 3]) : nil }
        guard let user = number(14), let system = number(15), let start = number(22), let size = number(23),
            let resident = number(24)
        else { return nil }
        processorTicks = user &+ system
        startTicks = start
        virtualBytes = size
        residentPages = resident
    }

    /// The current data of this process; nil if /proc is missing.
    static func current() -> ProcessStatus? {
        // Safe: the path is a literal.
        let descriptor = unsafe open("/proc/self/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        // Safe: the pointer is used within the closure only, with its own count. One call reads the whole line.
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return nil }
        return ProcessStatus(line: String(decoding: bytes.prefix(count), as: UTF8.self))
    }
}
