import HTTPMessages
import POSIXSockets
import TestSupport
import Testing

@testable import HTTPServing

/// What happens on real connections when a share of the memory budget is full.
@Suite struct MemoryShareTests {
    private static func post(_ length: Int) -> String {
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n"
    }

    private func server(_ memory: MemoryBudget, offersHTTP2: Bool = false) throws -> TestServer {
        try TestServer(offersHTTP2: offersHTTP2, resources: ServerResources(memory: memory))
    }

    @Test func refusesARequestWhoseHeadHasNoRoomBeforeItsBodyComes() throws {
        let memory = MemoryBudget(size: 1 << 20)
        #expect(memory.charge(memory.maximum(of: .heads), to: .heads))
        let server = try server(memory)
        let client = try server.connect()
        client.send(Self.post(1000))
        #expect(client.receiveAll().hasPrefix("HTTP/1.1 429 "))
        #expect(server.observer.problems.wait(for: 1) == [.overloaded])
    }

    @Test func refusesABodyThatHasNoRoom() throws {
        let memory = MemoryBudget(size: 1 << 20)
        #expect(memory.charge(memory.maximum(of: .bodies), to: .bodies))
        let server = try server(memory)
        let client = try server.connect()
        client.send(Self.post(1000) + "some of it")
        #expect(client.receiveAll().hasPrefix("HTTP/1.1 429 "))
    }

    /// A request that arrives in one piece is never held, so it is answered however much memory others hold.
    @Test func answersAWholeRequestWhateverOthersHold() throws {
        let memory = MemoryBudget(size: 1 << 20)
        for share in [MemoryBudget.Share.heads, .bodies, .outbound] {
            #expect(memory.charge(memory.maximum(of: share), to: share))
        }
        let server = try server(memory)
        let client = try server.connect()
        client.send(Self.post(4) + "body")
        #expect(client.receive(until: "body") == response("200 OK", "body"))
    }

    @Test func chargesWhatARequestHoldsUntilItIsComplete() throws {
        let server = try server(MemoryBudget(size: 1 << 20))
        let client = try server.connect()
        client.send(Self.post(5000) + String(repeating: "a", count: 2000))
        server.wait(forConnections: 1)
        #expect(server.resources.memory.charged(to: .bodies) >= 2000)
        #expect(server.resources.memory.charged(to: .heads) >= 50)
        #expect(server.resources.connectionCount(in: .busy) == 1)
        client.send(String(repeating: "a", count: 3000))
        #expect(client.receive(until: "aaa").hasSuffix("aaa"))
        server.settle()
        #expect(server.resources.memory.charged(to: .bodies) == 0)
        #expect(server.resources.memory.charged(to: .heads) == 0)
        #expect(server.resources.connectionCount(in: .idle) == 1)
    }

    /// Each piece changes the head's size, but only a few pieces change the charge.
    @Test func chargesAHeadThatComesInPiecesInSteps() throws {
        let server = try server(MemoryBudget(size: 1 << 20))
        let client = try server.connect()
        var charges: Set<Int> = []
        client.send("GET / HTTP/1.1\r\nHost: h\r\n")
        for number in 0..<40 {
            client.send("X-\(number): \(String(repeating: "x", count: 20))\r\n")
            server.wait(forConnections: 1)
            server.settle()
            charges.insert(server.resources.memory.charged(to: .heads))
        }
        #expect(charges.allSatisfy { $0.isMultiple(of: HeldMemory.step) })
        #expect(charges.count > 1)
    }

    @Test func refusesRequestsThatWouldWaitBeyondTheirShare() throws {
        let memory = MemoryBudget(size: 1 << 20)
        let server = try server(memory)
        #expect(memory.charge(memory.maximum(of: .requests) - HeldMemory.requestSize, to: .requests))
        let client = try server.connect()
        client.send(get("/later"))
        #expect(client.receive(until: "overloaded").hasPrefix("HTTP/1.1 429 "))
        #expect(server.resources.requestsInFlight == 0)
        memory.release(memory.maximum(of: .requests) / 2, from: .requests)
        client.send(get("/later"))
        server.handler.gate.waitForTasks(1)
        #expect(server.resources.requestsInFlight == 1)
        server.handler.gate.open()
        #expect(client.receive(until: "later") == response("200 OK", "later"))
        server.settle()
        #expect(server.resources.requestsInFlight == 0)
    }

    @Test func endsAConnectionWhoseClientLeavesTooMuchUnread() throws {
        let server = try server(MemoryBudget(size: 16 << 20))
        let client = try server.connect()
        // The response has 8 MiB. The kernel takes less than 6 MiB of it, and a client may hold 1 MiB.
        client.send(get("/large"))
        #expect(server.observer.refusedConnections.wait(for: 1) == [.memory])
        server.wait(forConnections: 0)
        #expect(server.resources.memory.chargedSize == 0)
        #expect(client.receive() != nil)
    }

    /// An HTTP/2 session costs more memory than its connection alone: idle connections must make room for the
    /// difference too.
    @Test func closesIdleConnectionsForWhatASessionNeeds() throws {
        let memory = MemoryBudget(size: 1 << 20)
        let server = try server(memory, offersHTTP2: true)
        let silent = try (0..<20).map { _ in try server.connect() }
        server.wait(forConnections: 20)
        let room = memory.maximum(of: .connections) - memory.charged(to: .connections)
        #expect(memory.charge(room, to: .connections))
        let good = try server.connect()
        good.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        good.send([0, 0, 0, 4, 0, 0, 0, 0, 0])
        #expect(good.receive(9)?.count == 9)
        let count = (HeldMemory.connectionSize + HeldMemory.http2Size) / HeldMemory.connectionSize
        #expect(server.observer.refusedConnections.wait(for: count) == Array(repeating: .evicted, count: count))
        for client in silent.prefix(count) { #expect(client.receiveAll() == "") }
        server.wait(forConnections: 21 - count)
    }

    @Test func closesTheLongestIdleConnectionForANewOne() throws {
        let memory = MemoryBudget(size: 1 << 20)
        let server = try server(memory)
        let clients = try (0..<2).map { _ in try server.connect() }
        for client in clients {
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
        }
        let room = memory.maximum(of: .connections) - memory.charged(to: .connections)
        #expect(memory.charge(room, to: .connections))
        let third = try server.connect()
        third.send(get("/now"))
        #expect(third.receive(until: "now") == response("200 OK", "now"))
        #expect(server.observer.refusedConnections.wait(for: 1) == [.evicted])
        #expect(clients[0].receiveAll() == "")
        clients[1].send(get("/now"))
        #expect(clients[1].receive(until: "now") == response("200 OK", "now"))
    }
}
