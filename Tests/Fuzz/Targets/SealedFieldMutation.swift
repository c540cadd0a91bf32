import TestSupport

/// Changes of the fields of a sealed token that leave them fields: tag (1 byte), size (1 byte), value.
enum SealedFieldMutation {
    static func mutate(_ fields: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var parts = split(fields)
        guard let index = parts.indices.randomElement(using: &generator),
            Int.random(in: 0..<8, using: &generator) > 0
        else { return ByteMutation.mutate(fields, using: &generator) }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: parts.remove(at: index)
        case 1: parts.insert(parts[index], at: index)
        case 2: parts.swapAt(index, Int.random(in: parts.indices, using: &generator))
        case 3: parts[index] = field(UInt8.random(in: 0...21, using: &generator), Array(parts[index].dropFirst(2)))
        case 4: parts[index] = field(parts[index][0], number(using: &generator))
        default:
            let value = ByteMutation.mutate(Array(parts[index].dropFirst(2)), using: &generator)
            parts[index] = field(parts[index][0], value)
        }
        return parts.flatMap { $0 }
    }

    /// The fields by their sizes; what is left over is lost.
    private static func split(_ fields: [UInt8]) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        var rest = fields[...]
        while rest.count >= 2 {
            let size = 2 + Int(rest[rest.startIndex + 1])
            guard size <= rest.count else { break }
            parts.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return parts
    }

    private static func field(_ tag: UInt8, _ value: [UInt8]) -> [UInt8] {
        let value = value.prefix(255)
        return [tag, UInt8(value.count)] + value
    }

    private static func number(using generator: inout SeededGenerator) -> [UInt8] {
        let number = UInt64.random(in: .min ... .max, using: &generator) >> UInt64.random(in: 0..<64, using: &generator)
        return Array(bigEndianBytes(number).drop { $0 == 0 })
    }
}
