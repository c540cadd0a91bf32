import EventLoops
import HTTPMessages
import POSIXSockets
import Telemetry
import Testing

@testable import HTTPServing

@Suite struct RequestIDTests {
    @Test(arguments: [
        (UInt64(0), "0000000000000000"), (0x1a, "000000000000001a"), (.max, "ffffffffffffffff"),
    ])
    func hasSixteenDigits(number: UInt64, text: String) {
        #expect(RequestID(number).text == text)
    }

    @Test func noTwoAreEqualOnAnyLoop() throws {
        let group = try EventLoopGroup(count: 2)
        defer { group.stop(within: .seconds(10)) }
        let source = RequestIDs()
        let ids = group.loops.flatMap { loop in
            loop.runAndWait { (0..<1000).map { _ in source.next(on: loop).text } } ?? []
        }
        #expect(ids.count == 2000)
        #expect(Set(ids).count == 2000)
        #expect(ids.allSatisfy { $0.utf8.count == 16 })
    }

    private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    private func id(_ fields: HTTPFields) throws -> RequestID {
        let group = try EventLoopGroup(count: 1)
        defer { group.stop(within: .seconds(10)) }
        let source = RequestIDs()
        let request = HTTPRequest(
            head: HTTPRequestHead(method: .get, target: HTTPTarget(path: "/", query: nil), fields: fields),
            body: [], peer: HTTPPeer(address: .internet(.v4(0x7f00_0001), port: 1), listener: "test"))
        let loop = group.loops[0]
        return try #require(loop.runAndWait { source.next(for: request, on: loop) })
    }

    /// The request id is the id of this server's span.
    @Test func hasTheTraceOfTheRequest() throws {
        let id = try id(["Traceparent": Self.parent, "tracestate": "a=1", "TraceState": "b=2"])
        let trace = try #require(id.trace)
        #expect(trace.traceID == "0af7651916cd43dd8448eb211c80319c" && trace.spanID == id.text)
        #expect(
            trace.forwardedFields.map(\.value) == ["00-0af7651916cd43dd8448eb211c80319c-\(id.text)-01", "a=1,b=2"])
        #expect(id.logFields.map(\.name) == ["request_id", "trace_id", "parent_span_id", "span_id"])
        #expect(id.place?.listener == "test")
    }

    @Test(
        arguments: [
            [:], ["traceparent": "00-0"], ["traceparent": parent, "Traceparent": parent], ["tracestate": "a=1"],
            ["traceparent": parent, "TRACEPARENT": ""], ["trace-parent": parent],
        ] as [HTTPFields])
    func hasNoTraceThatIsInvalid(fields: HTTPFields) throws {
        let id = try id(fields)
        #expect(id.trace == nil && id.logFields.map(\.name) == ["request_id"])
    }

    @Test func eachDaemonBeginsElsewhere() throws {
        let group = try EventLoopGroup(count: 1)
        defer { group.stop(within: .seconds(10)) }
        let loop = group.loops[0]
        let firsts = (0..<8).compactMap { _ in
            let source = RequestIDs()
            return loop.runAndWait { source.next(on: loop).text }
        }
        #expect(Set(firsts).count == 8)
    }
}
