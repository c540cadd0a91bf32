package import Entitlements
import EventLoops
import Foundation
import Glibc
import HTTPMessages
import HTTPServing
package import Licensing

extension Configuration.Limits {
    init(reading section: ConfigurationSection) {
        http = HTTPLimits(reading: section)
        rates = section.section("rates", effect: .reload, RequestRates.init(reading:)) ?? RequestRates()
        overload = section.section("overload", effect: .reload, Configuration.Overload.init(reading:)) ?? .standard
        memoryBudget = section.value(
            "memoryBudget",
            .integer(MemoryBudget.sizeMinimum...1 << 40, example: MemoryBudget.sizeDefaultMaximum),
            default: MachineMemory.budget)
        loopCount = section.value("loopCount", .integer(1...256, example: 4), default: Self.processorCount)
    }

    /// The number of processors that the process may use, at most the limit of `loopCount` and of a module's workers.
    static var processorCount: Int { min(Processors.count, 256) }
}

extension Configuration.Overload {
    static let standard = Configuration.Overload(wait: .seconds(3))

    fileprivate init(reading section: ConfigurationSection) {
        wait = section.value(
            "wait", .duration(.zero...(.seconds(30)), example: Self.standard.wait), default: Self.standard.wait)
    }
}

extension HTTPLimits {
    /// Reads the fields that an operator may have a reason to set. All others keep their defaults.
    fileprivate init(reading section: ConfigurationSection) {
        self.init()
        let sizes: [(String, WritableKeyPath<HTTPLimits, Int>, ClosedRange<Int>)] = [
            ("bodySizeMaximum", \.bodySizeMaximum, 1024...1 << 26),
            ("connectionsMaximum", \.connectionsMaximum, 1...1 << 20),
            ("connectionsPerAddressMaximum", \.connectionsPerAddressMaximum, 1...1 << 20),
        ]
        for (name, field, range) in sizes {
            self[keyPath: field] = section.value(
                name, .integer(range, example: self[keyPath: field]), default: self[keyPath: field])
        }
        let durations: [(String, WritableKeyPath<HTTPLimits, Duration>)] = [
            ("headDeadline", \.headDeadline),
            ("bodyDeadline", \.bodyDeadline),
            ("writeDeadline", \.writeDeadline),
            ("idleDeadline", \.idleDeadline),
            ("drainPatience", \.drainPatience),
        ]
        for (name, field) in durations {
            let form = ConfigurationForm.duration(.milliseconds(100)...(.seconds(3600)), example: self[keyPath: field])
            self[keyPath: field] = section.value(name, form, default: self[keyPath: field])
        }
    }
}

extension RequestRates {
    init(reading section: ConfigurationSection) {
        self.init(
            all: section.optionalSection("all", Rate.init(reading:)),
            perAddress: section.optionalSection("perAddress", Rate.init(reading:)) ?? Self.perAddressDefault,
            perSubject: section.optionalSection("perSubject", Rate.init(reading:)) ?? Self.perSubjectDefault)
    }

    /// The default rates. One token must not be able to fill the ledger, and many viewers may share an address.
    package static let perAddressDefault = Rate(perSecond: 200, burst: 1000)
    package static let perSubjectDefault = Rate(perSecond: 10, burst: 50)
}

extension Rate {
    /// Reads a rate. The default of the burst is the number of requests that the rate allows in two seconds.
    init?(reading section: ConfigurationSection) {
        let perSecond = section.required("perSecond", .integer(1...10_000_000, example: 10))
        let burst = section.value("burst", .integer(1...10_000_000, example: 20), default: 2 * (perSecond ?? 1))
        guard let perSecond else { return nil }
        self.init(perSecond: perSecond, burst: burst)
    }
}

/// The memory of the machine or container.
enum MachineMemory {
    /// The default memory budget: a quarter of the memory, from 16 MiB to 1 GiB.
    static var budget: Int { budget(ofMemory: size) }

    static func budget(ofMemory size: Int) -> Int {
        min(max(size / 4, MemoryBudget.sizeMinimum), MemoryBudget.sizeDefaultMaximum)
    }

    /// The smallest of the limits of the control groups and of the machine's memory, in bytes.
    static var size: Int {
        let machine = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        let groups = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? ""
        let limits = limitFiles(of: groups).compactMap { path in
            (try? String(contentsOfFile: path, encoding: .utf8)).flatMap(limit(in:))
        }
        return limits.reduce(machine, min)
    }

    /// The files with the limits of the process's control group and of its parent groups, from `/proc/self/cgroup`
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

    /// The limit in a file; nil for "max", and for a text that is not a positive number.
    static func limit(in text: String) -> Int? {
        Int(text.trimmingCharacters(in: .whitespacesAndNewlines)).flatMap { $0 > 0 ? $0 : nil }
    }
}
