import CLinux
import Glibc

/// What this process asks the kernel to protect it from.
package enum ProcessProtection {
    /// No core file is written, and no process of the same user may trace this one or read its memory
    /// (`PR_SET_DUMPABLE` 0).
    ///
    /// If an administrator forces a core all the same, it holds no memory: OpenSSL's contexts keep keys outside of
    /// the secure heap too.
    package static func forbidDumpsAndTracing() throws(SocketError) {
        // First, because afterwards the file belongs to root.
        leaveMemoryOutOfCores()
        guard latchkey_forbid_dumps() == 0 else { throw .failed(.processControl, errno: errno) }
    }

    /// No kind of mapping goes into a core (core(5)). Best effort: some kernels are built without cores, and have no
    /// such file.
    private static func leaveMemoryOutOfCores() {
        let descriptor = unsafe open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        // One digit, which lives until the call returns.
        _ = unsafe write(descriptor, "0", 1)
        close(descriptor)
    }
}
