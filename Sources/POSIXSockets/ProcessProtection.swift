import CLinux
import Glibc

/// What this process asks the kernel to protect it from.
package enum ProcessProtection {
    /// No core file is written, and no process of the same user may trace this one or read its memory (`PR_SET_DUMPABLE` 0).
    package static func forbidDumpsAndTracing() throws(SocketError) {
        guard latchkey_forbid_dumps() == 0 else { throw .failed(.processControl, errno: errno) }
    }
}
