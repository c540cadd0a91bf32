import HTTPMessages
import TestSupport
import Testing

@testable import EventLoops
@testable import HTTPServing

/// What happens to connections, tasks and memory if a client or the server ends early.
@Suite struct ConnectionLifeTests {
    @Test(arguments: [false, true])
    func leaksNothingWhenAClientGoesWhileItsRequestIsSuspended(isReset: Bool) throws {
        let server = try TestServer()
        let descriptors = descriptorCount(of: server.address)
        for number in 1...10 {
            let client = try server.connect()
            client.send(get("/later"))
            server.handler.gate.waitForTasks(number)
            if isReset { client.resetOnClose() }
        }
        if isReset {
            // A reset is noticed immediately, but the connection objects stay until their tasks end.
            server.wait(forConnections: 0)
            #expect(server.server.connectionObjectCount == 10)
        }
        #expect(server.group.liveTaskCount == 10)
        server.handler.gate.open()
        server.wait(forConnections: 0)
        #expect(server.handler.answered.wait(for: 10).count == 10)
        server.settle()
        #expect(server.group.liveTaskCount == 0)
        #expect(server.server.connectionCount == 0)
        #expect(server.server.connectionObjectCount == 0)
        // Only the listener is left.
        #expect(server.group.registrationCount == 1)
        #expect(descriptorCount(of: server.address) == descriptors)
        #expect(server.group.loops[0].timerCount == 0)
    }

    @Test func freesAConnectionThatCloses() throws {
        let server = try TestServer()
        do {
            let client = try server.connect()
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
            #expect(server.server.connectionObjectCount == 1)
        }
        server.wait(forConnections: 0)
        #expect(server.server.connectionObjectCount == 0)
        #expect(server.group.loops[0].timerCount == 0)
    }

    @Test(arguments: [0, 1, 3])
    func limitsConnections(maximum: Int) throws {
        let server = try TestServer { $0.connectionsMaximum = maximum }
        // No connection is idle, because an idle connection would make room.
        let clients = try (0..<maximum).map { number in
            let client = try server.connect()
            client.send(get("/later"))
            server.handler.gate.waitForTasks(number + 1)
            return client
        }
        let refused = try server.connect()
        #expect(server.observer.refusedConnections.wait(for: 1) == [.tooManyConnections])
        #expect(refused.receiveAll() == "")
        #expect(server.server.connectionCount == maximum)
        #expect(clients.count == maximum)
    }

