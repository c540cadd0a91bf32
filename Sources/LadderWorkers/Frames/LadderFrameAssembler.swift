import Glibc

/// Turns what comes out of a stream into whole messages, in memory of a fixed size that is wiped as soon as a message
/// has been read.
struct LadderFrameAssembler {
    /// What has come; decoders read it in place, by the range of a body.
    private(set) var bytes: [UInt8]
    private let kinds: [LadderFrameKind]
    /// What lies before `wiped` is zero, what lies before `start` has been taken, and what lies from `end` on is free.
    private var wiped = 0
    private var start = 0
    private var end = 0

    /// As many as may lie in a stream in one direction.
    static let frameCountUsual = 16

    /// Takes messages of these kinds alone, with room for `frameCount` of the largest one.
    init(accepting kinds: [LadderFrameKind], frameCount: Int = Self.frameCountUsual) {
        self.kinds = kinds
        let bodySizeMaximum = kinds.map(\.bodySizes.upperBound).max() ?? 0
        bytes = [UInt8](repeating: 0, count: (LadderFrameHead.size + bodySizeMaximum) * frameCount)
    }

    /// Whether nothing is there, not even a part of a message.
    var isEmpty: Bool { start == end }

    /// Where in `bytes` that lies which has come and was not taken.
    var held: Range<Int> { start..<end }

    /// Whether a whole message is there, or bytes that are not a message.
    var hasWhole: Bool {
        guard end - start >= LadderFrameHead.size else { return false }
        do throws(LadderFrameError) {
            let head = try LadderFrameHead(parsing: bytes, at: start, accepting: kinds)
            return end - start >= LadderFrameHead.size + head.bodySize
        } catch {
            return true
        }
    }

    /// Lets `read` fill the free memory from an offset on, and counts what it says to have written there.
    ///
    /// There is room whenever all whole messages have been taken with `next` and wiped with `wipeTaken`.
    mutating func fill<Outcome>(_ read: (inout [UInt8], Int) -> (Outcome, count: Int)) -> Outcome {
        if end == bytes.count { moveToFront() }
        let (outcome, count) = read(&bytes, end)
        precondition(count >= 0 && count <= bytes.count - end, "more was read than there is room for")
        end += count
        return outcome
    }

    /// The next whole message: its head, and where its body lies in `bytes` until `wipeTaken`. Nil when more must come
    /// first.
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

    /// Makes room behind the beginning of a message whose rest has not come yet.
    private mutating func moveToFront() {
        wipeTaken()
        let rest = end - start
        for offset in 0..<rest { bytes[offset] = bytes[start + offset] }
        bytes.wipe(rest..<end)
        (wiped, start, end) = (0, 0, rest)
    }
}

extension [UInt8] {
    /// Overwrites a part with zeros, which the compiler does not leave out. The array must have no other owner, or a
    /// copy is wiped.
    mutating func wipe(_ range: Range<Int>) {
        // Safe: the slice checks the range, and the memory is borrowed for the call.
        unsafe withUnsafeMutableBytes { bytes in
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[range])
            if let start = part.baseAddress { unsafe explicit_bzero(start, part.count) }
        }
    }
}
