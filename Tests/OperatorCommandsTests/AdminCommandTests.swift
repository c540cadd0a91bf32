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
}
