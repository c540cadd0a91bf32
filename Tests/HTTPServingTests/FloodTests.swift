import EventLoops
import Telemetry
import TestSupport
import Testing

@testable import HTTPServing

/// The input of thousands of clients at the same time takes many turns of the loop, and other clients are served
/// between them.
@Suite struct FloodTests {
    private static let flooding: UInt32 = 0x7f00_0002

    /// Holds a loop at the end of a turn, and records the observer's count at the end of each later turn.
    private final class HeldLoop {
        let counts = Log<Int>()
        private let hold = Hold()

        init(_ server: TestServer, counting count: @escaping @Sendable (TestObserver) -> Int) {
            let loop = server.group.loops[0]
            let (counts, observer, hold) = (counts, server.observer, hold)
            loop.execute {
                loop.atTurnEnd { _ in
                    counts.append(count(observer))
                    return .done
                }
                // The hooks of this turn may already have run.
                counts.append(count(observer))
                hold.wait()
            }
            hold.waitUntilHeld()
        }

        func release() { hold.release() }

        /// The change of the count from each turn to the next.
        var steps: [Int] { zip(counts.all.dropFirst(), counts.all).map { $0 - $1 } }
    }

    /// The single connection of another network begins in one of the first turns, however many connections one network
    /// opens.
    @Test func beginsTheConnectionOfAnotherNetworkSoon() throws {
        let server = try TestServer()
        let held = HeldLoop(server) { $0.finished.all.count }
        let clients = try (0..<300).map { _ in try server.connect(from: Self.flooding) }
        for client in clients { client.send(get("/now")) }
        let good = try server.connect(from: Self.flooding + 1)
        good.send("HEAD /now HTTP/1.1\r\nHost: h\r\n\r\n")
        held.release()
        let answer = response("200 OK", "now")
        #expect(good.receive(until: "\r\n\r\n") == answer.dropLast(3))
        for client in clients { #expect(client.receive(exactly: answer.utf8.count) == answer) }
        server.settle()
        let place = try #require(server.observer.finished.all.firstIndex { $0.hasPrefix("HEAD") })
        // The connection is accepted in the fourth turn: the first turn accepts 16 connections, the others 128.
        #expect(place < 4 * LoopListener.startsPerTurnMaximum)
        #expect(held.counts.all.last == 301)
    }

    @Test func beginsFewConnectionsInOneTurn() throws {
        let server = try TestServer()
        let held = HeldLoop(server) { $0.finished.all.count }
        let clients = try (0..<100).map { _ in try server.connect(from: Self.flooding) }
        for client in clients { client.send(get("/now")) }
        held.release()
        let answer = response("200 OK", "now")
        for client in clients { #expect(client.receive(exactly: answer.utf8.count) == answer) }
        server.settle()
        #expect(held.steps.max() == LoopListener.startsPerTurnMaximum)
        #expect(held.counts.all.last == 100)
    }

    /// The loop first accepts as many connections as may begin in one turn. If more have come, it accepts eight times
    /// as many.
    @Test func acceptsABoundedNumberOfConnectionsInOneTurn() throws {
        let server = try TestServer()
        let held = HeldLoop(server) { $0.openCount.update { $0 } }
        let clients = try (0..<400).map { _ in try server.connect(from: Self.flooding) }
        held.release()
        server.wait(forConnections: clients.count)
        let steps = held.steps.filter { $0 != 0 }
        #expect(held.counts.all.first == 0)
        #expect(steps == [16, 128, 128, 128])
    }

    @Test func endsFewLostConnectionsInOneTurn() throws {
        let server = try TestServer()
        var clients = try (0..<100).map { _ in try server.connect(from: Self.flooding) }
        server.wait(forConnections: clients.count)
        // A connection that has not begun yet would end differently. After this number of turns, all have begun.
        for _ in 0...clients.count / LoopListener.startsPerTurnMaximum { server.settle() }
        let held = HeldLoop(server) { $0.openCount.update { $0 } }
        for client in clients { client.resetOnClose() }
        clients = []
        held.release()
        server.wait(forConnections: 0)
        #expect(held.counts.all.first == 100)
        #expect(held.steps.filter { $0 != 0 } == [-32, -32, -32, -4])
        #expect(server.group.loops[0].timerCount == 0)
    }

    /// If no connection has begun yet, a connection that waits for its beginning makes room.
    @Test func givesThePlaceOfAWaitingConnectionToAnotherNetwork() throws {
        let server = try TestServer(resources: ServerResources(connectionsMaximum: 4))
        let held = HeldLoop(server) { $0.openCount.update { $0 } }
        let clients = try (0..<4).map { try server.connect(from: Self.flooding + UInt32($0 / 2)) }
        let good = try server.connect(from: Self.flooding + 2)
        good.send(get("/now"))
        held.release()
        #expect(good.receive(until: "now") == response("200 OK", "now"))
        #expect(server.observer.refusedConnections.wait(for: 1) == [.evicted])
        server.settle()
        #expect(server.resources.connectionCount == 4)
        #expect(server.observer.openCount.update { $0 } == 4)
        #expect(server.resources.connectionCount(in: .arriving) + server.resources.connectionCount(in: .idle) == 4)
        #expect(clients.count == 4)
    }

    /// If the server drains, connections that wait for their beginning are answered, or cut off when the time has
    /// passed.
    @Test func answersWaitingConnectionsWhenItDrains() throws {
        let server = try TestServer()
        let held = HeldLoop(server) { $0.finished.all.count }
        let clients = try (0..<60).map { _ in try server.connect(from: Self.flooding) }
        for client in clients {
            client.send(get("/now"))
            // Otherwise the connection would stay open for a while, because another request might follow.
            client.finish()
        }
        held.release()
        #expect(server.server.drain(within: .seconds(10)) == DrainReport(cutOffConnectionCount: 0))
        for client in clients { #expect(client.receiveAll().hasPrefix("HTTP/1.1 200 OK\r\n")) }
        #expect(server.server.connectionObjectCount == 0)
    }
}
