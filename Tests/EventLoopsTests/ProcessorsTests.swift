import Foundation
import Testing

@testable import EventLoops

@Suite struct ProcessorsTests {
    /// The result agrees with the kernel's list, for example `Cpus_allowed_list: 0-3,8`.
    @Test func countsThoseThatTheThreadMayRunOn() throws {
        let status = try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
        let prefix = "Cpus_allowed_list:"
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(prefix) })
        let listed = line.dropFirst(prefix.count).split(separator: ",").reduce(0) { count, part in
            let ends = part.split(separator: "-").compactMap { Int($0.filter(\.isNumber)) }
            return count + ends[ends.count - 1] - ends[0] + 1
        }
        #expect(listed > 0 && Processors.count == listed)
    }
}
