import EventLoops
import HTTPMessages
import HTTPServing
import TestSupport
import Testing

/// Records that cost more than the data in them, and the amount that one turn of a loop reads.
@Suite struct TLSRecordTests {
    private func server(_ change: (inout HTTPLimits) -> Void = { _ in }) throws -> TestServer {
        try TestServer(
            tls: TLSContext(
                identities: [try Certificates.a.identity()], tickets: TLSTicketKeys(clock: ManualClock())),
            change: change)
    }

    enum Record: String, CaseIterable, Sendable {
        case keyUpdate
        case oneByte

        /// The number of small records that the record counts as. A key update is a small record, and counts as eight
        /// more.
        var weight: Int { self == .keyUpdate ? 9 : 1 }
    }

    private func send(_ count: Int, _ record: Record, by client: TLSClient) {
        client.raw.sendAtOnce()
        for _ in 0..<count {
            switch record {
            case .keyUpdate: client.sendKeyUpdate()
            case .oneByte: client.send("x")
            }
        }
    }

    /// Even if the records exceed one turn and one read, nothing hangs, and the request after them is answered.
    @Test(arguments: [1, 63, 64, 65, 100])
    func answersARequestBehindKeyUpdates(count: Int) throws {
        let server = try server()
        let client = try server.connectTLS(TLSClientOptions(versions: tls13...tls13))
        client.raw.hold(true)
        send(count, .keyUpdate, by: client)
        client.send(get("/now"))
        client.raw.hold(false)
        #expect(client.receive(until: "now") == response("200 OK", "now"))
        #expect(server.observer.abuses.all.isEmpty)
    }

    @Test(arguments: [tls12, tls13], [64, 200, 900])
    func answersARequestInRecordsOfOneByte(version: Int32, size: Int) throws {
        let server = try server()
        let client = try server.connectTLS(TLSClientOptions(versions: version...version))
        client.raw.hold(true)
        let frame = get("/now", "X: \r\n").utf8.count
        for byte in get("/now", "X: \(String(repeating: "x", count: size - frame))\r\n").utf8 { client.send([byte]) }
        client.raw.hold(false)
        #expect(client.receive(until: "now") == response("200 OK", "now"))
    }

    /// The loop learns of both clients at the same time. The client with small records is served after the other.
    @Test func servesOthersBetweenTheTurnsOfSmallRecords() throws {
        let server = try server()
        let (slow, quick) = (try server.connectTLS(), try server.connectTLS())
        for client in [slow, quick] {
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
        }
        let (sent, seen) = (Log<Bool>(), Log<Bool>())
        server.group.loops[0].execute {
            seen.append(true)
            _ = sent.wait(for: 1)
        }
        _ = seen.wait(for: 1)
        slow.raw.hold(true)
        for byte in get("/now", "X: \(String(repeating: "x", count: 600))\r\n").utf8 { slow.send([byte]) }
        slow.raw.hold(false)
        quick.send("HEAD /now HTTP/1.1\r\nHost: h\r\n\r\n")
        sent.append(true)
        #expect(slow.receive(until: "now") == response("200 OK", "now"))
        let finished = server.observer.finished.wait(for: 4)
        #expect(finished.suffix(2) == ["HEAD 200 test true", "GET 200 test true"])
    }

    @Test(arguments: Record.allCases)
    func endsAFloodOfSmallRecords(record: Record) throws {
        let server = try server {
            $0.smallRecordBurstMaximum = 100
            $0.smallRecordRateMaximum = 0
        }
        let client = try server.connectTLS(TLSClientOptions(versions: tls13...tls13))
        if record == .oneByte { client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n") }
        send(90 / record.weight, record, by: client)
        server.settle()
        #expect(server.observer.abuses.all.isEmpty)
        send(27 / record.weight, record, by: client)
        #expect(server.observer.abuses.wait(for: 1) == [.smallRecords])
        server.wait(forConnections: 0)
        #expect(server.server.connectionObjectCount == 0)
    }

    /// A client with small requests does not count as an attacker, because each answer allows a number of small
    /// records.
    @Test func allowsSmallRecordsByAnswers() throws {
        let server = try server {
            $0.smallRecordBurstMaximum = 20
            $0.smallRecordRateMaximum = 0
        }
        let client = try server.connectTLS(TLSClientOptions(versions: tls13...tls13))
        for _ in 0..<50 {
            send(1, .keyUpdate, by: client)
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
        }
        #expect(server.observer.abuses.all.isEmpty)
    }

    @Test func allowsMoreSmallRecordsWithTime() throws {
        let server = try server {
            $0.smallRecordBurstMaximum = 50
            $0.smallRecordRateMaximum = 10
        }
        let client = try server.connectTLS(TLSClientOptions(versions: tls13...tls13))
        client.send(get("/now"))
        #expect(client.receive(until: "now") == response("200 OK", "now"))
        for _ in 0..<4 {
            send(5, .keyUpdate, by: client)
            server.settle()
            server.advance(by: .seconds(5))
        }
        client.send(get("/now"))
        #expect(client.receive(until: "now") == response("200 OK", "now"))
        #expect(server.observer.abuses.all.isEmpty)
    }

    /// The end arrives in one piece with the request, so no event announces it. The idle deadline would be 60 seconds.
    @Test(arguments: [tls12, tls13])
    func noticesAnEndThatCameWithTheRequest(version: Int32) throws {
        let server = try server()
        let client = try server.connectTLS(TLSClientOptions(versions: version...version))
        client.raw.hold(true)
        client.send(get("/now"))
        client.sayGoodbye()
        client.raw.hold(false)
        #expect(client.receiveAll() == response("200 OK", "now"))
        server.wait(forConnections: 0)
    }
}
