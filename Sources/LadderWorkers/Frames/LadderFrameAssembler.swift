import Glibc

/// Turns what comes out of a stream into whole messages, in memory of a fixed size that is wiped as soon as a message has been read.
struct LadderFrameAssembler {
    /// What has come; decoders read it in place, by the range of a body.
    private(set) var bytes: [UInt8]
    private let kinds: [LadderFrameKind]
    private var start = 0
    private var end = 0

    /// Takes messages of these kinds alone, with room for `frameCount` of the largest one.
    init(accepting kinds: [LadderFrameKind], frameCount: Int = 2) {
        self.kinds = kinds
        let bodySizeMaximum = kinds.map(\.bodySizes.upperBound).max() ?? 0
        bytes = [UInt8](repeating: 0, count: (LadderFrameHead.size + bodySizeMaximum) * frameCount)
    }

    /// Whether nothing is there, not even a part of a message.
    var isEmpty: Bool { start == end }

    /// Lets `read` fill the free memory from an offset on, and counts what it says to have written there.
    ///
    /// There is room whenever all whole messages have been taken with `next` and wiped with `wipeTaken`.
    mutating func fill<Outcome>(_ read: (inout [UInt8], Int) -> (Outcome, count: Int)) -> Outcome {
        let (outcome, count) = read(&bytes, end)
        precondition(count >= 0 && count <= bytes.count - end, "more was read than there is room for")
        end += count
        return outcome
    }

    /// The next whole message: its head, and where its body lies in `bytes` until `wipeTaken`. Nil when more must come first.
    mutating func next() throws(LadderFrameError) -> (head: LadderFrameHead, body: Range<Int>)? {
        guard end - start >= LadderFrameHead.size else { return nil }
        let head = try LadderFrameHead(parsing: bytes, at: start, accepting: kinds)
        let body = start + LadderFrameHead.size..<start + LadderFrameHead.size + head.bodySize
        guard body.upperBound <= end else { return nil }
        start = body.upperBound
        return (head, body)
    }

    /// Wipes the messages that were taken and moves the beginning of the next one to the front.
    mutating func wipeTaken() {
        guard start > 0 else { return }
        let rest = end - start
        for offset in 0..<rest { bytes[offset] = bytes[start + offset] }
        bytes.wipe(rest..<end)
        (start, end) = (0, rest)
    }

    /// Wipes everything.
    mutating func wipe() {
        bytes.wipe(0..<bytes.count)
        (start, end) = (0, 0)
    }
}

extension [UInt8] {
    /// Overwrites a part with zeros, which the compiler does not leave out. The array must have no other owner, or a copy is wiped.
    mutating func wipe(_ range: Range<Int>) {
        // Safe: the slice checks the range, and the memory is borrowed for the call.
        unsafe withUnsafeMutableBytes { bytes in
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[range])
            if let start = part.baseAddress { unsafe explicit_bzero(start, part.count) }
        }
    }
}
