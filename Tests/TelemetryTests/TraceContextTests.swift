import TestSupport
import Testing

@testable import Telemetry

@Suite struct TraceContextTests {
    private static let traceID = "0af7651916cd43dd8448eb211c80319c"
    private static let parentID = "b7ad6b7169203331"
    private static let spanID = "00f067aa0ba902b7"
    private static let valid = "00-\(traceID)-\(parentID)-01"

    private static func context(_ parent: String, state: [String] = []) -> TraceContext? {
        TraceContext(
            traceparent: Array(parent.utf8)[...], tracestate: state.map { Array($0.utf8)[...] }, spanID: spanID)
    }

    private static func fields(_ parent: String, state: [String] = []) -> [String: String]? {
        context(parent, state: state).map {
            Dictionary(uniqueKeysWithValues: $0.forwardedFields.map { ($0.name, $0.value) })
        }
    }

    @Test func continuesATraceWithASpanOfItsOwn() throws {
        let context = try #require(Self.context(Self.valid))
        #expect(context.traceID == Self.traceID && context.parentSpanID == Self.parentID)
        #expect(context.logFields.map(\.name) == ["trace_id", "parent_span_id", "span_id"])
        #expect(Self.fields(Self.valid) == ["traceparent": "00-\(Self.traceID)-\(Self.spanID)-01"])
        #expect(context == Self.context(Self.valid) && context != Self.context(Self.valid, state: ["a=1"]))
    }

    /// `sampled` and `random-trace-id` are kept. All other flags must be zero in what is sent.
    @Test(
        arguments: [("00", "00"), ("01", "01"), ("02", "02"), ("03", "03"), ("fd", "01"), ("ff", "03"), ("04", "00")]
            as [(String, String)])
    func keepsTheFlagsThatItKnows(received: String, sent: String) {
        let fields = Self.fields("00-\(Self.traceID)-\(Self.parentID)-\(received)")
        #expect(fields?["traceparent"] == "00-\(Self.traceID)-\(Self.spanID)-\(sent)")
    }

    /// A later version may have more parts. What is sent is of version 00.
    @Test(arguments: ["01", "cc", "fe"])
    func readsLaterVersions(version: String) {
        let parent = "\(version)-\(Self.traceID)-\(Self.parentID)-01"
        for more in ["", "-", "-what-the-future-will-be", "-" + String(repeating: "x", count: 8000)] {
            #expect(
                Self.fields(parent + more)?["traceparent"] == "00-\(Self.traceID)-\(Self.spanID)-01",
                "\(more.prefix(9))")
        }
        for more in ["0", ".", " ", "1-"] { #expect(Self.context(parent + more) == nil, "\(more)") }
    }

    private static let rest = String(valid.dropFirst(2))
    private static let shortID = String(traceID.dropLast())
    private static let zeros = String(repeating: "0", count: 16)
    private static let invalid: [String] = [
        "", "-", "00", "\(valid)-", "\(valid)-00", "\(valid)0", "\(valid) ", " \(valid)", "\(valid),\(valid)",
        valid.uppercased(), "0A\(rest)", "ff\(rest)", "FF\(rest)", "000\(rest)", "0\(rest)", "0x\(rest)",
        "00_\(rest.dropFirst())", "00-\(zeros)\(zeros)-\(parentID)-01", "00-\(traceID)-\(zeros)-01",
        "00-\(traceID)-\(parentID)-0g", "00-\(traceID)-\(parentID)-1", "00-\(traceID)-\(parentID)-0A",
        "00-\(traceID)-\(parentID.uppercased())-01", "00-\(traceID)\(parentID)-01", "00--\(traceID)-\(parentID)-01",
        "00-\(shortID)\u{fc}-\(parentID)-01", "00-\(shortID)\n-\(parentID)-01", "00-\(traceID)-\(parentID)-\u{0}1",
    ]

    @Test(arguments: invalid)
    func ignoresWhatIsInvalid(parent: String) {
        #expect(Self.context(parent) == nil)
        #expect(Self.context(parent, state: ["a=1"]) == nil)
    }

