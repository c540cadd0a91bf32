import ByteCoding
import TestSupport
import Testing

@testable import Telemetry

@Suite struct LoggerTests {
    let sink = MemoryLogSink()
    let clock = ManualClock(wallTime: WallTime(seconds: 1_785_242_096, nanoseconds: 7_999_999))

    func logger(_ level: LogLevel) -> Logger { Logger(level: level, sink: sink, clock: clock) }

    @Test func aLineIsOneObjectInAFixedOrder() throws {
        logger(.info).info(
            "license_refused",
            [
                .string("request_id", "r-1"), .integer("balance", -3), .unsigned("size", UInt64.max),
                .double("duration_s", 0.0125), .bool("is_renewal", false),
            ])
        #expect(
            sink.lines == [
                #"{"time":"2026-07-28T12:34:56.007Z","level":"info","event":"license_refused","request_id":"r-1","#
                    + #""balance":-3,"size":18446744073709551615,"duration_s":0.0125,"is_renewal":false}"#
            ])
        let object = try #require(try JSONReader.parse(Array(sink.lines[0].utf8)).object)
        #expect(object["size"]?.number?.unsigned == UInt64.max)
        #expect(try RFC3339.parse(object["time"]?.string ?? "").seconds == 1_785_242_096)
    }

    @Test func samplesWhatStrangersCauseForEachEvent() {
        let logger = Logger(level: .info, sink: sink, clock: clock, linesPerEvent: 3, sampleClock: clock)
        for number in 0..<10 { logger.log(.info, "refused", from: .stranger, [.integer("number", number)]) }
        logger.log(.info, "other", from: .stranger)
        for _ in 0..<10 { logger.log(.info, "reloaded") }
        for _ in 0..<10 { logger.log(.info, "license_issued", from: .client) }
        #expect(sink.lines.count { $0.contains(#""refused""#) } == 3)
        #expect(sink.lines.count { $0.contains(#""other""#) } == 1)
        #expect(sink.lines.count { $0.contains(#""reloaded""#) } == 10)
        #expect(sink.lines.count { $0.contains(#""license_issued""#) } == 10)
        #expect(logger.sampledLineCount == 7)
    }

    @Test func saysHowManyLinesOfAnEventItLeftOut() {
        let logger = Logger(level: .info, sink: sink, clock: clock, linesPerEvent: 1, sampleClock: clock)
        for _ in 0..<5 { logger.log(.info, "refused", from: .stranger, [.integer("number", 1)]) }
        clock.advance(by: .seconds(1))
        for _ in 0..<2 { logger.log(.info, "refused", from: .stranger, [.integer("number", 1)]) }
        clock.advance(by: .seconds(1))
        logger.setLinesPerEvent(2)
        for _ in 0..<2 { logger.log(.info, "refused", from: .stranger) }
        #expect(sink.lines.map { $0.contains(#""left_out":4}"#) } == [false, true, false, false])
        #expect(sink.lines.map { $0.contains(#""left_out":1}"#) } == [false, false, true, false])
        #expect(logger.sampledLineCount == 5)
    }

    @Test func countsNoLineBelowTheLevel() {
        let logger = Logger(level: .warning, sink: sink, clock: clock, linesPerEvent: 1, sampleClock: clock)
        for _ in 0..<5 { logger.log(.info, "refused", from: .stranger) }
        #expect(logger.sampledLineCount == 0)
        logger.log(.warning, "refused", from: .stranger)
        #expect(sink.lines.count == 1)
    }

    @Test(arguments: LogLevel.allCases)
    func eachLevelLetsPassItselfAndWhatIsAbove(level: LogLevel) {
        let logger = logger(level)
        for other in LogLevel.allCases { logger.log(other, "event") }
        let expected = LogLevel.allCases.filter { $0 >= level }
        #expect(sink.lines.count == expected.count)
        for (line, level) in zip(sink.lines, expected) { #expect(line.contains("\"level\":\"\(level.rawValue)\"")) }
    }

    @Test func everyLevelHasItsMethod() {
        let logger = logger(.trace)
        logger.trace("event")
        logger.debug("event")
        logger.info("event")
        logger.notice("event")
        logger.warning("event")
        logger.error("event")
        logger.critical("event")
        let levels = sink.lines.compactMap { try? JSONReader.parse(Array($0.utf8)).object?["level"]?.string }
        #expect(levels == LogLevel.allCases.map(\.rawValue))
        #expect(LogLevel.allCases.sorted() == LogLevel.allCases)
    }

    @Test func fieldsOfSilentLinesAreNotMade() {
        let logger = logger(.warning)
        logger.info("event", [.string("cost", { fatalError("made although it is not read") }())])
        #expect(sink.lines.isEmpty)
        #expect(!logger.isEnabled(.info) && logger.isEnabled(.warning))
    }

    @Test func theLevelChangesForAllWhoHoldTheLogger() {
        let logger = logger(.error)
        let holder = logger
        logger.setLevel(.debug)
        holder.debug("event")
        #expect(sink.lines.count == 1)
    }

    @Test(
        arguments: [
            ("\"quoted\\", #""\"quoted\\""#), ("two\nlines\r\n", #""two\nlines\u000d\n""#),
            ("\u{1B}[31m\0", #""\u001b[31m\u0000""#), ("\u{7F}\u{9B}", #""\u007f\u009b""#),
            ("\u{AD}\u{202E}\u{E0041}é", #""\u00ad\u202e\udb40\udc41é""#),
            ("é\u{1F511}", "\"é\u{1F511}\""),
            ("", "\"\""), ("\u{A0}", "\"\u{A0}\""),
        ])
    func noValueCanLeaveItsLine(value: String, encoded: String) throws {
        logger(.info).info("event", [.string("value", value)])
        #expect(sink.lines.count == 1)
        #expect(sink.lines[0].hasSuffix(",\"value\":\(encoded)}"))
        #expect(try JSONReader.parse(Array(sink.lines[0].utf8)).object?["value"]?.string == value)
    }

    @Test(arguments: [(2047, 2047), (2048, 2048), (2049, 2048), (100_000, 2048)])
    func longTextsAreCut(length: Int, kept: Int) throws {
        logger(.info).info("event", [.string("value", String(repeating: "x", count: length))])
        let value = try #require(try JSONReader.parse(Array(sink.lines[0].utf8)).object?["value"]?.string)
        #expect(value == String(repeating: "x", count: kept) + (length > kept ? "…" : ""))
    }

    @Test func aCutNeverSplitsAScalar() throws {
        logger(.info).info("event", [.string("value", String(repeating: "€", count: 1000))])
        let value = try #require(try JSONReader.parse(Array(sink.lines[0].utf8)).object?["value"]?.string)
        #expect(value == String(repeating: "€", count: 682) + "…")
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan])
    func whatIsNoNumberIsNull(value: Double) throws {
        logger(.info).info("event", [.double("value", value)])
        #expect(try JSONReader.parse(Array(sink.lines[0].utf8)).object?["value"]?.isNull == true)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (Int64.max, "9999-12-31T23:59:59.000Z"), (Int64.min, "0000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func everyTimeCanBePrinted(seconds: Int64, text: String) {
        clock.setWallTime(WallTime(seconds: seconds))
        logger(.info).info("event")
        #expect(sink.lines == ["{\"time\":\"\(text)\",\"level\":\"info\",\"event\":\"event\"}"])
    }

    @Test func anyTextReadsBack() throws {
        var generator = SeededGenerator.announced("log line round trip")
        for _ in 0..<300 {
            let scalars = (0..<Int.random(in: 0...40, using: &generator)).compactMap { _ in
                Unicode.Scalar(
                    UInt32.random(in: 0...0x10FFFF, using: &generator) >> UInt32.random(in: 0...14, using: &generator))
            }
            let text = String(String.UnicodeScalarView(scalars))
            let line = LogLine(time: clock.wallTime, level: .info, event: text, fields: [.string("value", text)])
            #expect(line.bytes.firstIndex(of: UInt8(ascii: "\n")) == line.bytes.count - 1)
            let object = try #require(try JSONReader.parse(line.bytes).object)
            #expect(object["value"]?.string?.utf8.elementsEqual(text.utf8) == true)
            #expect(object["event"]?.string?.utf8.elementsEqual(text.utf8) == true)
        }
    }

    /// A terminal gets words, and no character that could steer it.
    @Test func writesWordsForATerminal() {
        let line = LogLine(
            time: WallTime(seconds: 1_700_000_000, nanoseconds: 5_000_000), level: .info, event: "listening",
            fields: [
                .string("a", "127.0.0.1:80"), .string("b", "two \u{1B}[31m words"), .integer("c", 7), .string("d", ""),
            ],
            style: .terminal)
        #expect(
            String(decoding: line.bytes, as: UTF8.self)
                == "22:13:20.005Z info     listening  a=127.0.0.1:80  b=\"two \\u001b[31m words\"  c=7  d=\"\"\n")
    }

    /// The numbers of syslog, and only for a sink that journald reads.
    @Test(
        arguments: zip(
            LogLevel.allCases, [("<7>", 7), ("<7>", 7), ("<6>", 6), ("<5>", 5), ("<4>", 4), ("<3>", 3), ("<2>", 2)]))
    func marksThePriorityForTheJournal(level: LogLevel, expected: (mark: String, priority: UInt8)) throws {
        let marked = LogLine(time: clock.wallTime, level: level, event: "e", fields: [], style: .journal)
        let plain = LogLine(time: clock.wallTime, level: level, event: "e", fields: [])
        #expect(level.priority == expected.priority)
        #expect(marked.bytes == Array(expected.mark.utf8) + plain.bytes && plain.bytes.first == UInt8(ascii: "{"))
    }
}
