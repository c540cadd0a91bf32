import FairPlay
import Glibc
import POSIXSockets
import Telemetry

/// The worker's end of the stream. It receives and sends whole messages, and leaves no secret in its buffers.
///
/// Answers to short calls are sent together while more calls wait, but the first answer waits for at most `patience`.
/// An answer that is sent alone wakes the daemon, which costs more than the rest of a short call. Before a call begins,
/// its number is written to the shared word, so that the pool knows which call is lost if this process dies.
struct WorkerLine: ~Copyable {
    private static let patience: Duration = .microseconds(500)

    private let stream: InheritedStream
    private let begunCall: SharedWord
    private var assembler = LadderFrameAssembler(accepting: [.start, .libraryStart], frameCount: 1)
    private var output = LadderMessage(capacity: 0)
    private var answerSizeMaximum = 0
    /// When the first waiting answer was ready; nil if none waits.
    private var waitingSince: MonotonicTime?
    /// The time for a call, as a moving average.
    private var usualTime: Duration = .zero
    private let clock = SystemMonotonicClock()

    init(_ stream: consuming InheritedStream, _ begunCall: consuming SharedWord) {
        self.stream = stream
        self.begunCall = begunCall
    }

    /// Whether the pool's process is still the parent of this process.
    var isOfParent: Bool { stream.isOfParent() }

    /// Reads the first message. After it, only calls of its kind are accepted.
    mutating func readStart() throws(WorkerExit) -> WorkerStart {
        let (head, body) = try next()
        let start: WorkerStart
        do throws(LadderFrameError) {
            start = try WorkerStart(head.kind, parsing: assembler.bytes, in: body)
        } catch {
            try send(LadderModuleFault.startUnreadable.message())
            throw .moduleNotOpened
        }
        assembler.wipe()
        assembler = LadderFrameAssembler(accepting: [start.callKind])
        answerSizeMaximum = LadderFrameHead.size + start.answerKind.bodySizes.upperBound
        output = LadderMessage(capacity: answerSizeMaximum * LadderFrameAssembler.frameCountUsual)
        return start
    }

    /// Waits for a call, and answers it.
    mutating func answerCall(with ladder: borrowing some LoadedLadder & ~Copyable) throws(WorkerExit) {
        let (number, call) = try nextCall()
        begunCall.value = number
        let start = clock.monotonicTime
        try write(ladder.answer(call), number: number)
        let end = clock.monotonicTime
        try sendInTime(now: end, lastCall: end - start)
    }

    private mutating func nextCall() throws(WorkerExit) -> (number: UInt64, call: WorkerCall) {
        let (head, body) = try next()
        let call: WorkerCall
        do throws(LadderFrameError) {
            call =
                head.kind == .order
                ? .library(try LibraryOrder(parsing: assembler.bytes, in: body))
                : .module(try LadderCall(parsing: assembler.bytes, in: body))
        } catch {
            throw .streamBroken
        }
        assembler.wipeTaken()
        return (head.number, call)
    }

    /// Sends a message immediately.
    borrowing func send(_ message: consuming LadderMessage) throws(WorkerExit) {
        guard message.send({ bytes in (stream.writeAll(bytes), bytes.count) }) else { throw .streamBroken }
    }

    private mutating func write(
        _ outcome: Result<WorkerAnswer, LadderCallFailure>, number: UInt64
    ) throws(WorkerExit) {
        switch outcome {
        case .failure(let failure): failure.write(number: number, to: &output)
        case .success(let answer):
            do throws(LadderFrameError) {
                try answer.write(number: number, to: &output)
            } catch {
                // This cannot happen, because the sizes were checked when the module answered.
                throw .streamBroken
            }
        }
    }

    /// Sends the waiting answers, unless another one will be ready before the first one has waited too long.
    private mutating func sendInTime(now: MonotonicTime, lastCall: Duration) throws(WorkerExit) {
        usualTime += (lastCall - usualTime) / 8
        let since = waitingSince ?? now
        waitingSince = since
        let isNextInTime = now + max(usualTime, lastCall) <= since + Self.patience
        if isNextInTime, assembler.hasWhole, output.room >= answerSizeMaximum { return }
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
        // A reset is an end too: the pool closed its end before it had read everything.
        case .endOfInput, .failed(errno: ECONNRESET): throw .streamEnded
        case .wouldBlock, .failed: throw .streamBroken
        }
    }
}

/// The first message to a worker.
enum WorkerStart: Sendable {
    case module(LadderStart)
    case library(LibraryStart)

    init(_ kind: LadderFrameKind, parsing bytes: [UInt8], in body: Range<Int>) throws(LadderFrameError) {
        switch kind {
        case .start: self = .module(try LadderStart(parsing: bytes, in: body))
        case .libraryStart: self = .library(try LibraryStart(parsing: bytes, in: body))
        default: throw .unexpectedKind(kind.rawValue)
        }
    }

    var callKind: LadderFrameKind {
        switch self {
        case .module: .call
        case .library: .order
        }
    }

    var answerKind: LadderFrameKind {
        switch self {
        case .module: .answer
        case .library: .written
        }
    }
}
