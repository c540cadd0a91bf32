import FairPlay
import Glibc
import POSIXSockets

/// The worker's side of the stream: waits for whole messages, sends whole messages, and leaves no secret behind in either buffer.
struct WorkerLine: ~Copyable {
    private let stream: InheritedStream
    private var assembler = LadderFrameAssembler(accepting: [.start], frameCount: 1)
    private var output = LadderMessage(capacity: LadderFrameHead.size + LadderAnswer.encodedSizes.upperBound)

    init(_ stream: consuming InheritedStream) {
        self.stream = stream
    }

    /// The first message; after it, calls are expected.
    mutating func readStart() throws(WorkerExit) -> LadderStart {
        let (_, body) = try next()
        defer { assembler = LadderFrameAssembler(accepting: [.call]) }
        let start: LadderStart
        do throws(LadderFrameError) {
            start = try LadderStart(parsing: assembler.bytes, in: body)
        } catch {
            try send(LadderModuleFault.startUnreadable.message())
            throw .moduleNotOpened
        }
        assembler.wipe()
        return start
    }

    mutating func nextCall() throws(WorkerExit) -> (number: UInt64, call: LadderCall) {
        let (head, body) = try next()
        let call: LadderCall
        do throws(LadderFrameError) {
            call = try LadderCall(parsing: assembler.bytes, in: body)
        } catch {
            throw .streamBroken
        }
        assembler.wipeTaken()
        return (head.number, call)
    }

    /// Sends a message without secrets.
    borrowing func send(_ message: consuming LadderMessage) throws(WorkerExit) {
        guard message.send({ bytes in (stream.writeAll(bytes), bytes.count) }) else { throw .streamBroken }
    }

    mutating func send(_ answer: LadderAnswer, number: UInt64) throws(WorkerExit) {
        do throws(LadderFrameError) {
            try answer.write(number: number, to: &output)
        } catch {
            // Its sizes were checked as the module gave it.
            throw .streamBroken
        }
        guard output.send({ bytes in (stream.writeAll(bytes), bytes.count) }) else { throw .streamBroken }
    }

    private mutating func next() throws(WorkerExit) -> (LadderFrameHead, body: Range<Int>) {
        while true {
            do throws(LadderFrameError) {
                if let frame = try assembler.next() { return frame }
            } catch {
                throw .streamBroken
            }
            try fill()
        }
    }

    private mutating func fill() throws(WorkerExit) {
        let outcome = assembler.fill { bytes, offset in
            let outcome = stream.read(into: &bytes, from: offset)
            guard case .bytes(let count) = outcome else { return (outcome, 0) }
            return (outcome, count)
        }
        switch outcome {
        case .bytes: return
        // A reset is an end too: the pool had not read everything when it closed its side.
        case .endOfInput, .failed(errno: ECONNRESET): throw .streamEnded
        case .wouldBlock, .failed: throw .streamBroken
        }
    }
}
