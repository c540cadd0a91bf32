import ByteCoding

/// The header fields of a message, in their order. Names are compared without regard to case (RFC 9110 section 5.1).
///
/// All names and values are in one array, so that a parsed head needs one copy and no strings.
package struct HTTPFields: Sendable {
    /// The position of a field in `storage`.
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

    /// Makes an empty list of fields.
    package init() {
        storage = []
        entries = []
        areLines = true
    }

    /// Makes an empty list with reserved memory for `count` fields of `bytes` bytes in total.
    package init(roomForFields count: Int, bytes: Int) {
        self.init()
        storage.reserveCapacity(bytes)
        entries.reserveCapacity(count)
    }

    /// Makes the fields of a parsed head. The ranges of the entries must be within `storage`.
    init(storage: [UInt8], entries: [Entry]) {
        self.storage = storage
        self.entries = entries
        areLines = false
    }

    /// The number of fields. A name that occurs twice counts twice.
    package var count: Int { entries.count }

    /// The memory that the fields occupy, in bytes.
    package var memorySize: Int { storage.capacity + entries.capacity * MemoryLayout<Entry>.stride }

    /// Adds a field after the others.
    ///
    /// `name` is chosen by the program and must be a token. `value` may come from outside: its control bytes, which
    /// could end the field and begin another, are replaced by spaces.
    package mutating func append(_ name: String, _ value: String) {
        let nameStart = storage.count
        storage.append(utf8Of: name)
        let nameEnd = storage.count
        precondition(
            nameEnd > nameStart && storage.span.areTokenCharacters(nameStart..<nameEnd), "a field name must be a token")
        storage.append(UInt8(ascii: ":"))
        storage.append(UInt8(ascii: " "))
        let valueStart = storage.count
        let hasControls = appendValue(value)
        let valueEnd = storage.count
        if hasControls {
            for position in valueStart..<valueEnd where storage[position].isForbiddenInFieldValue {
                storage[position] = UInt8(ascii: " ")
            }
        }
        storage.append(UInt8(ascii: "\r"))
        storage.append(UInt8(ascii: "\n"))
        let entry = Entry(
            nameStart: Int32(nameStart), nameEnd: Int32(nameEnd), valueStart: Int32(valueStart),
            valueEnd: Int32(valueEnd))
        entries.append(entry)
        if belongsToConnection(entry) { areLines = false }
    }

    /// Appends a text as it is. Returns whether it has a byte that must not be in a field value.
    private mutating func appendValue(_ value: String) -> Bool {
        var value = value
        return value.withUTF8 { utf8 in
            // Safe: the bytes are read and copied while the text is borrowed. All of them are looked at, without a
            // branch for each.
            let found: UInt8 = unsafe utf8.reduce(0) { $0 | ($1.isForbiddenInFieldValue ? 1 : 0) }
            unsafe storage.append(contentsOf: utf8)
            return found != 0
        }
    }

    /// Adds fields after the others. They were checked when they were added to `other`.
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

    /// The value of the first field with a name; malformed UTF-8 is replaced.
    package subscript(name: String) -> String? {
        bytes(of: name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the unchanged value of the first field with a name, without the white space around it.
    package func bytes(of name: String) -> ArraySlice<UInt8>? {
        firstEntry(name).map { storage[$0.value] }
    }

    /// Returns the values of the fields with a name, in their order, at most `limit` of them.
    package func values(of name: String, limit: Int = .max) -> [String] {
        entries.lazy.filter { storage.span.matchesIgnoringCase(name.utf8, in: $0.name) }.prefix(limit)
            .map { String(decoding: storage[$0.value], as: UTF8.self) }
    }

    /// Returns the unchanged values of all fields with a name, in their order, without the white space around them.
    package func allBytes(of name: String) -> [ArraySlice<UInt8>] {
        entries.lazy.filter { storage.span.matchesIgnoringCase(name.utf8, in: $0.name) }.map { storage[$0.value] }
    }

    /// Returns the number of fields with a name.
    package func count(of name: String) -> Int {
        entries.count { storage.span.matchesIgnoringCase(name.utf8, in: $0.name) }
    }

    /// The names and values of all fields in their order, without copies.
    package var allBytes: some Sequence<(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)> {
        entries.lazy.map { (name: storage[$0.name], value: storage[$0.value]) }
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