    @Test(arguments: 0..<valid.utf8.count)
    func ignoresEveryTruncation(length: Int) {
        #expect(Self.context(String(Self.valid.prefix(length))) == nil)
        #expect(Self.context("01" + Self.valid.dropFirst(2).prefix(max(0, length - 2))) == nil)
    }

    /// Whatever the bytes are: no trap, and what is kept has only the characters of its form.
    @Test func keepsOnlyWhatCannotForgeALine() {
        var random = SeededGenerator.announced("TraceContextTests")
        var kept = 0
        for _ in 0..<20_000 {
            var parent = Array(Self.valid.utf8)
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let index = Int.random(in: 0..<parent.count, using: &random)
                parent[index] = Bool.random(using: &random) ? .random(in: 0...255, using: &random) : UInt8(ascii: "f")
            }
            if Int.random(in: 0..<8, using: &random) == 0 {
                parent += random.bytes(count: Int.random(in: 0..<20, using: &random))
            }
            let state = random.bytes(count: Int.random(in: 0..<20, using: &random))
            guard
                let context = TraceContext(
                    traceparent: parent[...], tracestate: [state[...], Array("a=1".utf8)[...]], spanID: Self.spanID)
            else { continue }
            kept += 1
            #expect(context.traceID.wholeMatch(of: /[0-9a-f]{32}/) != nil)
            #expect(context.parentSpanID.wholeMatch(of: /[0-9a-f]{16}/) != nil)
            for field in context.forwardedFields {
                let form = field.name == "traceparent" ? /00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]/ : /[\x20-\x7e]{3,512}/
                #expect(field.value.wholeMatch(of: form) != nil, "\(field)")
            }
        }
        #expect(kept > 1000)
    }

    // MARK: tracestate

    @Test(
        arguments: [
            (["congo=t61rcWkgMzE"], "congo=t61rcWkgMzE"), (["a=1,b=2"], "a=1,b=2"), (["a=1", "b=2"], "a=1,b=2"),
            ([" a=1\t, b=2 "], "a=1,b=2"), (["a=1,,b=2,", ""], "a=1,b=2"),
            (["0tenant@vendor=x y!"], "0tenant@vendor=x y!"),
            (["a_-*/@=~"], "a_-*/@=~"), (["a= 1"], "a= 1"),
        ] as [([String], String)])
    func passesTheStateOn(received: [String], sent: String) {
        #expect(Self.fields(Self.valid, state: received)?["tracestate"] == sent)
    }

    /// The trace goes on without it.
    @Test(
        arguments: [
            [], [""], [","], [" , "], ["a"], ["=1"], ["a="], ["A=1"], ["_a=1"], ["a=1=2"], ["a b=1"], ["a=\u{fc}"],
            ["a=1\r\nX-Injected: 1"], ["a=\u{7f}"], ["a=1;b\u{0}"], ["a=1,b"], ["a=1", "b"],
        ] as [[String]])
    func dropsAStateThatIsMalformed(received: [String]) {
        let fields = Self.fields(Self.valid, state: received)
        #expect(fields?.count == 1 && fields?["traceparent"] != nil)
    }

    @Test func boundsTheState() {
        func state(_ received: String...) -> String? { Self.fields(Self.valid, state: received)?["tracestate"] }
        let key = String(repeating: "k", count: 256)
        let value = String(repeating: "v", count: 255)
        #expect(state("\(key)=\(value)")?.utf8.count == 512)
        #expect(state("\(key)=\(value)v") == nil, "513 bytes")
        #expect(state("\(key)=\(value.dropLast(4))", "a=1")?.utf8.count == 512)
        #expect(state("\(key)=\(value.dropLast(3))", "a=1") == nil, "513 bytes with the comma")
        #expect(state("\(key)k=1") == nil && state("k=\(value)v")?.utf8.count == 258 && state("k=\(value)vv") == nil)
        let members = (0..<33).map { "k\($0)=1" }
        #expect(state(members.dropLast().joined(separator: ","))?.split(separator: ",").count == 32)
        #expect(state(members.joined(separator: ",")) == nil)
        #expect(state(String(repeating: ",", count: 500) + "a=1") == "a=1")
    }
}
