import EventLoops
import Telemetry
import TestSupport
import Testing

@testable import HTTPServing

@Suite struct InputTurnsTests {
    private static let clientCount = 40
    private static let requestsPerClient = 30

    /// A turn of the loop has a limited length, however many connections pipeline. A client with one request at a time
    /// is served in the next turn. If each request needs the time of a whole turn, a turn answers one.
    @Test(arguments: [("/now", InputTurns.turnSize), ("/costly", 1)])
    func answersFewPipelinedRequestsInOneTurn(path: String, turnSize: Int) throws {
        let server = try TestServer()
        let clients = try (0..<Self.clientCount).map { _ in try server.connect() }
        let good = try server.connect()
        server.wait(forConnections: Self.clientCount + 1)
        let loop = server.group.loops[0]
        let (counts, observer) = (Log<Int>(), server.observer)
        let (first, second) = (Hold(), Hold())
        loop.execute {
            loop.atTurnEnd { _ in
                counts.append(observer.finished.all.count)
                return .done
            }
            first.wait()
        }
        first.waitUntilHeld()
        for client in clients { client.send(String(repeating: get(path), count: Self.requestsPerClient)) }
        // One turn finds all of this input. Input that arrives while the turn is held at its end is found in the next
        // turn.
        loop.execute { second.wait() }
        first.release()
        second.waitUntilHeld()
        good.send("HEAD /now HTTP/1.1\r\nHost: h\r\n\r\n")
        second.release()

        let answer = response("200 OK", "now")
        let expected = String(repeating: answer, count: Self.requestsPerClient)
        for client in clients { #expect(client.receive(exactly: expected.utf8.count) == expected) }
        #expect(good.receive(until: "\r\n\r\n") == answer.dropLast(3))
        server.settle()
        let total = Self.clientCount * Self.requestsPerClient + 1
        #expect(counts.all.last == total)
        // Each input is read once when it arrives. Beyond that, a turn answers only its maximum.
        let steps = zip(counts.all.dropFirst(), counts.all).map { $0 - $1 }
        let beyond = steps.reduce(0) { $0 + max(0, $1 - turnSize) }
        #expect(beyond <= Self.clientCount + 1)
        let place = observer.finished.all.firstIndex { $0.hasPrefix("HEAD") }
        #expect((place ?? .max) <= Self.clientCount + turnSize)
    }

    /// A connection that closes while it waits for its turn is released.
    @Test func forgetsAConnectionThatCloses() throws {
        let server = try TestServer()
        do {
            let clients = try (0..<20).map { _ in try server.connect() }
            // Otherwise the first connections may have closed before the last ones arrive.
            server.wait(forConnections: 20)
            for client in clients {
                client.send(String(repeating: get("/now"), count: 500))
                client.resetOnClose()
            }
        }
        server.wait(forConnections: 0)
        #expect(server.server.connectionObjectCount == 0)
        #expect(server.group.loops[0].timerCount == 0)
    }
}
