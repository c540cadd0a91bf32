import TestSupport

/// Changes of bytes without regard to their meaning.
enum ByteMutation {
    /// Bytes and words that often cause faults.
    private static let oddBytes: [UInt8] = [0, 1, 15, 16, 17, 0x7F, 0x80, 0xFF]
    private static let oddWords: [UInt32] = [
        0, 1, 15, 16, 17, 0x7FFF_FFF0, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFF0, 0xFFFF_FFFF,
    ]

    /// Makes one to four changes.
    static func mutate(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var bytes = input
        for _ in 0..<Int.random(in: 1...4, using: &generator) { change(&bytes, using: &generator) }
        return bytes
    }

    private static func change(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
        guard let index = bytes.indices.randomElement(using: &generator) else {
            bytes = generator.bytes(count: Int.random(in: 1...64, using: &generator))
            return
        }
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
        case 2: bytes[index] = oddBytes.randomElement(using: &generator) ?? 0
        case 3: overwriteWord(of: &bytes, at: index, using: &generator)
        case 4: bytes.removeSubrange(range(from: index, in: bytes, using: &generator))
        case 5: bytes.insert(contentsOf: bytes[range(from: index, in: bytes, using: &generator)], at: index)
        default:
            let count = Int.random(in: 1...32, using: &generator)
            bytes.insert(contentsOf: generator.bytes(count: count), at: index)
        }
    }

    private static func overwriteWord(
        of bytes: inout [UInt8], at index: Int, using generator: inout SeededGenerator
    ) {
        guard index + 4 <= bytes.count, let word = oddWords.randomElement(using: &generator) else { return }
        bytes.replaceSubrange(index..<index + 4, with: bigEndianBytes(word))
    }

    private static func range(
        from start: Int, in bytes: [UInt8], using generator: inout SeededGenerator
    ) -> Range<Int> {
        let longest = min(64, bytes.count - start)
        return start..<start + Int.random(in: 1...longest, using: &generator)
    }
}
