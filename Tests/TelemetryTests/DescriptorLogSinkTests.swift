import ByteCoding
import Glibc
import TestSupport
import Testing

@testable import Telemetry

@Suite struct DescriptorLogSinkTests {
    static let line = Array((String(repeating: "x", count: 99) + "\n").utf8)

    @Test(arguments: [false, true])
    func linesArriveWholeAndInOrder(isNonBlocking: Bool) throws {
        let pipe = PipeOfLines(isNonBlocking: isNonBlocking)
        let sink = try DescriptorLogSink(descriptor: pipe.writingEnd)
        let logger = Logger(level: .info, sink: sink, clock: ManualClock())
        // This is more than a pipe's buffer, so the writer has to wait for the reader.
        let count = 3000
        for index in 0..<count { logger.info("event", [.integer("index", index)]) }
        for index in 0..<count {
            let line = try #require(pipe.nextLine())
            #expect(try JSONReader.parse(Array(line.utf8)).object?["index"]?.number?.unsigned == UInt64(index))
        }
        #expect(logger.flush(timeout: .seconds(10)))
        #expect(sink.droppedLineCount == 0)
    }

    @Test(arguments: [false, true])
    func linesBeginWithTheirPriorityForTheJournalAlone(isJournal: Bool) throws {
        let pipe = PipeOfLines()
        let sink = try DescriptorLogSink(descriptor: pipe.writingEnd, style: isJournal ? .journal : .json)
        Logger(level: .info, sink: sink, clock: ManualClock()).warning("event")
        #expect(try #require(pipe.nextLine()).hasPrefix(isJournal ? "<4>{\"time\":" : "{\"time\":"))
    }

    /// The stream that the service manager has named, and no other one.
    @Test func knowsTheJournalByDeviceAndInode() throws {
        let pipe = PipeOfLines()
        var status = stat()
        #expect(unsafe fstat(pipe.writingEnd, &status) == 0)
        let named = "\(status.st_dev):\(status.st_ino)"
        #expect(JournalStream.isStandardError(["JOURNAL_STREAM": named], descriptor: pipe.writingEnd))
        for text in ["", ":", "1", "\(status.st_dev):", "\(status.st_dev):\(status.st_ino + 1)", "\(named):1", "a:b"] {
            #expect(!JournalStream.isStandardError(["JOURNAL_STREAM": text], descriptor: pipe.writingEnd), "\(text)")
        }
        #expect(!JournalStream.isStandardError([:], descriptor: pipe.writingEnd))
        #expect(!JournalStream.isStandardError(["JOURNAL_STREAM": named], descriptor: -1))
    }

    @Test func aReaderThatStandsStillHoldsUpNobody() throws {
        let pipe = PipeOfLines()
        let fillerCount = pipe.fill(with: Self.line)
        let sink = try DescriptorLogSink(
            descriptor: pipe.writingEnd, queueSizeMaximum: 4096, clock: ManualClock())
        let count: UInt64 = 5000
        for _ in 0..<count { sink.append(Self.line) }
        #expect(!sink.flush(timeout: .milliseconds(1)))

        // When the reader reads, every line has either arrived or is reported as missing.
        for _ in 0..<fillerCount { #expect(pipe.nextLine()?.count == 99) }
        var arrived: UInt64 = 0
        var reported: UInt64 = 0
        while arrived + reported < count {
            let line = try #require(pipe.nextLine())
            if line.first == "x" {
                arrived += 1
            } else {
                let object = try #require(try JSONReader.parse(Array(line.utf8)).object)
                #expect(object["event"]?.string == "log_lines_dropped")
                #expect(object["level"]?.string == "warning")
                #expect(object["time"]?.string == "2026-01-01T00:00:00.000Z")
                reported += try #require(object["count"]?.number?.unsigned)
            }
        }
        #expect(reported > 0)
        #expect(arrived + reported == count)
        #expect(sink.droppedLineCount == reported)
        #expect(sink.flush(timeout: .seconds(10)))
    }

    @Test func aBrokenPipeCostsLinesAndNotTheProcess() throws {
        let pipe = PipeOfLines()
        let sink = try DescriptorLogSink(descriptor: pipe.writingEnd)
        pipe.closeReadingEnd()
        for _ in 0..<10 { sink.append(Self.line) }
        #expect(sink.flush(timeout: .seconds(10)))
        #expect(sink.droppedLineCount == 10)
        sink.append(Self.line)
        #expect(sink.flush(timeout: .seconds(10)))
        #expect(sink.droppedLineCount == 11)
    }

    @Test func aLineThatCanNeverFitIsCounted() throws {
        let pipe = PipeOfLines()
        let sink = try DescriptorLogSink(descriptor: pipe.writingEnd, queueSizeMaximum: 150, clock: ManualClock())
        sink.append(Self.line + Self.line)
        #expect(sink.flush(timeout: .seconds(10)))
        sink.append(Self.line)
        #expect(pipe.nextLine()?.count == 99)
        #expect(pipe.nextLine()?.hasSuffix(#""event":"log_lines_dropped","count":1}"#) == true)
    }

    /// Lines that strangers cause fill the queue, but a line of the service itself still finds room.
    @Test func aPreciousLineHasRoomThatOthersCannotFill() throws {
        let queue = LogQueue(sizeMaximum: 100)
        for _ in 0..<50 { queue.append([UInt8](repeating: 97, count: 10)) }
        #expect(queue.droppedLineCount == 40)
        queue.append([UInt8](repeating: 98, count: 80), isPrecious: true)
        #expect(queue.droppedLineCount == 40)
        let batch = try #require(queue.takeBatch())
        #expect(batch.bytes.count == 180)
        #expect(batch.bytes.last == 98)
        #expect(batch.lineCount == 11)
        #expect(batch.droppedCount == 40)
    }

    @Test func linesOfManyThreadsDoNotMix() async throws {
        let pipe = PipeOfLines()
        let sink = try DescriptorLogSink(descriptor: pipe.writingEnd)
        let logger = Logger(level: .info, sink: sink, clock: ManualClock())
        let (taskCount, lineCount) = (4, 200)
        await withTaskGroup { group in
            for task in 0..<taskCount {
                group.addTask {
                    for index in 0..<lineCount {
                        logger.info("event", [.integer("task", task), .integer("index", index)])
                    }
                }
            }
        }
        var next = [Int](repeating: 0, count: taskCount)
        for _ in 0..<(taskCount * lineCount) {
            let line = try #require(pipe.nextLine())
            let object = try #require(try JSONReader.parse(Array(line.utf8)).object)
            let task = try #require(object["task"]?.number?.signed.map(Int.init))
            #expect(object["index"]?.number?.signed == Int64(next[task]))
            next[task] += 1
        }
        #expect(next == [Int](repeating: lineCount, count: taskCount))
    }

    @Test func whatWaitsIsWrittenEvenIfTheSinkGoes() throws {
        let pipe = PipeOfLines()
        do {
            let sink = try DescriptorLogSink(descriptor: pipe.writingEnd)
            sink.append(Self.line)
        }
        #expect(pipe.nextLine()?.count == 99)
    }
}
