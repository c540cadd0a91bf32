import Foundation
import Glibc
import HTTPServing

/// How much memory the daemon may have.
enum MachineMemory {
    /// The budget unless one is configured: a quarter of the memory, from 16 MiB to 1 GiB.
    static var budget: Int { budget(ofMemory: size) }

    static func budget(ofMemory size: Int) -> Int {
        min(max(size / 4, MemoryBudget.sizeMinimum), MemoryBudget.sizeDefaultMaximum)
    }

    /// The memory of the control group, or of the machine if that is less, in bytes.
    static var size: Int {
        let machine = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        let groups = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? ""
        let limits = limitFiles(of: groups).compactMap { path in
            (try? String(contentsOfFile: path, encoding: .utf8)).flatMap(limit(in:))
        }
        return limits.reduce(machine, min)
    }

    /// The files with the limits of the process's control group and of those around it, from `/proc/self/cgroup`
    /// (cgroups(7)).
    static func limitFiles(of groups: String) -> [String] {
        groups.split(separator: "\n").flatMap { line -> [String] in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return [] }
            if parts[1].isEmpty { return files("/sys/fs/cgroup", String(parts[2]), "memory.max") }
            guard parts[1].split(separator: ",").contains("memory") else { return [] }
            return files("/sys/fs/cgroup/memory", String(parts[2]), "memory.limit_in_bytes")
        }
    }

    private static func files(_ root: String, _ group: String, _ name: String) -> [String] {
        var folders = [root]
        for part in group.split(separator: "/") { folders.append(folders[folders.count - 1] + "/" + part) }
        return folders.map { "\($0)/\(name)" }
    }

    /// Nil for "max", and for what is no number.
    static func limit(in text: String) -> Int? {
        Int(text.trimmingCharacters(in: .whitespacesAndNewlines)).flatMap { $0 > 0 ? $0 : nil }
    }
}
