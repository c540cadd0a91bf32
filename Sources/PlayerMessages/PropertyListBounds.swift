import ByteCoding

/// Checks that a property list is small and simple enough for a general parser.
///
/// The bytes of a client decide how much work such a parser does: a binary list of a kilobyte can refer to one object a
/// billion times, or to itself. So this check first visits the objects as often as a parser would, within limits. It
/// accepts only the types that session reports have: numbers, dates, data, text, arrays, and dictionaries with text as
/// keys.
package enum PropertyListBounds {
    /// How deep containers may nest.
    package static let depthMaximum = 8
    /// How many objects a parser may visit. Repeated visits count too.
    package static let visitMaximum = 4096

    /// How much text and data a parser may copy, in bytes. It copies them at each visit. The limit is the size of the
    /// largest body, because the dictionaries of a report share their keys.
    package static let copiedSizeMaximum = 64 * 1024

    package static func accepts(_ bytes: [UInt8]) -> Bool {
        guard bytes.starts(with: "bplist00".utf8) else { return XMLPropertyListScan(bytes[...]).isWithinBounds }
        var walk = BinaryPropertyListWalk(bytes)
        return walk?.isWithinBounds() ?? false
    }
}

/// Visits the objects of a binary property list: a header, objects, a table of their offsets, and a trailer of 32
/// bytes.
private struct BinaryPropertyListWalk {
    private static let headerSize = 8
    private static let trailerSize = 32

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let top: Int
    private let tableStart: Int
    private var visitCount = 0
    /// The size of the text and data visited so far, in bytes.
    private var copiedSize = 0

