import HTTPMessages
import POSIXSockets
import TestSupport
import Testing

@testable import HTTPServing

/// Connections that take places and send no requests.
@Suite struct EvictionTests {
    @Test func givesTheLongestIdlePlaceToANewConnection() throws {
        let server = try TestServer { $0.connectionsMaximum = 3 }
        let silent = try (0..<3).map { _ in try server.connect() }
        server.wait(forConnections: 3)
        let good = try server.connect(from: 0x7f00_0002)
        good.send(get("/now"))
        #expect(good.receive(until: "now") == response("200 OK", "now"))
        #expect(server.observer.refusedConnections.wait(for: 1) == [.evicted])
        #expect(silent[0].receiveAll() == "")
        #expect(server.server.connectionCount == 3)
    }

    /// A connection with a new request has not been idle for long.
    @Test func ordersByTheLastRequest() throws {
        let server = try TestServer { $0.connectionsMaximum = 2 }
        let first = try server.connect()
        first.send(get("/now"))
        #expect(first.receive(until: "now") == response("200 OK", "now"))
        let second = try server.connect()
        second.send(get("/now"))
        #expect(second.receive(until: "now") == response("200 OK", "now"))
        first.send(get("/now"))
        #expect(first.receive(until: "now") == response("200 OK", "now"))
        let third = try server.connect()
        third.send(get("/now"))
        #expect(third.receive(until: "now") == response("200 OK", "now"))
        #expect(second.receiveAll() == "")
        first.send(get("/now"))
        #expect(first.receive(until: "now") == response("200 OK", "now"))
    }

    /// A refused client gets time to read its refusal, but must not keep other clients out by that.
    @Test func closesConnectionsThatLinger() throws {
        let server = try TestServer { $0.connectionsMaximum = 2 }
        let refused = try (0..<2).map { _ in
            let client = try server.connect()
            client.send("no HTTP\r\n")
            #expect(client.receive(until: "bad_request").hasPrefix("HTTP/1.1 400 "))
            return client
        }
        server.settle()
        #expect(server.resources.connectionCount(in: .closing) == 2)
        let good = try server.connect()
        good.send(get("/now"))
        #expect(good.receive(until: "now") == response("200 OK", "now"))
        #expect(server.observer.refusedConnections.wait(for: 1) == [.evicted])
        #expect(refused.count == 2)
    }

    @Test func closesNoConnectionThatIsBusy() throws {
        let server = try TestServer { $0.connectionsMaximum = 2 }
        let busy = try (1...2).map { count in
            let client = try server.connect()
            client.send(get("/later"))
            server.handler.gate.waitForTasks(count)
            return client
        }
        let refused = try server.connect()
        #expect(server.observer.refusedConnections.wait(for: 1) == [.tooManyConnections])
        #expect(refused.receiveAll() == "")
        server.handler.gate.open()
        for client in busy { #expect(client.receive(until: "later") == response("200 OK", "later")) }
    }

    @Test(arguments: [false, true])
    func endsAConnectionWithoutAFirstByte(offersHTTP2: Bool) throws {
        let server = try TestServer(offersHTTP2: offersHTTP2) { $0.handshakeDeadline = .seconds(10) }
        let silent = try server.connect()
        let asking = try server.connect()
        asking.send(get("/now"))
        #expect(asking.receive(until: "now") == response("200 OK", "now"))
        server.wait(forConnections: 2)
        server.advance(by: .seconds(10))
        #expect(server.observer.refusedConnections.wait(for: 1) == [.silent])
        #expect(silent.receiveAll() == "")
        // The other connection has the idle deadline between requests.
        asking.send(get("/now"))
        #expect(asking.receive(until: "now") == response("200 OK", "now"))
    }

    @Test func keepsPlacesThatTheProcessNeedsForItself() throws {
        let server = try TestServer(resources: ServerResources(connectionsMaximum: 2))
        let clients = try (0..<4).map { number in try server.connect(from: 0x7f00_0002 + UInt32(number)) }
        #expect(server.observer.refusedConnections.wait(for: 2) == [.evicted, .evicted])
        // In the same turn, the new connection takes the place of the evicted one.
        server.settle()
        #expect(server.resources.connectionCount == 2)
        clients[3].send(get("/now"))
        #expect(clients[3].receive(until: "now") == response("200 OK", "now"))
    }

    @Test func leavesOneNetworkHalfOfThePlaces() throws {
        let server = try TestServer(resources: ServerResources(connectionsMaximum: 4))
        let clients = try (0..<3).map { _ in try server.connect() }
        #expect(server.observer.refusedConnections.wait(for: 1) == [.tooManyConnectionsFromAddress])
        #expect(clients[2].receiveAll() == "")
        #expect(server.resources.connectionCount == 2)
        #expect(server.resources.memory.charged(to: .connections) == 2 * HeldMemory.connectionSize)
    }

    @Test func countsAnIPv6NetworkAsOneClient() throws {
        var counts = ConnectionCount()
        var limits = HTTPLimits()
        limits.connectionsPerAddressMaximum = 2
        let addresses = ["2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::3", "2001:db8:0:1::1"].map {
            IPAddress($0)?.clientNetwork
        }
        #expect(addresses.allSatisfy { $0 != nil })
        #expect(addresses.map { counts.admit($0, limits) } == [nil, nil, .tooManyConnectionsFromAddress, nil])
        #expect(IPAddress("192.0.2.1")?.clientNetwork == IPAddress("192.0.2.1"))
    }
}
