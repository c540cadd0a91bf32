import TestSupport

@testable import LadderWorkers

/// What the daemon and a worker process send one another. Input: two bytes of plan, then what comes out of the stream.
///
///     offset  size  field
///          0     1  the reader, modulo 3: a worker that starts, a worker that answers, the daemon
///          1     1  the size of the pieces in which the stream arrives, less 1
///
/// Whatever the pieces are, the same messages come out of them; each is read as one value that is written as the same bytes; what was
/// read is wiped; and there is always room for the rest of a message that has begun.
struct WorkerFramingTarget: FuzzTarget {
    private static let planSize = 2

    func check(_ input: [UInt8]) throws -> Verdict {
        let plan = Array(input.prefix(Self.planSize))
        guard plan.count == Self.planSize else { return .refused }
        let stream = Array(input.dropFirst(Self.planSize))
        let reader = Reader(plan[0])
        let whole = try reader.read(stream, pieceSize: max(1, stream.count))
        let inPieces = try reader.read(stream, pieceSize: Int(plan[1]) + 1)
        try require(whole == inPieces, "the pieces in which a stream arrives decide nothing")
        return whole.error == nil && whole.messageCount > 0 ? .accepted : .refused
    }

    /// One side at one point of the exchange, as `WorkerLine` and `WorkerProcess` have it.
    private struct Reader {
        let kinds: [LadderFrameKind]
        let frameCount: Int

        init(_ number: UInt8) {
            switch number % 3 {
            case 0: (kinds, frameCount) = ([.start], 1)
            case 1: (kinds, frameCount) = ([.call], 2)
            case _: (kinds, frameCount) = ([.ready, .startFailure, .answer, .callFailure], 2)
            }
        }

        func read(_ stream: [UInt8], pieceSize: Int) throws -> Outcome {
            var line = FramedLine(LadderFrameAssembler(accepting: kinds, frameCount: frameCount))
            var offset = 0
            var outcome = Outcome()
            while offset < stream.count, outcome.error == nil {
                offset += try line.receive(stream[offset...].prefix(pieceSize))
                do throws(LadderFrameError) {
                    while try line.takeMessage() { outcome.messageCount += 1 }
                } catch {
                    outcome.error = error
                }
                try line.checkTaken()
            }
            return outcome
        }
    }

    private struct Outcome: Equatable {
        var messageCount = 0
        var error: LadderFrameError?
    }

    // MARK: - Inputs

    func seeds() throws -> [[UInt8]] {
        try SeedFrames.streams().flatMap { reader, stream in
            [[reader, 0xFF] + stream, [reader, 6] + stream]
        }
    }

    /// Changes the stream, and at times brings the size in its first head in line again.
    func mutate(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        let plan = Array(input.prefix(Self.planSize))
        var stream = ByteMutation.mutate(Array(input.dropFirst(Self.planSize)), using: &generator)
        if stream.count >= LadderFrameHead.size, Int.random(in: 0..<4, using: &generator) > 0 {
            stream.replaceSubrange(4..<8, with: bigEndianBytes(UInt32(stream.count - LadderFrameHead.size)))
        }
        return plan + stream
    }
}
