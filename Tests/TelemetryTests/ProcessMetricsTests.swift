import Testing

@testable import Telemetry

@Suite struct ProcessMetricsTests {
    static let line =
        "4711 (a b) c) S 1 4711 4711 0 -1 4194560 7000 0 1 0 150 50 0 0 20 0 5 0 123456 1000000 2500 "
        + "18446744073709551615 1 1 0 0 0 0 0 4096 81920 0 0 0 17 1 0 0 0 0 0\n"

    @Test func readsTheFieldsOfTheKernelsLine() throws {
        let status = try #require(ProcessStatus(line: Self.line))
        #expect(status.processorTicks == 200)
        #expect(status.startTicks == 123_456)
        #expect(status.virtualBytes == 1_000_000)
        #expect(status.residentPages == 2500)
    }

    /// Truncations up to the 24th field, because nothing after it is read.
    @Test(arguments: 0..<93)
    func refusesEveryTruncation(length: Int) throws {
        let prefix = String(Self.line.prefix(length))
        let isWhole = prefix.contains("1000000 2")
        #expect((ProcessStatus(line: prefix) != nil) == isWhole)
    }

    @Test(arguments: ["", ")", "1 (x)", "1 x S 1 2 3", "1 (x) S a b c d e f g h i j k l m n o p q r s t u v"])
    func refusesOtherLines(line: String) {
        #expect(ProcessStatus(line: line) == nil)
    }

    @Test func everyMetricOfAProcessIsThere() throws {
        let registry = MetricsRegistry()
        ProcessMetrics.register(in: registry)
        let samples = registry.render().split(separator: "\n").filter { !$0.hasPrefix("#") }
        let values = Dictionary(
            uniqueKeysWithValues: samples.map { line in
                let parts = line.split(separator: " ")
                return (String(parts[0]), Double(parts[1]) ?? -1)
            })
        #expect(
            values.keys.sorted() == [
                "process_cpu_seconds_total", "process_max_fds", "process_open_fds", "process_resident_memory_bytes",
                "process_start_time_seconds", "process_virtual_memory_bytes",
            ])
        let resident = try #require(values["process_resident_memory_bytes"])
        let virtual = try #require(values["process_virtual_memory_bytes"])
        #expect(resident > 1_000_000 && resident < virtual)
        #expect((values["process_open_fds"] ?? 0) >= 1)
        #expect((values["process_open_fds"] ?? 0) <= (values["process_max_fds"] ?? 0))
        #expect((values["process_cpu_seconds_total"] ?? -1) >= 0)
        #expect((values["process_start_time_seconds"] ?? 0) > 1_577_836_800)
    }
}
