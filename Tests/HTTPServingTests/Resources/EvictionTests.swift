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

    // MARK: One address

    /// The place comes from the address itself, although a connection of another one has been idle for longer.
    @Test func givesTheLongestIdlePlaceOfAnAddressToItsNewConnection() throws {
        let server = try TestServer { $0.connectionsPerAddressMaximum = 2 }
        let other = try server.connect(from: 0x7f00_0003)
        let own = try (0..<2).map { _ in
            let client = try server.connect(from: 0x7f00_0002)
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
            return client
        }
        own[0].send(get("/now"))
        #expect(own[0].receive(until: "now") == response("200 OK", "now"))
        let new = try server.connect(from: 0x7f00_0002)
        new.send(get("/now"))
        #expect(new.receive(until: "now") == response("200 OK", "now"))
        #expect(server.observer.refusedConnections.wait(for: 1) == [.evictedForAddress])
        #expect(own[1].receiveAll() == "")
        for client in [other, own[0], new] {
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
        }
        #expect(server.server.connectionCount == 3)
    }

    /// Each of two loops has a connection of the address, or one of them has both.
    @Test func findsTheIdlePlaceOfAnAddressOnAnotherLoop() throws {
        let server = try TestServer(loopCount: 4) { $0.connectionsPerAddressMaximum = 2 }
        for _ in 0..<64 {
            let client = try server.connect()
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
            server.settle()
            // Each other loop may have one connection more, until it has closed an idle one.
            #expect(server.server.connectionCount <= 2 + 3)
        }
    }

    /// A client that begins requests and does not finish them takes places from itself, and not from those who wait
    /// between their requests.
    @Test(arguments: [1, 4])
    func unfinishedHeadsGiveWayFirst(loopCount: Int) throws {
        let server = try TestServer(loopCount: loopCount) { $0.connectionsPerAddressMaximum = 16 }
        let served = try (0..<4).map { _ in
            let client = try server.connect()
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
            return client
        }
        let unfinished = try (0..<64).map { _ in
            let client = try server.connect()
            client.send("GET /now HTTP/1.1\r\n")
            server.settle()
            return client
        }
        // With one loop, every unfinished one beyond the maximum has closed the oldest of its kind.
        if loopCount == 1 {
            let closed = server.observer.refusedConnections.wait(for: 52)
            #expect(closed == Array(repeating: .evictedForAddress, count: 52))
            #expect(unfinished[0].receiveAll() == "")
        }
        for client in served {
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
        }
        let new = try server.connect()
        new.send(get("/now"))
        #expect(new.receive(until: "now") == response("200 OK", "now"))
        withExtendedLifetime(unfinished) {}
    }

    @Test func unfinishedHeadsLeaveOtherNetworksAPlace() throws {
        let server = try TestServer { $0.connectionsMaximum = 2 }
        let unfinished = try (0..<2).map { _ in
            let client = try server.connect(from: 0x7f00_0002)
            client.send("GET /now HTTP/1.1\r\n")
            server.settle()
            return client
        }
        let good = try server.connect()
        good.send(get("/now"))
        #expect(good.receive(until: "now") == response("200 OK", "now"))
        #expect(server.observer.refusedConnections.wait(for: 1) == [.evicted])
        #expect(unfinished[0].receiveAll() == "")
    }

    /// If few connections have no request yet, they do not push each other out.
    @Test func newConnectionsHaveTimeForTheirRequest() throws {
        let server = try TestServer { $0.connectionsPerAddressMaximum = 8 }
        let served = try (0..<7).map { _ in
            let client = try server.connect()
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
            return client
        }
        let slow = try server.connect()
        slow.send("GET /now HTTP/1.1\r\n")
        server.settle()
        let new = try server.connect()
        new.send(get("/now"))
        #expect(new.receive(until: "now") == response("200 OK", "now"))
        #expect(served[0].receiveAll() == "")
        slow.send("Host: h\r\n\r\n")
        #expect(slow.receive(until: "now") == response("200 OK", "now"))
    }

    /// A request whose head has come in two pieces is under way like any other.
    @Test func aHeadInTwoPiecesKeepsItsPlace() throws {
        let server = try TestServer { $0.connectionsPerAddressMaximum = 1 }
        let busy = try server.connect()
        busy.send("GET /later HTTP/1.1\r\n")
        server.settle()
        busy.send("Host: h\r\n\r\n")
        server.handler.gate.waitForTasks(1)
        let refused = try server.connect()
        #expect(refused.receiveAll() == "")
        #expect(server.observer.refusedConnections.all == [.tooManyConnectionsFromAddress])
        server.handler.gate.open()
        #expect(busy.receive(until: "later") == response("200 OK", "later"))
    }

    /// The counts of an address must not drift, whatever closes its connections.
    @Test func forgetsAnAddressWithItsLastConnection() throws {
        let server = try TestServer { $0.connectionsPerAddressMaximum = 2 }
        for _ in 0..<3 {
            let clients = try (0..<5).map { _ in try server.connect(from: 0x7f00_0002) }
            server.wait(forConnections: 2)
            for client in clients { client.finish() }
            server.wait(forConnections: 0)
        }
        let last = try (1...2).map { count in
            let client = try server.connect(from: 0x7f00_0002)
            client.send(get("/later"))
            server.handler.gate.waitForTasks(count)
            return client
        }
        server.handler.gate.open()
        for client in last { #expect(client.receive(until: "later") == response("200 OK", "later")) }
    }

    // MARK: Health checks

    /// Busy connections hold all places of the address, or of the listener.
    @Test(arguments: [false, true])
    func servesHealthChecksAndNothingElseIfAllPlacesAreBusy(isListenerFull: Bool) throws {
        let server = try TestServer(healthPaths: ["/now"]) {
            if isListenerFull { $0.connectionsMaximum = 2 } else { $0.connectionsPerAddressMaximum = 2 }
        }
        let busy = try (1...2).map { count in
            let client = try server.connect()
            client.send(get("/later"))
            server.handler.gate.waitForTasks(count)
            return client
        }
        for _ in 0..<10 {
            let check = try server.connect()
            check.send(get("/now") + get("/now"))
            #expect(check.receiveAll() == response("200 OK", "now", closes))
            let other = try server.connect()
            other.send(get("/echo"))
            #expect(other.receiveAll() == response("429 Too Many Requests", "overloaded", closes))
        }
        // A body is not read first.
        let body = try server.connect()
        body.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nx")
        #expect(body.receiveAll().hasPrefix("HTTP/1.1 429 "))
        body.finish()
        server.handler.gate.open()
        for client in busy { #expect(client.receive(until: "later") == response("200 OK", "later")) }
        server.wait(forConnections: 2)
    }

    /// Connections that hold the kept places give way to the newest one.
    @Test func letsNobodyKeepThePlacesOfHealthChecks() throws {
        let server = try TestServer(healthPaths: ["/now"]) { $0.connectionsPerAddressMaximum = 1 }
        let busy = try server.connect()
        busy.send(get("/later"))
        server.handler.gate.waitForTasks(1)
        let attackers = try (0..<20).map { _ in
            let client = try server.connect()
            client.send("GET /now HTTP/1.1\r\n")
            return client
        }
        server.wait(forConnections: 1 + LoopServices.healthConnectionsMaximum)
        let check = try server.connect()
        check.send(get("/now"))
        #expect(check.receiveAll() == response("200 OK", "now", closes))
        #expect(attackers[0].receiveAll() == "")
        server.handler.gate.open()
        #expect(busy.receive(until: "later") == response("200 OK", "later"))
    }

    /// Other connections leave a part of the descriptors to them.
    @Test func keepsDescriptorsForHealthChecks() throws {
        let server = try TestServer(resources: ServerResources(connectionsMaximum: 16), healthPaths: ["/now"])
        let busy = try (1...14).map { count in
            let client = try server.connect(from: 0x7f00_0002 + UInt32(count % 2))
            client.send(get("/later"))
            server.handler.gate.waitForTasks(count)
            return client
        }
        for _ in 0..<4 {
            let check = try server.connect(from: 0x7f00_0004)
            check.send(get("/now"))
            #expect(check.receiveAll() == response("200 OK", "now", closes))
        }
        #expect(server.resources.connectionCount <= 16)
        server.handler.gate.open()
        for client in busy { #expect(client.receive(until: "later") == response("200 OK", "later")) }
    }

    // MARK: Silence

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
        let clients = try (0..<2).map { _ in try server.connect() }
        // A connection is idle from the time at which its loop has it.
        server.wait(forConnections: 2)
        let newest = try server.connect()
        defer { withExtendedLifetime(newest) {} }
        #expect(server.observer.refusedConnections.wait(for: 1) == [.evictedForAddress])
        #expect(clients[0].receiveAll() == "")
        server.settle()
        #expect(server.resources.connectionCount == 2)
        #expect(server.resources.memory.charged(to: .connections) == 2 * HeldMemory.connectionSize)
    }

    @Test func countsAnIPv6NetworkAsOneClient() throws {
        var counts = ConnectionCount()
        let networks = try ["2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::3", "2001:db8:0:1::1"].map {
            try #require(IPAddress($0)).clientNetwork
        }
        #expect(networks.map { counts.admit($0, atMost: 2) } == [true, true, false, true])
        #expect(IPAddress("192.0.2.1")?.clientNetwork == IPAddress("192.0.2.1"))
    }
}
