/// Builds big-endian messages by appending.
public struct ByteWriter: Sendable {
    @usableFromInline var storage: [UInt8]

    /// All bytes that have been written.
    @inlinable
    public var bytes: [UInt8] { storage }

    @inlinable
    public init(capacity: Int = 0) {
        storage = []
        storage.reserveCapacity(capacity)
    }

    @inlinable
    public mutating func write(_ value: UInt8) {
        storage.append(value)
    }

    @inlinable
    public mutating func write(_ value: UInt32) {
        // Safe: the bytes belong to an integer that exists until the call returns.
        unsafe withUnsafeBytes(of: value.bigEndian) { unsafe storage.append(contentsOf: $0) }
    }

    @inlinable
    public mutating func write(_ value: UInt64) {
        // Safe: the bytes belong to an integer that exists until the call returns.
        unsafe withUnsafeBytes(of: value.bigEndian) { unsafe storage.append(contentsOf: $0) }
    }

    @inlinable
    public mutating func write(_ value: Bytes16) {
        write(value.high)
        write(value.low)
    }

    @inlinable
    public mutating func write(_ value: [UInt8]) {
        storage.append(contentsOf: value)
    }

    /// Writes the UTF-8 bytes of a text.
    package mutating func write(utf8Of text: String) {
        storage.append(utf8Of: text)
    }

    @inlinable
    public mutating func write(_ value: ArraySlice<UInt8>) {
        storage.append(contentsOf: value)
    }
}
