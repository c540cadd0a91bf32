import CLinux
import Glibc

/// The processors on which the calling thread may run: those of the machine, or fewer with `taskset`, `CPUAffinity=` of
/// systemd or the `cpuset` of a container.
package enum Processors {
    /// The number of processors, at least 1.
    package static var count: Int {
        let allowed = Int(latchkey_allowed_processor_count())
        return max(1, allowed > 0 ? allowed : sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
}
