import HTTPServing
import Licensing
import POSIXSockets
import Telemetry
import TestSupport
import Testing

@testable import RouteKit

@Suite struct ConnectionShortagesTests {
    private let clock = ManualClock()
    private let sink = MemoryLogSink()
    private let shortages: ConnectionShortages

    init() {
        shortages = ConnectionShortages(clock: clock)
        shortages.log(to: Logger(level: .info, sink: sink, clock: clock)) { .full }
    }

    private func note(
        _ address: UInt32, times count: Int = 1, because reason: HTTPConnectionRefusal = .evictedForAddress
    ) {
        let peer = HTTPPeer(address: .internet(.v4(address), port: 1), listener: "admin")
        for _ in 0..<count { shortages.note(peer, reason) }
    }

    /// The client that comes first may have lost its connection to the one that comes second.
    @Test func namesTheClientWithTheMostConnections() {
        note(0xC000_0201)
        #expect(sink.lines.count == 1 && sink.lines[0].contains(#""client":"192.0.2.1""#))
        note(0xC000_0202, times: 50)
        note(0xC000_0201, times: 3)
        shortages.look()
        #expect(sink.lines.count == 1, "the minute is not over")
        clock.advance(by: ConnectionShortages.pause)
        shortages.look()
        #expect(sink.lines.count == 2)
        #expect(sink.lines.last?.contains(#""connections":53,"of_client":50,"client":"192.0.2.2""#) == true)
    }

    /// Clients that come once push out no client that comes often, and the number of lines does not grow with clients.
    @Test func manyClientsHideNone() {
        for number in 0..<3000 as Range<UInt32> {
            note(0x0A00_0000 + number)
            if number % 10 == 0 { note(0xC000_0202) }
        }
        clock.advance(by: ConnectionShortages.pause)
        shortages.look()
        #expect(sink.lines.count == 2)
        #expect(sink.lines.last?.contains(#""client":"192.0.2.2""#) == true, "\(sink.lines)")
    }

    @Test func aMinuteWithoutConnectionsEndsSilently() {
        note(0xC000_0201)
        note(0xC000_0201, because: .memory)
        #expect(sink.lines.count == 2)
        clock.advance(by: ConnectionShortages.pause)
        shortages.look()
        #expect(sink.lines.count == 2)
        note(0xC000_0202)
        #expect(sink.lines.count == 3 && sink.lines[2].contains(#""client":"192.0.2.2""#))
        // A connection that was closed for what its client sent is none of these.
        note(0xC000_0202, because: .silent)
        clock.advance(by: ConnectionShortages.pause)
        shortages.look()
        #expect(sink.lines.count == 3)
    }
}
