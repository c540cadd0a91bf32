private import CLinux
import Glibc

/// The threads of all processes of a user, as the kernel counts them for its limit.
enum UserTasks {
    /// Returns the number of threads of a user, as far as /proc shows them.
    static func count(of user: UInt32) -> Int {
        names(in: "/proc").filter { $0.allSatisfy(\.isNumber) }.reduce(0) { sum, process in
            var facts = stat()
            // Safe: the result is a local variable.
            guard unsafe stat("/proc/\(process)", &facts) == 0, facts.st_uid == user else { return sum }
            return sum + names(in: "/proc/\(process)/task").count
        }
    }

    /// Returns the names in a folder, except those that begin with a dot.
    private static func names(in folder: String) -> [String] {
        // Safe: the stream is open until `closedir`, and each name is copied before the next entry is read.
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
