import HTTPMessages
import Telemetry
import TestSupport
import Testing

@testable import HTTPServing

/// Every limit of a session, tested at the limit and one above it.
@Suite struct HTTP2LimitsTests {
    private let ok = HTTPResponse(status: .ok)
    private let open = HTTP2Frame.endHeaders

    // MARK: Heads and bodies

    @Test(arguments: [0, 1])
    func limitsTheNumberOfFields(excess: Int) {
        let script = HTTP2Script { $0.fieldCountMaximum = 20 }
        script.send(.request(1, more: (0..<20 + excess).map { ("x-\($0)", "y") }))
        if excess == 0 {
            #expect(script.events().map(\.dispatchedStream) == [1])
        } else {
            #expect(script.events() == [.refuse(1, .headTooLarge)])
        }
    }

    /// One byte of HPACK may stand for a field of 4000 bytes. The limit applies to the field.
    @Test(arguments: [0, 1])
    func limitsHeadsThatExpand(excess: Int) {
        let script = HTTP2Script { $0.headSizeMaximum = 40_000 }
        // A field of 4000 bytes with its overhead is added to the dynamic table at index 62.
        let value = [UInt8](repeating: 97, count: 4000 - 32 - 1)
        let entering: [UInt8] = [
            0x40, 1, 120, 127, 0x80 | UInt8((value.count - 127) & 0x7f), UInt8((value.count - 127) >> 7),
        ]
        let basic = HPACKLiterals.block([(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/")])
        // The fields have 7 + 3, 7 + 4, 10 + 1 and 5 + 1 bytes, and 32 more each: 166 bytes, which leaves room for
        // nine.
        let block = basic + entering + value + [UInt8](repeating: 0x80 | 62, count: 8 + excess)
        script.send(.headers(1, block))
        if excess == 0 {
            #expect(script.events().map(\.dispatchedStream) == [1])
        } else {
            #expect(script.events() == [.refuse(1, .headTooLarge)])
        }
        // The dynamic table is still correct: the next request can use it.
        script.send(.headers(3, basic + [0x80 | 62]))
        #expect(script.events().map(\.dispatchedStream) == [3])
    }

    /// Adds a field of 4000 bytes to the dynamic table, then refers to it `count` times.
    private func expanded(_ stream: UInt32, count: Int) -> HTTP2Frame {
        let value = [UInt8](repeating: 97, count: 4000 - 32 - 1)
        let entering: [UInt8] = [
            0x40, 1, 120, 127, 0x80 | UInt8((value.count - 127) & 0x7f), UInt8((value.count - 127) >> 7),
        ]
        let basic = HPACKLiterals.block([(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/")])
        return .headers(stream, basic + entering + value + [UInt8](repeating: 0x80 | 62, count: count))
    }

    /// A head that is far too large is not decoded into fields. The first such block resets its stream, the second ends
    /// the connection.
    @Test func endsAConnectionWhoseHeadsExpandFarTooMuch() {
        let script = HTTP2Script()
        script.send(expanded(1, count: 10_000))
        #expect(script.events() == [.dropped(.headTooLarge)])
        #expect(script.output() == [.reset(1, code: 11)])
        // The dynamic table is still correct.
        let basic = HPACKLiterals.block([(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/")])
        script.send(.headers(3, basic + [0x80 | 62]))
        #expect(script.events().map(\.dispatchedStream) == [3])
        script.respond(ok, to: 3)
        _ = script.output()
        script.send(expanded(5, count: 10_000), .request(7))
        let events = script.events()
        #expect(events.contains(.abused(.expandedHeaders)))
        #expect(!events.contains { $0.dispatchedStream == 7 })
        #expect(script.goAwayCode() == 11)
        #expect(script.session.isFinished)
    }

    /// Behind a proxy, such a block comes from only one of many clients.
    @Test func keepsATrustedProxyWhoseClientsSendExpandedHeads() {
        let script = HTTP2Script(isTrustedProxy: true)
        for number in 0..<20 {
            let id = UInt32(2 * number + 1)
            script.send(expanded(id, count: 10_000))
            #expect(script.events() == [.dropped(.headTooLarge)])
            #expect(script.output() == [.reset(id, code: 11)])
        }
    }

    /// The decoded heads of one turn have a limited size, even if they are small on the wire. The rest waits for other
    /// connections.
    @Test func decodesNoMoreHeadsInATurnThanItMay() {
        let script = HTTP2Script()
        let count = 50
        var frames = [expanded(1, count: 3)]
        let basic = HPACKLiterals.block([(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/")])
        for number in 1..<count { frames.append(.headers(UInt32(2 * number + 1), basic + [0xBE, 0xBE, 0xBE])) }
        var rest = frames.flatMap { $0.bytes() }
        var turns: [Int] = []
        while !rest.isEmpty {
            rest.removeFirst(script.sendInOneTurn(rest))
            turns.append(script.events().compactMap(\.dispatchedStream).count)
        }
        #expect(turns.reduce(0, +) == count)
        // The last head of 12,000 bytes may exceed the budget.
        let most = HTTP2Session.decodedSizePerTurnMaximum / 12_000 + 1
        #expect(turns.allSatisfy { (1...most).contains($0) })
    }

    /// A small head counts too, because handling its request takes time.
    @Test func takesABoundedNumberOfSmallHeadsInATurn() {
        let script = HTTP2Script()
        let bytes = (0..<60).flatMap { HTTP2Frame.request(UInt32(2 * $0 + 1)).bytes() }
        let taken = script.sendInOneTurn(bytes)
        #expect(taken < bytes.count)
        let count = script.events().compactMap(\.dispatchedStream).count
        #expect((1...HTTP2Session.decodedSizePerTurnMaximum / HeldMemory.streamSize).contains(count))
        script.send(Array(bytes.dropFirst(taken)))
        #expect(script.events().compactMap(\.dispatchedStream).count == 60 - count)
    }

    /// A head or trailer is stopped at twice the permitted number of fields, even if it is small.
    @Test(arguments: [0, 1])
    func stopsHeadsOfFarTooManyFields(excess: Int) {
        let script = HTTP2Script { $0.fieldCountMaximum = 20 }
        script.send(.request(1, more: (0..<36 + excess).map { ("x-\($0)", "y") }))
        #expect(script.events() == (excess == 0 ? [.refuse(1, .headTooLarge)] : [.dropped(.headTooLarge)]))
        #expect(script.output() == (excess == 0 ? [] : [.reset(1, code: 11)]))
    }

    /// A too large declared length is refused before the body arrives.
    @Test(arguments: [0, 1])
    func limitsDeclaredBodies(excess: Int) {
        let script = HTTP2Script { $0.bodySizeMaximum = 1000 }
        script.send(.request(1, "POST", more: [("content-length", "\(1000 + excess)")], flags: open))
        #expect(script.events() == (excess == 0 ? [] : [.refuse(1, .bodyTooLarge)]))
    }

    @Test(arguments: [0, 1])
    func limitsUndeclaredBodies(excess: Int) {
        let script = HTTP2Script { $0.bodySizeMaximum = 1000 }
        script.send(.request(1, "POST", flags: open))
        script.send(.data(1, [UInt8](repeating: 0, count: 600), flags: 0))
        script.send(.data(1, [UInt8](repeating: 0, count: 400 + excess)))
        if excess == 0 {
            #expect(script.events().map(\.dispatchedStream) == [1])
        } else {
            #expect(script.events() == [.refuse(1, .bodyTooLarge)])
        }
    }

    /// One path may have larger bodies. The limit for all other paths is unchanged.
    @Test(arguments: ["/large", "/a"], [0, 1])
    func limitsTheBodiesOfAPathOfItsOwn(path: String, excess: Int) {
        let limit = path == "/large" ? 70_000 : 1000
        let change: (inout HTTPLimits) -> Void = {
            $0.bodySizeMaximum = 1000
            $0.bodySizesByPath = ["/large": 70_000]
        }
        let declared = HTTP2Script(change)
        declared.send(.request(1, "POST", path: path, more: [("content-length", "\(limit + excess)")], flags: open))
        #expect(declared.events() == (excess == 0 ? [] : [.refuse(1, .bodyTooLarge)]))

        let undeclared = HTTP2Script(change)
        undeclared.send(.request(1, "POST", path: path, flags: open))
        var left = limit + excess
        while left > 0 {
            let size = min(left, 16_384)
            left -= size
            undeclared.send(.data(1, [UInt8](repeating: 0, count: size), flags: left == 0 ? 1 : 0))
        }
        if excess == 0 {
            #expect(undeclared.events().compactMap(\.dispatchedStream) == [1])
        } else {
            #expect(undeclared.events() == [.refuse(1, .bodyTooLarge)])
        }
    }

    @Test func refusesEvenAHugeDeclaration() {
        let script = HTTP2Script()
        script.send(.request(1, "POST", more: [("content-length", "\(64 << 20)")], flags: open))
        #expect(script.events() == [.refuse(1, .bodyTooLarge)])
        script.respond(HTTPResponse(status: .contentTooLarge), to: 1)
        #expect(script.output().map(\.type) == [1])
    }

    @Test(arguments: [0, 1])
    func limitsTrailers(excess: Int) {
        let script = HTTP2Script { $0.trailerSizeMaximum = 100 }
        script.send(.request(1, "POST", flags: open))
        script.send(.headers(1, HPACKLiterals.block([("x", String(repeating: "y", count: 67 + excess))])))
        if excess == 0 {
            #expect(script.events().map(\.dispatchedStream) == [1])
        } else {
            #expect(script.events() == [.refuse(1, .headTooLarge)])
        }
    }

    // MARK: What one connection may have

    @Test func limitsStreamsAtOnce() {
        let script = HTTP2Script { $0.http2.streamsMaximum = 3 }
        script.send(.request(1), .request(3), .request(5))
        #expect(script.events().map(\.dispatchedStream) == [1, 3, 5])
        script.respond(ok, to: 1)
        #expect(script.output().map(\.type) == [1])
        script.send(.request(7))
        #expect(script.events().contains { $0.dispatchedStream == 7 })
        script.send(.request(9))
        #expect(script.goAwayCode() == 1)
    }

    /// A client that has not acknowledged the limit may not know it yet, so it is told to try again.
    @Test func refusesStreamsGentlyBeforeTheLimitIsKnown() {
        let script = HTTP2Script(isFresh: true) { $0.http2.streamsMaximum = 2 }
        _ = script.output()
        script.send(HTTP2Frame.preface + HTTP2Frame.settings().bytes())
        script.send(.request(1), .request(3), .request(5))
        #expect(script.events().map(\.dispatchedStream) == [1, 3])
        #expect(script.output() == [.settingsAcknowledgement, .reset(5, code: 7)])
    }

    /// A reset frees the stream, but its request still counts while the handler works on it.
    @Test func limitsRequestsInFlightThoughTheirStreamsAreGone() {
        let script = HTTP2Script { $0.http2.streamsMaximum = 2 }
        script.send(.request(1), .reset(1), .request(3), .reset(3), .request(5))
        #expect(script.events().map(\.dispatchedStream) == [1, 3])
        #expect(script.output() == [.reset(5, code: 7)])
        script.respond(ok, to: 1)
        script.send(.request(7))
        #expect(script.events().map(\.dispatchedStream) == [7])
    }

    @Test(arguments: [0, 1])
    func limitsWhatBodiesMayHaveAtOnce(excess: Int) {
        let script = HTTP2Script {
            $0.bodySizeMaximum = 1000
            $0.http2.bodiesSizeMaximum = 2500
        }
        script.send(.request(1, "POST", flags: open))
        script.send(.request(3, "POST", more: [("content-length", "1000")], flags: open))
        script.send(.request(5, "POST", more: [("content-length", "\(500 + excess)")], flags: open))
        #expect(script.output() == (excess == 0 ? [] : [.reset(5, code: 7)]))
        // The memory of the taken body is free again.
        script.send(.data(1, [1]), .request(7, "POST", more: [("content-length", "1000")], flags: open))
        #expect(script.output() == [])
        #expect(script.events().map(\.dispatchedStream) == [1])
    }

    /// Successive bodies far exceed the window, and some are too large. Each time the window is given back.
    @Test func givesTheWindowBackAsBodiesAreTaken() {
        let script = HTTP2Script {
            $0.bodySizeMaximum = 10_000
            $0.http2.bodiesSizeMaximum = 70_000
        }
        var window = 70_100
        for number in 0..<100 {
            let id = UInt32(2 * number + 1)
            let size = number % 10 == 9 ? 10_001 : 10_000
            script.send(.request(id, "POST", flags: open))
            script.send(.data(id, [UInt8](repeating: 0, count: 5000), flags: 0))
            script.send(.data(id, [UInt8](repeating: 0, count: size - 5000)))
            window -= size
            #expect(window >= 0)
            #expect(script.events().count == 1)
            script.respond(ok, to: Int32(id))
            for frame in script.output() where frame.type == 8 {
                #expect(frame.streamID == 0)
                window += Int(HTTP2Frame.number(frame.payload[...]))
            }
            _ = script.events()
        }
        #expect(window > 35_000)
    }

    /// A client that sends more than the window breaks the rules.
    @Test func refusesMoreThanTheWindow() {
        let script = HTTP2Script { $0.bodySizeMaximum = 65_536 }
        script.send(.request(1, "POST", flags: open))
        for _ in 0..<4 { script.send(.data(1, [UInt8](repeating: 0, count: 16384), flags: 0)) }
        #expect(script.events() == [])
        script.send(.data(1, [0, 0], flags: 0))
        let codes = script.output().compactMap(\.errorCode)
        #expect(codes == [3])
    }

    @Test func servesSoManyRequestsOnOneConnection() {
        let script = HTTP2Script { $0.requestsPerConnectionMaximum = 3 }
        script.send(.request(1), .request(3))
        #expect(script.output() == [])
        script.send(.request(5))
        #expect(script.output().map(\.type) == [7, 6])
        #expect(script.events().map(\.dispatchedStream) == [1, 3, 5])
    }

    // MARK: Output that is not read

    /// Each refusal counts, even while nothing can be written.
    @Test func countsRefusedStreamsWhenTheyAreRefused() {
        let script = HTTP2Script(isFresh: true) {
            $0.http2.streamsMaximum = 2
            $0.http2.resetBurstMaximum = 10
            $0.http2.resetRateMaximum = 0
        }
        script.send(HTTP2Frame.preface + HTTP2Frame.settings().bytes())
        for number in 0..<12 { script.send(.request(UInt32(2 * number + 1))) }
        #expect(script.events().map(\.dispatchedStream) == [1, 3])
        script.send(.request(25))
        #expect(script.events() == [.abused(.resets)])
        #expect(script.goAwayCode() == 11)
    }

    /// A refusal that is written later is not counted again.
    @Test func countsARefusedStreamOnce() {
        let script = HTTP2Script(isFresh: true) {
            $0.http2.streamsMaximum = 1
            $0.http2.resetBurstMaximum = 10
            $0.http2.resetRateMaximum = 0
        }
        script.send(HTTP2Frame.preface + HTTP2Frame.settings().bytes())
        script.send(.request(1))
        for number in 1...10 {
            script.send(.request(UInt32(2 * number + 1)))
            #expect(script.goAwayCode() == nil)
        }
        script.send(.request(23))
        #expect(script.goAwayCode() == 11)
    }

    @Test(arguments: [0, 1])
    func endsASessionWithTooMuchToSay(excess: Int) {
        let script = HTTP2Script {
            $0.http2.controlFrameBurstMaximum = 10_000
            $0.http2.outboundFramesMaximum = 100
        }
        for _ in 0..<100 + excess { script.send(.ping()) }
        #expect(script.events() == (excess == 0 ? [] : [.abused(.outboundFrames)]))
        #expect(script.session.hasFailed == (excess == 1))
        #expect(script.output().count == (excess == 0 ? 100 : 0))
    }

    // MARK: Proxies

    /// Ten per cent of the viewers of a busy proxy may cancel, because each answer allows one reset.
    @Test func allowsResetsByAnswers() {
        let script = HTTP2Script {
            $0.http2.resetBurstMaximum = 10
            $0.http2.resetRateMaximum = 0
        }
        for number in 0..<1000 {
            let id = UInt32(2 * number + 1)
            script.send(.request(id))
            #expect(script.events().map(\.dispatchedStream) == [Int32(id)])
            if number % 2 == 1 { script.send(.reset(id)) }
            script.respond(ok, to: Int32(id))
            #expect(script.goAwayCode() == nil)
            _ = script.events()
        }
    }

    @Test func doesNotEndATrustedProxyBecauseOfResets() {
        let script = HTTP2Script(isTrustedProxy: true) { $0.http2.resetRateMaximum = 0 }
        for number in 0..<1000 {
            let id = UInt32(2 * number + 1)
            script.send(.request(id), .reset(id))
            script.respond(ok, to: Int32(id))
            #expect(script.goAwayCode() == nil)
        }
        #expect(script.events().compactMap(\.dispatchedStream).count == 1000)
    }

    // MARK: Floods

    struct Flood: CustomTestStringConvertible, Sendable {
        let name: String
        let abuse: ConnectionAbuse
        let allowed: Int
        let frames: @Sendable (Int) -> [HTTP2Frame]

        var testDescription: String { name }
    }

    static let floods: [Flood] = [
        Flood(name: "PING", abuse: .controlFrames, allowed: 30) { _ in [.ping()] },
        Flood(name: "PING acknowledgements", abuse: .controlFrames, allowed: 30) { _ in [.ping(flags: 1)] },
        Flood(name: "SETTINGS", abuse: .controlFrames, allowed: 30) { _ in [.settings([(1, 4096)])] },
        Flood(name: "empty SETTINGS", abuse: .controlFrames, allowed: 30) { _ in [.settings()] },
        Flood(name: "PRIORITY", abuse: .controlFrames, allowed: 30) { [.priority(UInt32(2 * $0 + 1))] },
        Flood(name: "WINDOW_UPDATE", abuse: .controlFrames, allowed: 30) { _ in [.windowUpdate(0, 1)] },
        Flood(name: "unknown frames", abuse: .controlFrames, allowed: 30) { _ in [HTTP2Frame(type: 77)] },
        Flood(name: "empty DATA", abuse: .controlFrames, allowed: 30) { number in
            (number == 0 ? [.request(1, "POST", flags: HTTP2Frame.endHeaders)] : []) + [.data(1, [], flags: 0)]
        },
        Flood(name: "padding", abuse: .controlFrames, allowed: 30) { number in
            (number == 0 ? [.request(1, "POST", flags: HTTP2Frame.endHeaders)] : [])
                + [.data(1, [3, 0, 0, 0], flags: HTTP2Frame.padded)]
        },
        Flood(name: "rapid reset", abuse: .resets, allowed: 10) { number in
            [.request(UInt32(2 * number + 1)), .reset(UInt32(2 * number + 1))]
        },
        Flood(name: "resets that the server is driven to", abuse: .resets, allowed: 10) { number in
            [.headers(UInt32(2 * number + 1), HPACKLiterals.block([("x", "y")]))]
        },
        Flood(name: "bodies that contradict their length", abuse: .resets, allowed: 10) { number in
            let id = UInt32(2 * number + 1)
            return [
                .request(id, "POST", more: [("content-length", "1")], flags: HTTP2Frame.endHeaders), .data(id, [1, 2]),
            ]
        },
    ]

    private func script() -> HTTP2Script {
        let script = HTTP2Script {
            // The beginning already counted two control frames.
            $0.http2.controlFrameBurstMaximum = 32
            $0.http2.controlFrameRateMaximum = 0
            $0.http2.resetBurstMaximum = 10
            $0.http2.resetRateMaximum = 0
        }
        return script
    }

    @Test(arguments: floods)
    func endsAFlood(flood: Flood) {
        let script = script()
        for number in 0..<flood.allowed {
            script.send(flood.frames(number).flatMap { $0.bytes() })
            #expect(script.goAwayCode() == nil, "after \(number + 1)")
            for id in script.events().compactMap(\.dispatchedStream) { script.respond(ok, to: id) }
        }
        script.send(flood.frames(flood.allowed).flatMap { $0.bytes() })
        #expect(script.goAwayCode() == 11)
        #expect(script.events().contains(.abused(flood.abuse)))
        #expect(script.session.isFinished)
        #expect(script.session.nextDeadline == .distantFuture)
    }

    /// A flood in one piece of input ends the connection in the middle of the piece. The rest of the piece is not
    /// processed.
    @Test func endsAFloodInTheMiddleOfItsInput() {
        let script = script()
        script.send((0..<1000).flatMap { _ in HTTP2Frame.ping().bytes() } + HTTP2Frame.request(1).bytes())
        #expect(script.events() == [.abused(.controlFrames)])
        let frames = script.output()
        #expect(frames.filter { $0.type == 6 }.count <= 30)
        #expect(frames.last?.errorCode == 11)
    }

    @Test(arguments: [0, 1])
    func limitsContinuations(excess: Int) {
        let script = HTTP2Script { $0.http2.continuationsMaximum = 4 }
        script.send(.request(1, flags: HTTP2Frame.endStream))
        for _ in 0..<3 + excess { script.send(.continuation(1, [], flags: 0)) }
        script.send(.continuation(1, []))
        if excess == 0 {
            #expect(script.events().map(\.dispatchedStream) == [1])
        } else {
            #expect(script.events() == [.abused(.continuations)])
            #expect(script.goAwayCode() == 11)
        }
    }

    @Test(arguments: [0, 1])
    func limitsTheSizeOfAHeaderBlock(excess: Int) {
        let script = HTTP2Script { $0.headSizeMaximum = 4096 }
        // Table size updates are bytes of a block that become no field.
        let fields = HTTP2Frame.request(1).payload
        let block = [UInt8](repeating: 0x20, count: 8192 + excess - fields.count) + fields
        script.send(.headers(1, block))
        if excess == 0 {
            #expect(script.goAwayCode() == nil)
        } else {
            #expect(script.events() == [.abused(.headerBlock)])
            #expect(script.goAwayCode() == 11)
        }
    }
}
