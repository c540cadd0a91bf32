import ByteCoding

/// A parameter of a statement, sent in the binary format of its PostgreSQL type.
enum PostgreSQLValue: Sendable {
    case null
    case bytes([UInt8])
    case text(String)
    case integer(Int64)
    case boolean(Bool)
    case byteArrays([[UInt8]?])
    case integers([Int64?])
    case booleans([Bool])
    case texts([String?])

    static func optional(_ text: String?) -> PostgreSQLValue { text.map { .text($0) } ?? .null }
    static func optional(_ bytes: [UInt8]?) -> PostgreSQLValue { bytes.map { .bytes($0) } ?? .null }
    static func optional(_ integer: Int64?) -> PostgreSQLValue { integer.map { .integer($0) } ?? .null }

    /// Returns the binary format; nil for NULL.
    func encoded() -> [UInt8]? {
        switch self {
        case .null: nil
        case .bytes(let bytes): bytes
        case .text(let text): Array(text.utf8)
        case .integer(let integer): Self.encode(integer)
        case .boolean(let boolean): [boolean ? 1 : 0]
        case .byteArrays(let elements): Self.encode(elements, type: .bytes)
        case .integers(let elements): Self.encode(elements.map { $0.map(Self.encode) }, type: .integer)
        case .texts(let elements): Self.encode(elements.map { $0.map { Array($0.utf8) } }, type: .text)
        case .booleans(let elements): Self.encode(elements.map { [$0 ? 1 : 0] }, type: .boolean)
        }
    }

    private static func encode(_ integer: Int64) -> [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.write(UInt64(bitPattern: integer))
        return writer.bytes
    }

    /// Encodes an array of one dimension, as PostgreSQL's `array_recv` reads it.
    ///
    ///     offset  size  field
    ///          0     4  dimensions: 1, or 0 without elements
    ///          4     4  1 when an element may be NULL
    ///          8     4  the elements' type
    ///         12     4  elements, N
    ///         16     4  the first one's index, 1
    ///         20        N times: size (4 bytes, -1 for NULL) and value
    private static func encode(_ elements: [[UInt8]?], type: PostgreSQLType) -> [UInt8] {
        var writer = ByteWriter(capacity: 20 + elements.reduce(0) { $0 + 4 + ($1?.count ?? 0) })
        writer.write(UInt32(elements.isEmpty ? 0 : 1))
        writer.write(UInt32(elements.contains { $0 == nil } ? 1 : 0))
        writer.write(type.rawValue)
        guard !elements.isEmpty else { return writer.bytes }
        writer.write(UInt32(elements.count))
        writer.write(1 as UInt32)
        for element in elements {
            // An element is always smaller than 2 GiB.
            writer.write(element.map { UInt32($0.count) } ?? .max)
            writer.write(element ?? [])
        }
        return writer.bytes
    }
}

/// The types of columns and array elements that this module uses, by their numbers in `pg_type`.
enum PostgreSQLType: UInt32 {
    case boolean = 16
    case bytes = 17
    case integer = 20
    case text = 25
}
