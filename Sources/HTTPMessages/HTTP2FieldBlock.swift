import ByteCoding

/// The fields of a response in the form of HTTP/2: names are in lower case, and fields of a connection are left out
/// (RFC 9113 section 8.2).
package struct HTTP2FieldBlock: Equatable, Sendable {
    /// All names and values, one after the other.
    package private(set) var storage: [UInt8] = []
    /// The positions of the fields in `storage`. The first one is `:status`.
    package private(set) var fields: [Field] = []

    /// The positions of a name and its value.
    package struct Field: Equatable, Sendable {
        package let name: Range<Int>
        package let value: Range<Int>
    }

    /// Makes the head of a final response. `date` is the value of the `Date` field (`HTTPDate`). The length of a
    /// streamed body is not known.
    package init(_ response: HTTPResponse, date: [UInt8], isStreamed: Bool = false) {
        storage.reserveCapacity(96 + response.fields.storage.count)
        fields.reserveCapacity(response.fields.count + 3)
        append(":status", decimal: Int(response.status.code))
        append("date") { $0.append(contentsOf: date) }
        if !response.status.forbidsBody && !isStreamed { append("content-length", decimal: response.body.count) }
        for entry in response.fields.entries where !response.fields.belongsToConnection(entry) {
            append(response.fields, entry)
        }
    }

    /// The head of the interim response 100, which tells the client to send its body (RFC 9110 section 15.2.1).
    package static let interimContinue = HTTP2FieldBlock(interimStatus: 100)

    private init(interimStatus: Int) {
        append(":status", decimal: interimStatus)
    }

    private mutating func append(_ name: String, decimal number: Int) {
        append(name) { $0.append(decimal: UInt64(number)) }
    }

    private mutating func append(_ name: String, _ writeValue: (inout [UInt8]) -> Void) {
        let start = storage.count
        storage.append(contentsOf: name.utf8)
        let end = storage.count
        writeValue(&storage)
        fields.append(Field(name: start..<end, value: end..<storage.count))
    }

    private mutating func append(_ source: HTTPFields, _ entry: HTTPFields.Entry) {
        let start = storage.count
        for position in entry.name { storage.append(source.storage[position].lowercased) }
        let end = storage.count
        // HTTP/2 forbids white space at the ends of a value. A handler may have passed on a value with some.
        let value = source.storage.span.trimmingWhitespace(entry.value)
        storage.append(contentsOf: source.storage[value])
        fields.append(Field(name: start..<end, value: end..<storage.count))
    }
}
