import TestSupport
import Testing

@Suite(.tags(.startsProcesses)) struct AdminCommandTests {
    /// A daemon that has the order and does not answer may still follow it.
    @Test(arguments: [("drain", "latchkey admin ready"), ("ready", "latchkey admin drain")])
    func saysHowToTakeBackAnOrderThatMayTakeEffect(order: String, command: String) async throws {
        let server = try OneAnswerServer(answer: [])
        let run = try await LatchkeyProcess("admin", order, "--server", server.url, "--token", "an-admin-token")
        #expect(run.status == 1 && run.output.isEmpty)
        #expect(run.messages.contains("the order may still take effect; \(command) takes it back"), "\(run.messages)")
        #expect(server.request.hasPrefix("POST /v1/\(order) HTTP/1.1\r\n"))
    }

    /// An order that the daemon has refused takes no effect.
    @Test func promisesNothingAboutARefusedOrder() async throws {
        let server = try OneAnswerServer(answer: Array("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".utf8))
        let run = try await LatchkeyProcess("admin", "drain", "--server", server.url, "--token", "an-admin-token")
        #expect(run.status == 1 && run.messages.contains("403"), "\(run.messages)")
        #expect(!run.messages.contains("may still take effect"))
    }

    private static let metrics = """
        # HELP latchkey_degraded Parts that do not work.
        # TYPE latchkey_degraded gauge
        latchkey_degraded{part="clock"} 0
        latchkey_degraded{part="disk"} 1
        # HELP latchkey_ready Whether the node wants requests.
        # TYPE latchkey_ready gauge
        latchkey_ready 1
        process_start_time_seconds 1767225600

        """

    private func printMetrics(_ names: [String]) async throws -> (run: LatchkeyProcess, request: String) {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(Self.metrics.utf8.count)\r\n\r\n"
        let server = try OneAnswerServer(answer: Array((head + Self.metrics).utf8))
        let options = ["--server", server.url, "--token", "an-admin-token"]
        let run = try await LatchkeyProcess(arguments: ["admin", "metrics"] + names + options)
        return (run, server.request)
    }

    @Test func printsTheMetricsAsTheyAre() async throws {
        let (run, request) = try await printMetrics([])
        #expect(run.status == 0 && run.messages.isEmpty, "\(run.messages)")
        #expect(run.output == Self.metrics)
        #expect(request.hasPrefix("GET /metrics HTTP/1.1\r\n"))
        #expect(request.contains("Authorization: Bearer an-admin-token\r\n"))
    }

    @Test(arguments: [
        (["ready"], ["latchkey_ready 1"]), (["latchkey_ready"], ["latchkey_ready 1"]),
        (["process_", "rea"], ["latchkey_ready 1", "process_start_time_seconds 1767225600"]),
        (["degraded"], ["latchkey_degraded{part=\"clock\"} 0", "latchkey_degraded{part=\"disk\"} 1"]),
    ])
    func printsOnlyTheMetricsThatAreNamed(names: [String], lines: [String]) async throws {
        let run = try await printMetrics(names).run
        #expect(run.status == 0 && run.messages.isEmpty, "\(run.messages)")
        #expect(run.output == lines.map { $0 + "\n" }.joined())
    }

    @Test func saysWhichNamesFitNoMetric() async throws {
        let none = try await printMetrics(["redy", "eady"]).run
        #expect(none.status == 1 && none.output.isEmpty)
        #expect(none.messages.contains("no metric begins with redy, eady"), "\(none.messages)")
        let some = try await printMetrics(["redy", "ready"]).run
        #expect(some.status == 0 && some.output == "latchkey_ready 1\n")
        #expect(some.messages.contains("no metric begins with redy\n"), "\(some.messages)")
    }

    @Test func saysWhyThereAreNoMetrics() async throws {
        let server = try OneAnswerServer(answer: Array("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".utf8))
        let run = try await LatchkeyProcess("admin", "metrics", "--server", server.url, "--token", "an-admin-token")
        #expect(run.status == 1 && run.output.isEmpty && run.messages.contains("403"), "\(run.messages)")
    }
}
