import Glibc

extension [UInt8] {
    /// Whether these bytes occur in this order and without gaps.
    package func contains(sequence: [UInt8]) -> Bool {
        guard let first = sequence.first else { return true }
        // `memchr` looks for the first byte, because a Swift loop is slow in a debug build. Every address lies in the
        // buffer: `rest` is the number of bytes from `start` to the buffer's end.
        return unsafe withUnsafeBytes { buffer in
            guard var start = buffer.baseAddress else { return false }
            var rest = buffer.count
            while rest >= sequence.count, let hit = unsafe memchr(start, Int32(first), rest - sequence.count + 1) {
                if unsafe memcmp(hit, sequence, sequence.count) == 0 { return true }
                unsafe rest -= UnsafeRawPointer(hit) - start + 1
                unsafe start = UnsafeRawPointer(hit) + 1
            }
            return false
        }
    }
}
