import TestSupport

@testable import LadderWorkers

/// What the daemon and a worker process send one another. Input: two bytes of plan, then what comes out of the stream.
///
///     offset  size  field
///          0     1  the reader, modulo 3: a worker that starts, a worker that answers, the daemon
///          1     1  the size of the pieces in which the stream arrives, less 1; there are at most about a hundred
///
/// The same messages come out of any pieces; each is read as one value that is written as the same
/// bytes; what was read is wiped; and there is always room for the rest of a message that has begun.
struct WorkerFramingTarget: FuzzTarget {
    private static let planSize = 2

    /// Each side at each point of the exchange, as `WorkerLine` and `WorkerProcess` have it. They are used again and
    /// again, because the memory of the first one is large.
    private let readers = [
        FramedLine(LadderFrameAssembler(accepting: [.start], frameCount: 1)),
        FramedLine(LadderFrameAssembler(accepting: [.call])),
        FramedLine(LadderFrameAssembler(accepting: [.ready, .startFailure, .answer, .callFailure])),
    ]

    func check(_ input: [UInt8]) throws -> Verdict {
        let plan = Array(input.prefix(Self.planSize))
        guard plan.count == Self.planSize else { return .refused }
        let stream = Array(input.dropFirst(Self.planSize))
        let reader = readers[Int(plan[0]) % readers.count]
        let whole = try read(stream, by: reader, pieceSize: max(1, stream.count))
        let inPieces = try read(stream, by: reader, pieceSize: max(Int(plan[1]) + 1, stream.count / 100))
        try require(whole == inPieces, "the pieces in which a stream arrives decide nothing")
        return whole.error == nil && whole.messageCount > 0 ? .accepted : .refused
    }

    private func read(_ stream: [UInt8], by reader: FramedLine, pieceSize: Int) throws -> Outcome {
        try reader.begin()
        var offset = 0
        var outcome = Outcome()
        while offset < stream.count, outcome.error == nil {
            offset += try reader.receive(stream[offset...].prefix(pieceSize))
            do throws(LadderFrameError) {
                while try reader.takeMessage() { outcome.messageCount += 1 }
            } catch {
                outcome.error = error
            }
            try reader.checkTaken()
        }
        return outcome
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

    /// Changes the messages of the stream, and now and then who reads it in what pieces.
    func mutate(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        guard input.count > Self.planSize else { return ByteMutation.mutate(input, using: &generator) }
        var plan = Array(input.prefix(Self.planSize))
        let stream = Array(input.dropFirst(Self.planSize))
        if Int.random(in: 0..<16, using: &generator) == 0 {
            plan[Int.random(in: plan.indices, using: &generator)] = UInt8.random(in: .min ... .max, using: &generator)
        }
        return plan + FrameMutation.mutate(stream, using: &generator)
    }
}
