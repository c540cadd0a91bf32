import ByteCoding

/// Writes the fields of a ledger entry in its encoding.
struct LedgerFieldWriter {
    private(set) var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(160)
    }

    mutating func write(_ value: UInt8) {
        bytes.append(value)
    }

    mutating func write(_ value: UInt16) {
        bytes.append(UInt8(truncatingIfNeeded: value >> 8))
        bytes.append(UInt8(truncatingIfNeeded: value))
    }

    mutating func write(_ value: UInt32) {
        write(UInt16(truncatingIfNeeded: value >> 16))
        write(UInt16(truncatingIfNeeded: value))
    }

    mutating func write(_ value: UInt64) {
        write(UInt32(truncatingIfNeeded: value >> 32))
        write(UInt32(truncatingIfNeeded: value))
    }

    /// Writes a report with at most 250 of its stream ids.
    mutating func write(_ report: DeviceReport) {
        let streamIDs = report.streamIDs.prefix(DeviceReport.streamIDCountMaximum)
        write(report.flags)
        write(report.titleID)
        write(UInt8(streamIDs.count))
        for streamID in streamIDs { write(streamID) }
    }

    mutating func write(_ value: Bytes16) {
        write(value.high)
        write(value.low)
    }

    mutating func write(number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func write(signed value: Int64) {
        write(number: UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    /// Writes a text, cut to `sizeMaximum` bytes, which is less than 0xFF.
    mutating func write(_ text: String, sizeMaximum: Int) {
        let text = text.cut(toSize: sizeMaximum)
        if let uuid = LowercaseUUID.bytes(of: text) {
            bytes.append(LowercaseUUID.mark)
            write(uuid)
        } else {
            bytes.append(UInt8(text.utf8.count))
            bytes.append(contentsOf: text.utf8)
        }
    }
}

/// Reads the fields of a ledger entry. Accepts only the form that `LedgerFieldWriter` writes.
struct LedgerFieldReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func readUInt8() throws(LedgerEntryError) -> UInt8 {
        guard offset < bytes.count else { throw .truncated }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func readUInt16() throws(LedgerEntryError) -> UInt16 {
        let high = try readUInt8()
        return UInt16(high) << 8 | UInt16(try readUInt8())
    }

    /// Reads four bytes, big-endian.
    mutating func readFixedUInt32() throws(LedgerEntryError) -> UInt32 {
        let high = try readUInt16()
        return UInt32(high) << 16 | UInt32(try readUInt16())
    }

    /// Reads eight bytes, big-endian.
    mutating func readFixedUInt64() throws(LedgerEntryError) -> UInt64 {
        let high = try readFixedUInt32()
        return UInt64(high) << 32 | UInt64(try readFixedUInt32())
    }

    mutating func readReport() throws(LedgerEntryError) -> DeviceReport {
        var report = DeviceReport(flags: try readFixedUInt64(), titleID: try readBytes16(), streamIDs: [])
        let count = Int(try readUInt8())
        guard count <= DeviceReport.streamIDCountMaximum else { throw .notCanonical }
        for _ in 0..<count { report.streamIDs.append(try readBytes16()) }
        return report
    }

    mutating func readBytes16() throws(LedgerEntryError) -> Bytes16 {
        let field = try read(count: 16)
        return Bytes16(bytes, at: field.startIndex)
    }

    mutating func readNumber() throws(LedgerEntryError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            let byte = try readUInt8()
            // The tenth byte has room for one bit.
            guard shift < 63 || byte <= 1 else { throw .notCanonical }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 {
                guard byte != 0 || shift == 0 else { throw .notCanonical }
                return value
            }
        }
        throw .notCanonical
    }

    mutating func readUInt32() throws(LedgerEntryError) -> UInt32 {
        guard let value = UInt32(exactly: try readNumber()) else { throw .notCanonical }
        return value
    }

    mutating func readSigned() throws(LedgerEntryError) -> Int64 {
        let number = try readNumber()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    mutating func readText(sizeMaximum: Int) throws(LedgerEntryError) -> String {
        let size = try readUInt8()
        if size == LowercaseUUID.mark { return KeyID(words: try readBytes16()).description }
        guard Int(size) <= sizeMaximum else { throw .notCanonical }
        guard let text = String(validating: try read(count: Int(size)), as: UTF8.self),
            LowercaseUUID.bytes(of: text) == nil
        else { throw .notCanonical }
        return text
    }

    func finish() throws(LedgerEntryError) {
        guard offset == bytes.count else { throw .notCanonical }
    }

    private mutating func read(count: Int) throws(LedgerEntryError) -> ArraySlice<UInt8> {
        guard bytes.count - offset >= count else { throw .truncated }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }
}

/// Texts that are a UUID in the form of `KeyID`'s description.
private enum LowercaseUUID {
    /// The byte that stands in the place of a text's size.
    static let mark: UInt8 = 0xFF

    static func bytes(of text: String) -> Bytes16? {
        guard text.utf8.count == 36 else { return nil }
        var words = (high: UInt64(0), low: UInt64(0))
        for (offset, byte) in text.utf8.enumerated() {
            if offset == 8 || offset == 13 || offset == 18 || offset == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
            } else {
                guard let digit = value(of: byte) else { return nil }
                words = (words.high << 4 | words.low >> 60, words.low << 4 | digit)
            }
        }
        return Bytes16(high: words.high, low: words.low)
    }

    private static func value(of digit: UInt8) -> UInt64? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(digit - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(digit - UInt8(ascii: "a") + 10)
        default: nil
        }
    }
}

extension String {
    /// Returns the longest prefix of at most `size` bytes of UTF-8 that ends with a whole scalar.
    func cut(toSize size: Int) -> String {
        guard utf8.count > size else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: size)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(unicodeScalars[..<end])
    }
}
