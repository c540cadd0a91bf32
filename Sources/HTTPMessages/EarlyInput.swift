/// Input of a connection that has arrived, but cannot be parsed yet.
struct EarlyInput: Sendable {
    private(set) var bytes: [UInt8] = []
    /// The bytes from here on are not parsed yet.
    private(set) var start = 0

    var isEmpty: Bool { start == bytes.count }

    mutating func append(_ new: Span<UInt8>) {
        bytes.removeFirst(start)
        start = 0
        new.append(0..<new.count, to: &bytes)
    }

    /// Notes that so many more bytes are parsed. The rest is not copied, because one read may bring many small
    /// requests.
    mutating func skip(_ count: Int) {
        start += count
        if isEmpty { self = EarlyInput() }
    }
}
