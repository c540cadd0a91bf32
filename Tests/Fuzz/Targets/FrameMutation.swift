import TestSupport

@testable import LadderWorkers

/// Changes of a stream of messages between a daemon and a worker that leave it one: messages come, go, move, and change
/// their bodies.
enum FrameMutation {
    static func mutate(_ stream: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var frames = split(stream)
        guard let index = frames.indices.randomElement(using: &generator),
            Int.random(in: 0..<8, using: &generator) > 0
        else { return ByteMutation.mutate(stream, using: &generator) }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: frames.remove(at: index)
        case 1: frames.insert(frames[index], at: frames.indices.randomElement(using: &generator) ?? 0)
        case 2: frames.swapAt(index, Int.random(in: frames.indices, using: &generator))
        case 3: frames[index] = resized(ByteMutation.mutate(frames[index], using: &generator))
        default: frames[index] = changed(frames[index], using: &generator)
        }
        return frames.flatMap { $0 }
    }

    /// The messages by the sizes in their heads; what is left over comes last.
    private static func split(_ stream: [UInt8]) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var rest = stream[...]
        while rest.count >= LadderFrameHead.size {
            let size = rest.dropFirst(4).prefix(4).reduce(0) { $0 << 8 | Int($1) }
            frames.append(Array(rest.prefix(LadderFrameHead.size + size)))
            rest = rest.dropFirst(LadderFrameHead.size + size)
        }
        return rest.isEmpty ? frames : frames + [Array(rest)]
    }

    /// The head says how long the message is.
    private static func resized(_ frame: [UInt8]) -> [UInt8] {
        guard frame.count >= LadderFrameHead.size else { return frame }
        var frame = frame
        frame.replaceSubrange(4..<8, with: bigEndianBytes(UInt32(frame.count - LadderFrameHead.size)))
        return frame
    }

    /// A body of the same size with one other byte or word.
    private static func changed(_ frame: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        guard frame.count > LadderFrameHead.size else { return frame }
        var frame = frame
        let index = Int.random(in: LadderFrameHead.size..<frame.count, using: &generator)
        let count = Bool.random(using: &generator) ? 1 : min(4, frame.count - index)
        frame.replaceSubrange(index..<index + count, with: generator.bytes(count: count))
        return frame
    }
}
