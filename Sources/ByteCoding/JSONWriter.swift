/// Appends one JSON value to a buffer, member by member.
///
/// There is no tree: each call appends bytes at once. The writer adds commas and brackets itself, so the result is
/// well formed if every object gets distinct names. Strings are escaped so that the text is one line without hidden
/// characters (`VisibleText`): some terminals act on U+007F to U+009F, and U+202E reverses the text after it.
package struct JSONWriter: Sendable {
    /// The bytes that have been written so far.
    package private(set) var bytes: [UInt8] = []

    /// Whether the next value or name follows another one in the same container.
    private var followsElement = false

    /// Reserves room for a text of about this many bytes.
    package init(expectedSize: Int = 256) {
        bytes.reserveCapacity(expectedSize)
    }

    /// One JSON object as text of about this many bytes.
    package static func object(expectedSize: Int = 256, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(expectedSize: expectedSize)
        writer.object(write)
        return writer.bytes
    }

    // MARK: Values

    /// Writes an object whose members the closure writes.
    package mutating func object(_ writeMembers: (inout JSONWriter) -> Void) {
        beginValue()
        bytes.append(UInt8(ascii: "{"))
        followsElement = false
        writeMembers(&self)
        bytes.append(UInt8(ascii: "}"))
        followsElement = true
    }

    /// Writes an array whose elements the closure writes.
    package mutating func array(_ writeElements: (inout JSONWriter) -> Void) {
        beginValue()
        bytes.append(UInt8(ascii: "["))
        followsElement = false
        writeElements(&self)
        bytes.append(UInt8(ascii: "]"))
        followsElement = true
    }

    /// Writes a text, quoted and escaped.
    package mutating func string(_ value: String) {
        beginValue()
        appendQuoted(value)
    }

    /// Writes a whole number.
    package mutating func integer(_ value: Int64) {
        beginValue()
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes.append(decimal: value.magnitude)
    }

    /// Writes a whole number that is not negative.
    package mutating func unsigned(_ value: UInt64) {
        beginValue()
        bytes.append(decimal: value)
    }

    /// Writes a number with as few digits as it needs, or null if it is not finite.
    package mutating func number(_ value: Double) {
        guard value.isFinite else { return null() }
        beginValue()
        append(value.description)
    }

    /// Writes a number with as few digits as it needs, or null if it is not finite.
    package mutating func number(_ value: Float) {
        guard value.isFinite else { return null() }
        beginValue()
        append(value.description)
    }

    /// Writes `true` or `false`.
    package mutating func bool(_ value: Bool) {
        beginValue()
        append(value ? "true" : "false")
    }

    /// Writes `null`.
    package mutating func null() {
        beginValue()
        append("null")
    }

    /// Writes a value that was read from a text. Its numbers keep their digits.
    package mutating func node(_ node: JSONNode) {
        switch node.value {
        case .null: null()
        case .bool(let value): bool(value)
        case .number(let value):
            beginValue()
            append(value.text)
        case .string(let value): string(value)
        case .array(let elements): array { writer in for element in elements { writer.node(element) } }
        case .object(let value):
            object { writer in
                for member in value.members {
                    writer.name(member.name)
                    writer.node(member.node)
                }
            }
        }
    }

    // MARK: Members

    /// Writes the name of a member; its value must follow.
    package mutating func name(_ name: String) {
        beginValue()
        appendQuoted(name)
        bytes.append(UInt8(ascii: ":"))
        followsElement = false
    }

    /// Writes a member of text.
    package mutating func member(_ name: String, _ value: String) {
        self.name(name)
        string(value)
    }

    /// Writes a member whose value is the Base64 text of these bytes. Base64 needs no escapes, so this makes no
    /// `String`.
    package mutating func member(_ name: String, base64 value: [UInt8]) {
        self.name(name)
        quoted { Base64.append(value, to: &$0) }
    }

    /// Writes a member whose value is the Base64URL text of these bytes.
    package mutating func member(_ name: String, base64URL value: [UInt8]) {
        self.name(name)
        quoted { Base64URL.append(value, to: &$0) }
    }

    /// Writes a member whose value is a text of 32 hexadecimal digits.
    package mutating func member(_ name: String, hexadecimal value: Bytes16) {
        self.name(name)
        quoted { bytes in bytes.append(addingCapacity: 32) { Hexadecimal.append(value, to: &$0) } }
    }

    /// Writes a member whose value is a text of 16 hexadecimal digits.
    package mutating func member(_ name: String, hexadecimal value: UInt64) {
        self.name(name)
        quoted { bytes in bytes.append(addingCapacity: 16) { Hexadecimal.append(value, to: &$0) } }
    }

    /// Writes a member of text, or null if the value is nil.
    package mutating func member(_ name: String, _ value: String?) {
        self.name(name)
        if let value { string(value) } else { null() }
    }

    /// Writes a member that is a whole number.
    package mutating func member(_ name: String, _ value: Int) {
        self.name(name)
        integer(Int64(value))
    }

    /// Writes a member that is a whole number.
    package mutating func member(_ name: String, _ value: Int64) {
        self.name(name)
        integer(value)
    }

    /// Writes a member that is a whole number and not negative.
    package mutating func member(_ name: String, _ value: UInt64) {
        self.name(name)
        unsigned(value)
    }

    /// Writes a member that is a whole number, or null if the value is nil.
    package mutating func member(_ name: String, _ value: Int64?) {
        self.name(name)
        if let value { integer(value) } else { null() }
    }

    /// Writes a member that is a number, or null if the value is nil or not finite.
    package mutating func member(_ name: String, _ value: Double?) {
        self.name(name)
        number(value ?? .nan)
    }

    /// Writes a member that is an object whose members the closure writes.
    package mutating func object(_ name: String, _ writeMembers: (inout JSONWriter) -> Void) {
        self.name(name)
        object(writeMembers)
    }

    /// Writes a member that is an object, or null if the value is nil. The closure writes the members of the value.
    package mutating func object<Value>(
        _ name: String, _ value: Value?, _ writeMembers: (inout JSONWriter, Value) -> Void
    ) {
        self.name(name)
        if let value { object { writeMembers(&$0, value) } } else { null() }
    }

    /// Writes a member that is an array whose elements the closure writes.
    package mutating func array(_ name: String, _ writeElements: (inout JSONWriter) -> Void) {
        self.name(name)
        array(writeElements)
    }

    /// Writes a member that is an array of texts.
    package mutating func member(_ name: String, _ values: [String]) {
        array(name) { writer in for value in values { writer.string(value) } }
    }

    /// Writes a member that is an array of objects. The closure writes the members of one of them.
    package mutating func objects<Elements: Sequence>(
        _ name: String, _ elements: Elements, _ writeMembers: (inout JSONWriter, Elements.Element) -> Void
    ) {
        array(name) { writer in for element in elements { writer.object { writeMembers(&$0, element) } } }
    }

    /// Writes a member that is `true` or `false`.
    package mutating func member(_ name: String, _ value: Bool) {
        self.name(name)
        bool(value)
    }

    // MARK: Bytes

    private mutating func beginValue() {
        if followsElement { bytes.append(UInt8(ascii: ",")) }
        followsElement = true
    }

    private mutating func append(_ text: String) { bytes.append(utf8Of: text) }

    /// Writes a text that needs no escapes, between quotes.
    private mutating func quoted(_ append: (inout [UInt8]) -> Void) {
        beginValue()
        bytes.append(UInt8(ascii: "\""))
        append(&bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendQuoted(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        // Almost no text needs an escape. Such a text is copied in one piece.
        var text = text
        let isCopied = text.withUTF8 { utf8 in
            // Safe: the bytes are read and copied while the text is borrowed.
            guard unsafe !Self.mayNeedEscape(utf8) else { return false }
            unsafe bytes.append(contentsOf: utf8)
            return true
        }
        if !isCopied { appendEscaped(text) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether `appendEscaped` may treat one of these bytes in a way of its own: it is not printable ASCII, or it is a
    /// quotation mark or a backslash. All bytes are looked at, without a branch for each of them.
    private static func mayNeedEscape(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        let found: UInt8 = unsafe utf8.reduce(0) { found, byte in
            let isSpecial = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte >= 0x7F
            return found | (byte < 0x20 || isSpecial ? 1 : 0)
        }
        return found != 0
    }

    private mutating func appendEscaped(_ text: String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": append("\\\"")
            case "\\": append("\\\\")
            case "\n": append("\\n")
            case "\r": append("\\r")
            case "\t": append("\\t")
            case _ where VisibleText.isHidden(scalar): for unit in scalar.utf16 { appendEscape(unit) }
            default: bytes.append(contentsOf: scalar.utf8)  // Every other scalar stands for itself.
            }
        }
    }

    private mutating func appendEscape(_ unit: UInt16) {
        append("\\u")
        for shift in [12, 8, 4, 0] { bytes.append(Hexadecimal.digit(of: UInt8(unit >> shift & 0x0F))) }
    }
}
