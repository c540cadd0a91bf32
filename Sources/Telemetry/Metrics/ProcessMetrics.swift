import Glibc

/// The metrics that Prometheus' clients give every process, sampled from /proc/self at each scrape.
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

    /// Resident memory in bytes; nil if /proc is not there.
    package static var residentSize: Int? {
        ProcessStatus.current().map { Int(clamping: $0.residentPages) * sysconf(Int32(_SC_PAGESIZE)) }
    }

    /// The start in Unix time. /proc/stat has the time of boot, but a hardened service does not see it; the clock that
    /// counts since boot is always there.
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
        // Without ".", ".." and the descriptor of this very look.
        return Double(count - 3)
    }
}
