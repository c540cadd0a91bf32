import Glibc

/// Assembles whole messages from the bytes of a stream. Its memory has a fixed size, and is wiped when a message was
/// read.
struct LadderFrameAssembler {
    /// The received bytes. Decoders read them in place, by the range of a body.
    private(set) var bytes: [UInt8]
    private let kinds: [LadderFrameKind]
    /// The bytes before this position are zero.
    private var wiped = 0
    /// The bytes before this position belong to messages that were taken.
    private var start = 0
    /// The memory from this position on is free.
    private var end = 0

    /// The most messages that are in a stream in one direction.
    static let frameCountUsual = 16

    /// Makes an assembler that accepts only these kinds, with room for `frameCount` of the largest messages.
    init(accepting kinds: [LadderFrameKind], frameCount: Int = Self.frameCountUsual) {
        self.kinds = kinds
        let bodySizeMaximum = kinds.map(\.bodySizes.upperBound).max() ?? 0
        bytes = [UInt8](repeating: 0, count: (LadderFrameHead.size + bodySizeMaximum) * frameCount)
    }

    /// Whether there are no bytes, not even a part of a message.
    var isEmpty: Bool { start == end }

    /// The range in `bytes` of received messages that were not taken.
    var held: Range<Int> { start..<end }

    /// Whether there is a whole message, or bytes that are not a message.
    var hasWhole: Bool {
        guard end - start >= LadderFrameHead.size else { return false }
        do throws(LadderFrameError) {
            let head = try LadderFrameHead(parsing: bytes, at: start, accepting: kinds)
            return end - start >= LadderFrameHead.size + head.bodySize
        } catch {
            return true
        }
    }

    /// Lets `read` write into the free memory from an offset on. `read` returns the number of bytes that it has
    /// written.
    ///
    /// There is room if all whole messages were taken with `next` and wiped with `wipeTaken`.
    mutating func fill<Outcome>(_ read: (inout [UInt8], Int) -> (Outcome, count: Int)) -> Outcome {
        if end == bytes.count { moveToFront() }
        let (outcome, count) = read(&bytes, end)
        precondition(count >= 0 && count <= bytes.count - end, "more was read than there is room for")
        end += count
        return outcome
    }

    /// Takes the next whole message; nil if it is not complete yet.
    ///
    /// Returns its head, and the range of its body in `bytes`, which is valid until `wipeTaken`.
    mutating func next() throws(LadderFrameError) -> (head: LadderFrameHead, body: Range<Int>)? {
        guard end - start >= LadderFrameHead.size else { return nil }
        let head = try LadderFrameHead(parsing: bytes, at: start, accepting: kinds)
        let body = start + LadderFrameHead.size..<start + LadderFrameHead.size + head.bodySize
        guard body.upperBound <= end else { return nil }
        start = body.upperBound
        return (head, body)
    }

    /// Wipes the messages that were taken.
    mutating func wipeTaken() {
        bytes.wipe(wiped..<start)
        wiped = start
        if isEmpty { (wiped, start, end) = (0, 0, 0) }
    }

    /// Wipes everything.
    mutating func wipe() {
        bytes.wipe(wiped..<end)
        (wiped, start, end) = (0, 0, 0)
    }

    /// Moves the beginning of an incomplete message to the front, to make room after it.
    private mutating func moveToFront() {
        wipeTaken()
        let rest = end - start
        for offset in 0..<rest { bytes[offset] = bytes[start + offset] }
        bytes.wipe(rest..<end)
        (wiped, start, end) = (0, 0, rest)
    }
}

extension [UInt8] {
    /// Overwrites a part with zeros. The compiler cannot optimise this away. The array must have no other owner,
    /// otherwise only a copy is wiped.
    mutating func wipe(_ range: Range<Int>) {
        // Safe: the slice checks the range, and the memory is borrowed for the call.
        unsafe withUnsafeMutableBytes { bytes in
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[range])
            if let start = part.baseAddress { unsafe explicit_bzero(start, part.count) }
        }
    }
}