    /// Returns nil if the trailer does not fit the bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count > Self.headerSize + Self.trailerSize else { return nil }
        let trailer = bytes.count - Self.trailerSize
        self.bytes = bytes
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        let numbers = [8, 16, 24].map { Self.number(in: bytes, at: trailer + $0, size: 8) }
        // In a valid list, none of these numbers is larger than the size of the list.
        guard (1...4).contains(offsetSize), (1...4).contains(referenceSize),
            numbers.allSatisfy({ $0 <= UInt64(bytes.count) })
        else { return nil }
        (objectCount, top, tableStart) = (Int(numbers[0]), Int(numbers[1]), Int(numbers[2]))
        guard objectCount > 0, top < objectCount, tableStart > Self.headerSize,
            tableStart + objectCount * offsetSize <= trailer
        else { return nil }
    }

    mutating func isWithinBounds() -> Bool { visit(top, depth: 0, asKey: false) }

    private mutating func visit(_ object: Int, depth: Int, asKey: Bool) -> Bool {
        visitCount += 1
        guard visitCount <= PropertyListBounds.visitMaximum, depth <= PropertyListBounds.depthMaximum,
            object < objectCount
        else { return false }
        let place = Int(Self.number(in: bytes, at: tableStart + object * offsetSize, size: offsetSize))
        guard place >= Self.headerSize, place < tableStart else { return false }
        let kind = bytes[place] >> 4
        let low = Int(bytes[place] & 0xF)
        guard !asKey || kind == 0x5 || kind == 0x6 else { return false }
        switch kind {
        case 0x0: return low == 0x8 || low == 0x9
        case 0x1: return low <= 3 && fits(place + 1, 1 << low)
        case 0x2: return (low == 2 || low == 3) && fits(place + 1, 1 << low)
        case 0x3: return low == 3 && fits(place + 1, 8)
        case 0x4, 0x5, 0x6:
            guard let (count, start) = length(at: place, low) else { return false }
            let size = kind == 0x6 ? 2 * count : count
            copiedSize += size
            return fits(start, size) && copiedSize <= PropertyListBounds.copiedSizeMaximum
        case 0xA:
            guard let (count, start) = length(at: place, low), fits(start, count * referenceSize) else { return false }
            return visit(count, from: start, depth: depth, asKeys: false)
        case 0xD:
            guard let (count, start) = length(at: place, low), fits(start, 2 * count * referenceSize) else {
                return false
            }
            return visit(count, from: start, depth: depth, asKeys: true)
                && visit(count, from: start + count * referenceSize, depth: depth, asKeys: false)
        default: return false
        }
    }

    private mutating func visit(_ count: Int, from start: Int, depth: Int, asKeys: Bool) -> Bool {
        for index in 0..<count {
            let object = Self.number(in: bytes, at: start + index * referenceSize, size: referenceSize)
            guard visit(Int(object), depth: depth + 1, asKey: asKeys) else { return false }
        }
        return true
    }

    /// The number of elements, and where they begin. A number from 15 on is written as an integer of its own.
    private func length(at place: Int, _ low: Int) -> (count: Int, start: Int)? {
        guard low == 0xF else { return (low, place + 1) }
        guard fits(place + 1, 1), bytes[place + 1] >> 4 == 0x1 else { return nil }
        let power = Int(bytes[place + 1] & 0xF)
        guard power <= 3, fits(place + 2, 1 << power) else { return nil }
        let count = Self.number(in: bytes, at: place + 2, size: 1 << power)
        guard count <= UInt64(bytes.count) else { return nil }
        return (Int(count), place + 2 + (1 << power))
    }

    private func fits(_ start: Int, _ size: Int) -> Bool { start + size <= tableStart }

    /// Reads an integer of at most 8 bytes, most significant byte first. The caller has checked the bounds.
    private static func number(in bytes: [UInt8], at start: Int, size: Int) -> UInt64 {
        bytes[start..<start + size].reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Counts the tags of an XML property list.
///
/// Comments, entities, CDATA and instructions are refused: no player sends them, and they can contain text that looks
/// like a tag.
private struct XMLPropertyListScan {
    private let text: ArraySlice<UInt8>

    init(_ text: ArraySlice<UInt8>) {
        self.text = text
    }

    var isWithinBounds: Bool {
        var depth = 0
        var tagCount = 0
        var rest = text
        var hasType = false
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            tagCount += 1
            guard tagCount <= PropertyListBounds.visitMaximum, let end = rest.firstIndex(of: UInt8(ascii: ">")),
                !rest[..<end].contains(UInt8(ascii: "<"))
            else { return false }
            switch rest.first {
            case UInt8(ascii: "?"): guard tagCount == 1, Self.isDeclaration(rest[..<end]) else { return false }
            case UInt8(ascii: "!"):
                guard !hasType, rest.starts(with: "!DOCTYPE plist ".utf8), !rest[..<end].contains(UInt8(ascii: "["))
                else { return false }
                hasType = true
            case UInt8(ascii: "/"):
                guard Self.isKnown(rest[..<end].dropFirst()) else { return false }
                depth -= 1
            default:
                guard Self.isKnown(rest[..<end]) else { return false }
                // `<plist>` is one level more, and levels are counted from 1 here.
                if rest[..<end].last != UInt8(ascii: "/") { depth += 1 }
                guard depth <= PropertyListBounds.depthMaximum + 2 else { return false }
            }
            rest = rest[(end + 1)...]
        }
        return tagCount > 0
    }

    /// Whether the first tag is an XML declaration that a parser reads in the same way: as UTF-8, and with the same
    /// end.
    ///
    /// In another encoding, such as UTF-7, tags would not be visible in the bytes. A parser ends a declaration only at
    /// `?>`.
    private static func isDeclaration(_ tag: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: tag, as: UTF8.self).lowercased().replacing("'", with: "\"")
        return declarations.contains(text)
    }

    /// Whether a tag belongs to property lists.
    ///
    /// Unknown elements are refused here, because Foundation (Swift 6.3) never frees the text of an error that it
    /// reports, and that text has the whole name of an unknown element.
    private static func isKnown(_ tag: ArraySlice<UInt8>) -> Bool {
        var name = tag.prefix { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if name.last == UInt8(ascii: "/") { name.removeLast() }
        return names.contains { $0.utf8.elementsEqual(name) }
    }

    private static let names = [
        "plist", "dict", "key", "string", "array", "data", "date", "integer", "real", "true", "false",
    ]
    private static let declarations = [#"?xml version="1.0"?"#, #"?xml version="1.0" encoding="utf-8"?"#]
}
