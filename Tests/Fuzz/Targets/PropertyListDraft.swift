import ByteCoding
import TestSupport

/// Property lists for the fuzzer that are nearly valid. Mutations of bytes rarely make such lists.
enum PropertyListDraft {
    /// Lists that look small but expand when they are read: one text many times, a level that a reader does not see,
    /// another encoding.
    static let samples: [[UInt8]] = [
        binary([[0xD1, 1, 2], [0x51, 0x4B], [0xA3, 3, 3, 4], [0x44, 1, 2, 3, 4], [0x62, 0, 0x41, 0, 0x42]]),
        binary([[0xA1, 0]]),
        binary([[0xAF, 0x10, 0x20] + [UInt8](repeating: 1, count: 32), [0x5F, 0x10, 0x20] + [UInt8](0x41...0x60)]),
        Array(#"<?xml version="1.0" encoding="UTF-8"?><plist><dict><key>a</key><true/></dict></plist>"#.utf8),
        Array("<?xml >\(String(repeating: "</a>", count: 20))?>\(nested(20))".utf8),
        Array(#"<?xml version="1.0" encoding="UTF-7"?>\#(utf7(nested(20)))"#.utf8),
    ]

    /// A random list of up to twelve objects, usually complete. Its containers may refer to any of the objects.
    static func random(using generator: inout SeededGenerator) -> [UInt8] {
        let count = UInt8.random(in: 1...12, using: &generator)
        return binary((0..<count).map { _ in object(of: count, using: &generator) })
    }

    private static func object(of count: UInt8, using generator: inout SeededGenerator) -> [UInt8] {
        let size = UInt8.random(in: 0...6, using: &generator)
        func references(_ number: UInt8) -> [UInt8] {
            (0..<number).map { _ in UInt8.random(in: 0..<count, using: &generator) }
        }
        switch Int.random(in: 0..<9, using: &generator) {
        case 0: return [[0x00, 0x08, 0x09, 0x0F].randomElement(using: &generator) ?? 0]
        case 1:
            let power = UInt8.random(in: 0...4, using: &generator)
            return [0x10 | power] + generator.bytes(count: 1 << Int(power))
        case 2: return [0x23] + generator.bytes(count: 8)
        case 3: return [0x33] + generator.bytes(count: 8)
        case 4: return [0x40 | size] + generator.bytes(count: Int(size))
        case 5: return [0x60 | size] + generator.bytes(count: 2 * Int(size))
        case 6: return [0xA0 | size] + references(size)
        case 7: return [0xD0 | size] + references(2 * size)
        default: return [0x50 | size] + [UInt8](repeating: 0x41, count: Int(size))
        }
    }

    private static func binary(_ objects: [[UInt8]]) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
            bytes += object
        }
        let table = UInt64(bytes.count)
        var trailer = ByteWriter(capacity: 32)
        trailer.write([0, 0, 0, 0, 0, 0, 2, 1])
        for number in [UInt64(objects.count), 0, table] { trailer.write(number) }
        return bytes + offsets + trailer.bytes
    }

    private static func nested(_ depth: Int) -> String {
        String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)
    }

    private static func utf7(_ text: String) -> String {
        let units = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        return "+" + Base64.encode(units).replacing("=", with: "") + "-"
    }
}
