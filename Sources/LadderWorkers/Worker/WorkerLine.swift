import FairPlay
import Glibc
import POSIXSockets
import Telemetry

/// The worker's side of the stream: waits for whole messages, sends whole messages, and leaves no secret behind in
/// either buffer.
///
/// Answers to short calls are sent together, for as long as more calls lie there and the first answer has waited for
/// `patience` at most: every answer that is sent by itself wakes the daemon, which costs more than the rest of such a
/// call. Before a call is begun its number goes into the shared word, so that the pool knows which one is lost when
/// this process dies.
struct WorkerLine: ~Copyable {
    private static let patience: Duration = .microseconds(500)

    private let stream: InheritedStream
    private let begunCall: SharedWord
    private var assembler = LadderFrameAssembler(accepting: [.start], frameCount: 1)
    private var output = LadderMessage(capacity: Self.answerSizeMaximum * LadderFrameAssembler.frameCountUsual)
    private static let answerSizeMaximum = LadderFrameHead.size + LadderAnswer.encodedSizes.upperBound
    /// When the first answer that waits was ready, and how long a call takes, as a moving average.
    private var waitingSince: MonotonicTime?
    private var usualTime: Duration = .zero
    private let clock = SystemMonotonicClock()

    init(_ stream: consuming InheritedStream, _ begunCall: consuming SharedWord) {
        self.stream = stream
        self.begunCall = begunCall
    }

    /// Whether the pool's process still is this one's parent.
    var isOfParent: Bool { stream.isOfParent() }

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

    /// Waits for a call, and answers it.
    mutating func answerCall(with module: borrowing LoadedModule) throws(WorkerExit) {
        let (number, call) = try nextCall()
        begunCall.value = number
        let start = clock.monotonicTime
        try write(module.answer(call), number: number)
        let end = clock.monotonicTime
        try sendInTime(now: end, lastCall: end - start)
    }

    private mutating func nextCall() throws(WorkerExit) -> (number: UInt64, call: LadderCall) {
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

    /// Sends a message at once.
    borrowing func send(_ message: consuming LadderMessage) throws(WorkerExit) {
        guard message.send({ bytes in (stream.writeAll(bytes), bytes.count) }) else { throw .streamBroken }
    }

    private mutating func write(
        _ outcome: Result<LadderAnswer, LadderCallFailure>, number: UInt64
    ) throws(WorkerExit) {
        switch outcome {
        case .failure(let failure): failure.write(number: number, to: &output)
        case .success(let answer):
            do throws(LadderFrameError) {
                try answer.write(number: number, to: &output)
            } catch {
                // Its sizes were checked as the module gave it.
                throw .streamBroken
            }
        }
    }

    /// Sends the answers that wait, unless another one will be ready before the first has waited too long.
    private mutating func sendInTime(now: MonotonicTime, lastCall: Duration) throws(WorkerExit) {
        usualTime += (lastCall - usualTime) / 8
        let since = waitingSince ?? now
        waitingSince = since
        let isNextInTime = now + max(usualTime, lastCall) <= since + Self.patience
        if isNextInTime, assembler.hasWhole, output.room >= Self.answerSizeMaximum { return }
        waitingSince = nil
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
