import HTTPMessages
import Telemetry
import TestSupport

@testable import HTTPServing

/// An HTTP/2 session. The input is two bytes of plan, then the client's bytes after its preface and SETTINGS.
///
///     offset  size  field
///          0     1  the size of the pieces in which the bytes arrive, less 1; there are at most about a hundred
///          1     1  bit 0: whether the output is taken only at the end; bit 1: whether requests are answered only at
///                   the end
///
/// The session never holds more streams, requests or frames than its limits allow. It sends only whole frames. A
/// request is dispatched once, and never after the end.
struct HTTP2SessionTarget: FuzzTarget {
    private static let planSize = 2
    private static let date = Array("Sun, 06 Nov 1994 08:49:37 GMT".utf8)
    private let limits: HTTPLimits

    init() {
        var limits = HTTPLimits()
        (limits.headSizeMaximum, limits.fieldCountMaximum, limits.bodySizeMaximum) = (1024, 20, 1024)
        (limits.http2.streamsMaximum, limits.http2.outboundFramesMaximum) = (8, 64)
        self.limits = limits
    }

    func check(_ input: [UInt8]) throws -> Verdict {
        guard input.count >= Self.planSize else { return .refused }
        let start = HTTP2Frame.preface + HTTP2Frame.settings().bytes() + HTTP2Frame.settingsAcknowledgement.bytes()
        let bytes = start + input.dropFirst(Self.planSize)
        var run = Run(limits: limits, plan: input[1])
        let pieceSize = max(Int(input[0]) + 1, bytes.count / 100)
        for offset in stride(from: 0, to: bytes.count, by: pieceSize) {
            try run.receive(Array(bytes[offset..<min(offset + pieceSize, bytes.count)]))
        }
        try run.finish()
        return run.isHealthy && !run.dispatched.isEmpty ? .accepted : .refused
    }

    private struct Run {
        private let limits: HTTPLimits
        private let session: HTTP2Session
        private let now = MonotonicTime(nanoseconds: 1_000_000_000)
        private let (takesOutputLate, answersLate): (Bool, Bool)
        private(set) var dispatched: Set<Int32> = []
        private var waiting: [Int32] = []
        private var output: [UInt8] = []

        init(limits: HTTPLimits, plan: UInt8) {
            self.limits = limits
            session = HTTP2Session(limits: limits, now: now)
            (takesOutputLate, answersLate) = (plan & 1 != 0, plan & 2 != 0)
        }

        var isHealthy: Bool { !session.hasFailed && session.endReason == .none }

        mutating func receive(_ bytes: [UInt8]) throws {
            let hadEnded = session.endReason != .none
            var start = 0
            repeat {
                // The bytes may need several turns.
                start += session.receive(bytes.span.extracting(start..<bytes.count), now: now)
                try takeEvents(hadEnded: hadEnded)
            } while start < bytes.count
            if !answersLate { try answer() }
            if !takesOutputLate { takeOutput() }
            try require(session.streams.count <= limits.http2.streamsMaximum, "streams are within their limit")
            try require(session.inFlightCount <= 2 * limits.http2.streamsMaximum, "requests are within their limit")
        }

        mutating func finish() throws {
            try answer()
            takeOutput()
            let frames = HTTP2Frame.parse(output)
            try require(frames.reduce(0) { $0 + 9 + $1.payload.count } == output.count, "output is whole frames")
            try require(session.reservedSize >= 0, "no more memory is returned than was reserved")
        }

        private mutating func takeEvents(hadEnded: Bool) throws {
            for event in session.takeEvents() {
                switch event {
                case .dispatch(let id, let message):
                    try require(!hadEnded, "nothing is dispatched after the end")
                    try require(dispatched.insert(id).inserted, "a stream has one request")
                    try require(message.body.count <= limits.bodySizeMaximum, "a body is within its limit")
                    waiting.append(id)
                case .refuse(let id, _): waiting.append(id)
                case .decideBody(let id, _): decide(id)
                case .dropped, .abused, .finished: break
                }
            }
        }

        /// Makes every decision, depending on the number of the stream.
        private func decide(_ id: Int32) {
            let decision: HTTPBodyDecision =
                switch id % 6 {
                case 1: .keep
                case 3: .drop
                default: .refuse(HTTPResponse(status: .unauthorized, body: [4]))
                }
            session.decided(decision, about: id, date: HTTP2SessionTarget.date, now: now)
        }

        private mutating func answer() throws {
            for id in waiting {
                session.respond(
                    HTTPResponse(status: .ok, body: [1, 2, 3]), to: id, date: HTTP2SessionTarget.date, now: now)
            }
            waiting = []
            try takeEvents(hadEnded: false)
        }

        private mutating func takeOutput() {
            session.write(to: &output, sizeMaximum: output.count + 1 << 20, now: now)
        }
    }

    // MARK: - Inputs

    func seeds() throws -> [[UInt8]] {
        let fields = [(":method", "POST"), (":scheme", "http"), (":authority", "h"), (":path", "/a")]
        let get = HPACKLiterals.block([(":method", "GET")] + fields.dropFirst())
        let post = HPACKLiterals.block(fields + [("content-length", "3")])
        let sequences: [[HTTP2Frame]] = [
            [.headers(1, get), .headers(3, get), .ping()],
            [.headers(1, post, flags: HTTP2Frame.endHeaders), .data(1, [1, 2, 3]), .windowUpdate(0, 100)],
            [
                .headers(1, Array(get.prefix(4)), flags: HTTP2Frame.endStream),
                .continuation(1, Array(get.dropFirst(4))),
            ],
            [.headers(1, get), .reset(1), .headers(3, get), .settings([(4, 1000)]), .priority(5)],
            [
                .headers(1, HPACKLiterals.block(fields), flags: HTTP2Frame.endHeaders), .data(1, [1], flags: 0),
                .headers(1, HPACKLiterals.block([("x", "y")])),
            ],
        ]
        return sequences.flatMap { frames in
            [[0xFF, 0], [3, 3]].map { $0 + frames.flatMap { $0.bytes() } }
        }
    }

    /// Changes the frames, and sometimes the plan.
    func mutate(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        guard input.count > Self.planSize else { return ByteMutation.mutate(input, using: &generator) }
        var plan = Array(input.prefix(Self.planSize))
        if Int.random(in: 0..<8, using: &generator) == 0 {
            plan[Int.random(in: plan.indices, using: &generator)] = UInt8.random(in: .min ... .max, using: &generator)
        }
        var frames = HTTP2Frame.parse(Array(input.dropFirst(Self.planSize)))
        guard let index = frames.indices.randomElement(using: &generator), Int.random(in: 0..<8, using: &generator) > 0
        else { return plan + ByteMutation.mutate(Array(input.dropFirst(Self.planSize)), using: &generator) }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: frames.insert(frames[index], at: Int.random(in: 0...frames.count, using: &generator))
        case 1: frames.remove(at: index)
        case 2: frames[index].flags ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 3: frames[index].streamID = UInt32.random(in: 0..<12, using: &generator)
        case 4: frames[index].type = UInt8.random(in: 0..<11, using: &generator)
        default: frames[index].payload = ByteMutation.mutate(frames[index].payload, using: &generator)
        }
        return plan + frames.flatMap { $0.bytes() }
    }
}
