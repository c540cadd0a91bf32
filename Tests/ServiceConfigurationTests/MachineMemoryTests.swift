import Testing

@testable import ServiceConfiguration

@Suite struct MachineMemoryTests {
    @Test(arguments: [
        (0, 16 << 20), (64 << 20, 16 << 20), (1 << 30, 256 << 20), (4 << 30, 1 << 30), (1 << 40, 1 << 30),
    ])
    func givesClientsAQuarterWithinBounds(memory: Int, budget: Int) {
        #expect(MachineMemory.budget(ofMemory: memory) == budget)
    }

    @Test func looksAtTheControlGroupAndThoseAroundIt() {
        #expect(
            MachineMemory.limitFiles(of: "0::/system.slice/latchkey.service\n") == [
                "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/system.slice/memory.max",
                "/sys/fs/cgroup/system.slice/latchkey.service/memory.max",
            ])
        #expect(
            MachineMemory.limitFiles(of: "12:cpu,cpuacct:/a\n9:memory:/a\n") == [
                "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
            ])
        #expect(MachineMemory.limitFiles(of: "nonsense") == [])
    }

    @Test(arguments: [("1073741824\n", 1 << 30), ("max\n", nil), ("", nil), ("0", nil), ("-1", nil)])
    func readsALimit(text: String, limit: Int?) {
        #expect(MachineMemory.limit(in: text) == limit)
    }

    @Test func knowsThisMachine() {
        #expect(MachineMemory.size > 64 << 20)
        #expect((16 << 20...1 << 30).contains(MachineMemory.budget))
    }
}