    @Test func limitsBusyConnectionsFromOneAddress() throws {
        let server = try TestServer { $0.connectionsPerAddressMaximum = 2 }
        let busy = try (1...2).map { count in
            let client = try server.connect(from: 0x7f00_0002)
            client.send(get("/later"))
            server.handler.gate.waitForTasks(count)
            return client
        }
        let third = try server.connect(from: 0x7f00_0002)
        #expect(server.observer.refusedConnections.wait(for: 1) == [.tooManyConnectionsFromAddress])
        #expect(third.receiveAll() == "")
        let other = try server.connect(from: 0x7f00_0003)
        other.send(get("/now"))
        #expect(other.receive(until: "now") == response("200 OK", "now"))
        #expect(server.server.connectionCount == 3)
        server.handler.gate.open()
        for client in busy { #expect(client.receive(until: "later") == response("200 OK", "later")) }
    }

    @Test func drainsInOrder() throws {
        let server = try TestServer()
        let idle = try server.connect()
        idle.send(get("/now"))
        #expect(idle.receive(until: "now") == response("200 OK", "now"))
        let suspended = try server.connect()
        suspended.send(get("/later"))
        server.wait(forConnections: 2)
        server.handler.gate.waitForTasks(1)
        let drained = Log<DrainReport>()
        let http = server.server
        Background.run { drained.append(http.drain(within: .seconds(30))) }
        #expect(throws: NotConnected.self) { while true { _ = try server.connect() } }
        // A request on an idle connection may be on its way. It is served as the last one, and then the idle
        // connections end.
        idle.send(get("/now"))
        #expect(idle.receiveAll() == response("200 OK", "now", closes))
        idle.finish()
        server.advance(by: .seconds(1))
        server.wait(forConnections: 1)
        #expect(drained.all.isEmpty)
        server.handler.gate.open()
        #expect(suspended.receiveAll() == response("200 OK", "later", closes))
        suspended.finish()
        #expect(drained.wait(for: 1) == [DrainReport(cutOffConnectionCount: 0)])
        #expect(server.group.registrationCount == 0)
    }

    /// A request that arrives at the same time as the deadline of the drain is answered, and its connection is not
    /// reset.
    @Test(arguments: [false, true])
    func answersARequestThatCameBeforeTheIdleConnectionCloses(offersHTTP2: Bool) throws {
        let server = try TestServer(offersHTTP2: offersHTTP2)
        let (used, silent) = (try server.connect(), try server.connect())
        used.send(get("/now"))
        #expect(used.receive(until: "now") == response("200 OK", "now"))
        server.wait(forConnections: 2)
        // The loop is busy while the request arrives and the deadline passes, so it learns of both at the same time.
        let (clock, loop) = (server.clock, server.group.loops[0])
        let (sent, seen) = (Log<Bool>(), Log<Bool>())
        loop.execute {
            seen.append(true)
            _ = sent.wait(for: 1)
        }
        _ = seen.wait(for: 1)
        used.send(get("/now"))
        clock.advance(by: .seconds(60))
        sent.append(true)
        #expect(used.receive(until: "now") == response("200 OK", "now"))
        #expect(silent.receiveAll() == "")
    }

    /// Clients of connections that the kernel has queued may have sent requests already.
    @Test func answersConnectionsThatWereNotAcceptedYetWhenItDrains() throws {
        let server = try TestServer()
        let (released, seen) = (Log<Bool>(), Log<Bool>())
        server.group.loops[0].execute {
            seen.append(true)
            _ = released.wait(for: 1)
        }
        _ = seen.wait(for: 1)
        let clients = try (0..<50).map { _ in try server.connect() }
        for client in clients { client.send(get("/now")) }
        let (drained, http) = (Log<DrainReport>(), server.server)
        Background.run { drained.append(http.drain(within: .seconds(30))) }
        released.append(true)
        // The loop accepts some of them before it learns of the drain.
        for client in clients {
            let answer = client.receive(until: "now")
            #expect([response("200 OK", "now"), response("200 OK", "now", closes)].contains(answer))
            client.finish()
        }
        #expect(drained.wait(for: 1) == [DrainReport(cutOffConnectionCount: 0)])
    }

    /// A client that has just connected gets an answer, because after a restart with socket activation no process would
    /// know the connection.
    @Test(arguments: [false, true])
    func answersTheFirstRequestOfAFreshConnectionWhileItDrains(usesTLS: Bool) throws {
        let context = try TLSContext(
            identities: [try Certificates.a.identity()], tickets: TLSTicketKeys(clock: ManualClock()))
        let server = try TestServer(tls: usesTLS ? context : nil)
        let (fresh, silent) = (try server.connect(), try server.connect())
        server.wait(forConnections: 2)
        let drained = Log<DrainReport>()
        let http = server.server
        Background.run { drained.append(http.drain(within: .seconds(30))) }
        #expect(throws: NotConnected.self) { while true { _ = try server.connect() } }
        if usesTLS {
            let client = try TLSClient(fresh)
            client.send(get("/now"))
            #expect(client.receiveAll() == response("200 OK", "now", closes))
        } else {
            fresh.send(get("/now"))
            #expect(fresh.receiveAll() == response("200 OK", "now", closes))
        }
        fresh.finish()
        server.wait(forConnections: 1)
        server.advance(by: .seconds(1))
        #expect(silent.receiveAll() == "")
        #expect(drained.wait(for: 1) == [DrainReport(cutOffConnectionCount: 0)])
    }

    @Test func cutsOffWhatIsLeftWhenTheDrainIsOver() throws {
        let server = try TestServer()
        let suspended = try server.connect()
        suspended.send(get("/later"))
        server.handler.gate.waitForTasks(1)
        #expect(server.server.drain(within: .zero) == DrainReport(cutOffConnectionCount: 1))
        #expect(suspended.receiveAll() == "")
        #expect(server.server.connectionCount == 0)
        // The task still runs to its end. Afterwards no connection object is left.
        server.handler.gate.open()
        #expect(server.handler.answered.wait(for: 1) == ["on its loop"])
        server.settle()
        #expect(server.server.connectionObjectCount == 0)
        #expect(server.server.drain(within: .zero) == DrainReport(cutOffConnectionCount: 0))
    }

    /// The loops may be stopped without a drain. Suspended requests are finished, but their connections are closed.
    @Test func stopsWithSuspendedRequests() throws {
        let server = try TestServer(loopCount: 2)
        let clients = try (0..<6).map { _ in try server.connect() }
        for client in clients { client.send(get("/later")) }
        server.handler.gate.waitForTasks(6)
        let (group, reports) = (server.group, Log<StopReport>())
        Background.run { reports.append(group.stop(within: .seconds(60))) }
        for client in clients { #expect(client.receiveAll() == "") }
        server.handler.gate.open()
        #expect(reports.wait(for: 1) == [StopReport(abandonedTaskCount: 0)])
        #expect(group.liveTaskCount == 0)
        #expect(descriptorCount(of: server.address) == 0)
        #expect(server.server.connectionCount == 0)
        #expect(server.server.connectionObjectCount == 0)
        #expect(server.group.registrationCount == 0)
    }
}

/// Runs blocking calls on their own threads.
enum Background {
    static func run(_ body: @escaping @Sendable () -> Void) {
        do throws(EventLoopError) {
            let group = try EventLoopGroup(count: 1)
            // The thread is never stopped, because its call may last longer than this one.
            group.loops[0].execute(body)
        } catch {
            preconditionFailure("no thread for a test")
        }
    }
}
