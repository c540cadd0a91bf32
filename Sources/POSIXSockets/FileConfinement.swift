import CLinux
import Glibc

/// Limits the files that a process can open to a library, the libraries in its folder, and files of the system
/// (Landlock). The limit applies to every user.
package enum FileConfinement {
    /// Whether the kernel supports it: since Linux 5.13, unless it was switched off at boot or a filter of system calls
    /// forbids it.
    package static var isAvailable: Bool { latchkey_landlock_version() > 0 }

    /// The paths at which the dynamic loader, the C library and OpenSSL search their own files.
    ///
    /// Of `/proc/self` only what a library may ask about its own process: the rest tells of sockets, mounts and
    /// descriptors.
    private static let systemPaths = [
        "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/etc/ssl/openssl.cnf",
        "/etc/localtime", "/usr/share/zoneinfo", "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random",
        "/proc/self/auxv", "/proc/self/limits", "/proc/self/maps", "/proc/self/stat", "/proc/self/statm",
        "/proc/self/status", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu",
    ]

    /// Confines the calling thread, and the threads that it starts, permanently. Does nothing if the kernel does not
    /// support it.
    ///
    /// It must be called after the process has given up new privileges. Throws `failed` if the kernel supports it but
    /// refuses.
    static func apply(library: String) throws(SocketError) {
        let version = latchkey_landlock_version()
        guard version > 0 else { return }
        let rules = latchkey_landlock_rules(version)
        guard rules >= 0 else { throw .failed(.confineFiles, errno: errno) }
        defer { close(rules) }
        for path in systemPaths + [library] + libraries(beside: library) {
            // Safe: the path is read only during the call.
            let result = unsafe path.withCString { unsafe latchkey_landlock_allow_reading(rules, $0) }
            guard result == 0 else { throw .failed(.confineFiles, errno: errno) }
        }
        guard latchkey_landlock_enforce(rules) == 0 else { throw .failed(.confineFiles, errno: errno) }
    }

    /// Returns the shared libraries in the folder of a library, which it may need. The whole folder is not allowed,
    /// because it may contain secrets.
    private static func libraries(beside library: String) -> [String] {
        let folder = library.lastIndex(of: "/").map { String(library[..<$0]) } ?? ""
        // Safe: the stream is open until `closedir`, and each name is copied before the next entry is read.
        guard let directory = unsafe opendir(folder.isEmpty ? "/" : folder) else { return [] }
        defer { unsafe closedir(directory) }
        var paths: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name.hasSuffix(".so") || name.contains(".so.") { paths.append("\(folder)/\(name)") }
        }
        return paths
    }
}
