import HTTPMessages
import HTTPServing
import TestSupport
import Testing

/// Deadlines of connections, on a clock that the test moves.
@Suite struct ConnectionDeadlineTests {
    @Test func closesAnIdleConnection() throws {
        let server = try TestServer()
        let fresh = try server.connect()
        let used = try server.connect()
        used.send(get("/now"))
        #expect(used.receive(until: "now") == response("200 OK", "now"))
        server.wait(forConnections: 2)
        // A connection that has not sent anything yet has a shorter deadline.
        server.advance(by: .seconds(9))
        #expect(server.server.connectionCount == 2)
        server.advance(by: .seconds(1))
        #expect(fresh.receiveAll() == "")
        server.wait(forConnections: 1)
        server.advance(by: .seconds(49))
        #expect(server.server.connectionCount == 1)
        used.send(get("/now"))
        #expect(used.receive(until: "now") == response("200 OK", "now"))
        server.advance(by: .seconds(60))
        #expect(used.receiveAll() == "")
    }

    /// A head has one deadline as a whole: single bytes do not move the deadline.
    @Test func refusesASlowHead() throws {
        let server = try TestServer()
        let client = try server.connect()
        server.wait(forConnections: 1)
        for byte in "GET " {
            client.send(String(byte))
            server.settle()
            server.advance(by: .seconds(1))
        }
        #expect(server.observer.problems.all.isEmpty)
        client.send("/")
        server.settle()
        server.advance(by: .seconds(1))
        #expect(client.receiveAll() == response("408 Request Timeout", "request_timeout", closes))
        #expect(server.observer.problems.all == [.headTimeout])
        #expect(server.observer.abuses.all == [.slowHead])
    }

    @Test func refusesABodyThatComesTooSlowly() throws {
        let server = try TestServer { limits in
            limits.bodyRateMinimum = 10
            limits.bodyGrace = .seconds(2)
        }
        let client = try server.connect()
        client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n")
        server.wait(forConnections: 1)
        for _ in 0..<4 {
            // Ten bytes per second are enough.
            client.send("0123456789")
            server.settle()
            server.advance(by: .seconds(1))
        }
        #expect(server.observer.problems.all.isEmpty)
        server.advance(by: .seconds(2))
        #expect(client.receiveAll() == response("408 Request Timeout", "request_timeout", closes))
        #expect(server.observer.problems.all == [.bodyTimeout])
        #expect(server.observer.abuses.all == [.slowBody])
    }

    @Test func refusesABodyThatTakesTooLongInAll() throws {
        let server = try TestServer { $0.bodyRateMinimum = 0 }
        let client = try server.connect()
        client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc")
        server.wait(forConnections: 1)
        server.advance(by: .seconds(29))
        #expect(server.observer.problems.all.isEmpty)
        server.advance(by: .seconds(1))
        #expect(client.receiveAll() == response("408 Request Timeout", "request_timeout", closes))
    }

    /// While the handler works, no deadline of the connection runs, because the handler has its own.
    @Test func waitsForTheHandler() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(get("/later"))
        server.handler.gate.waitForTasks(1)
        server.advance(by: .seconds(100_000))
        server.handler.gate.open()
        #expect(client.receive(until: "later") == response("200 OK", "later"))
    }

    @Test func resetsAConnectionThatDoesNotRead() throws {
        let server = try TestServer()
        let client = try RawClient(server.address, receiveBufferSize: 4096)
        client.send(get("/large"))
        server.handler.waitForLarge()
        server.settle()
        server.advance(by: .seconds(29))
        #expect(server.server.connectionCount == 1)
        server.advance(by: .seconds(1))
        server.wait(forConnections: 0)
        #expect(server.observer.finished.all.isEmpty)
    }
}
