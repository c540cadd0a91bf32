/// The header fields of a message, in their order; names compare without regard to case (RFC 9110 section 5.1).
///
/// All names and values lie in one array, so that a parsed head costs one copy and no strings.
package struct HTTPFields: Sendable {
    /// Where a field lies in `storage`.
    struct Entry: Sendable {
        let nameStart: Int32
        let nameEnd: Int32
        let valueStart: Int32
        let valueEnd: Int32

        var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
        var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }

        func moved(by offset: Int32) -> Entry {
            Entry(
                nameStart: nameStart + offset, nameEnd: nameEnd + offset, valueStart: valueStart + offset,
                valueEnd: valueEnd + offset)
        }
    }

    private(set) var storage: [UInt8]
    private(set) var entries: [Entry]
    /// Whether `storage` is what a response's head says of these fields: a line "name: value" CRLF for each of them, in
    /// order, and no field that belongs to the connection.
    private(set) var areLines: Bool

    /// No fields.
    package init() {
        storage = []
        entries = []
        areLines = true
    }

    /// No fields, with room for so many of so many bytes altogether.
    package init(roomForFields count: Int, bytes: Int) {
        self.init()
        storage.reserveCapacity(bytes)
        entries.reserveCapacity(count)
    }

    /// The fields of a parsed head, whose ranges lie within `storage`.
    init(storage: [UInt8], entries: [Entry]) {
        self.storage = storage
        self.entries = entries
        areLines = false
    }

    /// The number of fields; a name that occurs twice counts twice.
    package var count: Int { entries.count }

    /// What the fields occupy, in bytes.
    package var memorySize: Int { storage.capacity + entries.capacity * MemoryLayout<Entry>.stride }

    /// Adds a field after the others.
    ///
    /// `name` is ours and must be a token. `value` may come from outside: control bytes, which could end the field and
    /// begin another, become spaces.
    package mutating func append(_ name: String, _ value: String) {
        precondition(!name.isEmpty && name.utf8.allSatisfy(\.isTokenCharacter), "a field name must be a token")
        let nameStart = storage.count
        storage.append(contentsOf: name.utf8)
        let nameEnd = storage.count
        storage.append(contentsOf: ": ".utf8)
        let valueStart = storage.count
        storage.append(contentsOf: value.utf8)
        let valueEnd = storage.count
        for position in valueStart..<valueEnd where storage[position].isForbiddenInFieldValue {
            storage[position] = UInt8(ascii: " ")
        }
        storage.append(contentsOf: "\r\n".utf8)
        let entry = Entry(
            nameStart: Int32(nameStart), nameEnd: Int32(nameEnd), valueStart: Int32(valueStart),
            valueEnd: Int32(valueEnd))
        entries.append(entry)
        if belongsToConnection(entry) { areLines = false }
    }

    /// Adds fields after the others that were checked when they were made.
    package mutating func append(contentsOf other: HTTPFields) {
        let offset = Int32(storage.count)
        storage += other.storage
        for entry in other.entries { entries.append(entry.moved(by: offset)) }
        areLines = areLines && other.areLines
    }

    /// Removes all fields of a name and adds this one after the others.
    package mutating func set(_ name: String, _ value: String) {
        let storage = storage
        let count = entries.count
        entries.removeAll { storage.span.matchesIgnoringCase(name.utf8, in: $0.name) }
        if entries.count < count { areLines = false }
        append(name, value)
    }

    /// The value of the first field of a name, with malformed UTF-8 repaired.
    package subscript(name: String) -> String? {
        bytes(of: name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The value of the first field of a name as it came, without the white space around it.
    package func bytes(of name: String) -> ArraySlice<UInt8>? {
        firstEntry(name).map { storage[$0.value] }
    }

    /// The values of all fields of a name, in order.
    package func values(of name: String) -> [String] {
        entries.lazy.filter { storage.span.matchesIgnoringCase(name.utf8, in: $0.name) }
            .map { String(decoding: storage[$0.value], as: UTF8.self) }
    }

    /// The values of all fields of a name as they came, in order, without the white space around them.
    package func allBytes(of name: String) -> [ArraySlice<UInt8>] {
        entries.lazy.filter { storage.span.matchesIgnoringCase(name.utf8, in: $0.name) }.map { storage[$0.value] }
    }

    /// How many fields of a name there are.
    package func count(of name: String) -> Int {
        entries.count { storage.span.matchesIgnoringCase(name.utf8, in: $0.name) }
    }

    private func firstEntry(_ name: String) -> Entry? {
        entries.first { storage.span.matchesIgnoringCase(name.utf8, in: $0.name) }
    }
}

extension HTTPFields: Sequence {
    /// One field.
    package struct Element: Equatable, Sendable {
        package let name: String
        package let value: String
    }

    /// The fields in their order, as strings.
    package func makeIterator() -> some IteratorProtocol<Element> {
        entries.lazy.map {
            Element(
                name: String(decoding: storage[$0.name], as: UTF8.self),
                value: String(decoding: storage[$0.value], as: UTF8.self))
        }.makeIterator()
    }
}

extension HTTPFields: Equatable {
    package static func == (left: HTTPFields, right: HTTPFields) -> Bool {
        left.elementsEqual(right)
    }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, String)...) {
        self.init()
        for (name, value) in elements { append(name, value) }
    }
}
