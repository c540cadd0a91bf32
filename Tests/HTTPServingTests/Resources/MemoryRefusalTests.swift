import HTTPMessages
import POSIXSockets
import TestSupport
import Testing

@testable import HTTPServing

/// Clients that continue to send requests although there is no memory for them.
@Suite struct MemoryRefusalTests {
    private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(payload.count), type, flags, 0, 0, 0, stream] + payload
    }

    /// `:method: POST`, `:scheme: http` and `:path: /` from the static table, and `:authority: h`.
    private static let head: [UInt8] = [0x83, 0x86, 0x84, 0x41, 0x01, 0x68]

    private static func requests(_ count: Int) -> [UInt8] {
        Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4, 0, 0, [])
            + (0..<count).flatMap { frame(1, 4, UInt8(1 + 2 * $0), head) }
    }

    private static let ping = Array("are you?".utf8)

    private func fullServer() throws -> TestServer {
        let memory = MemoryBudget(size: 1 << 20)
        #expect(memory.charge(memory.maximum(of: .heads), to: .heads))
        return try TestServer(
            offersHTTP2: true, resources: ServerResources(memory: memory)
        ) { $0.http2.bodiesSizeMaximum = 1 << 28 }
    }

    @Test func endsTheConnectionAfterTheSeventeenthRefusal() throws {
        let server = try fullServer()
        let client = try server.connect()
        client.send(Self.requests(17))
        #expect(server.observer.refusedConnections.wait(for: 1) == [.memory])
        server.wait(forConnections: 0)
    }

    @Test func refusesSixteenRequestsAndGoesOn() throws {
        let server = try fullServer()
        let client = try server.connect()
        client.send(Self.requests(16))
        #expect(server.observer.problems.wait(for: 16) == Array(repeating: .overloaded, count: 16))
        client.send(Self.frame(6, 0, 0, Self.ping))
        // A refused request keeps its stream for a while, for the rest of its body. The stream is given up, not the
        // connection.
        var received: [UInt8] = []
        while !received.contains(sequence: Self.ping), let more = client.receive(), !more.isEmpty { received += more }
        #expect(received.contains(sequence: Self.frame(6, 1, 0, Self.ping)))
        #expect(server.observer.refusedConnections.all.isEmpty)
        #expect(server.server.connectionCount == 1)
    }
}
