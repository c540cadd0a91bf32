/// Builds big-endian messages by appending.
public struct ByteWriter: Sendable {
    @usableFromInline var storage: [UInt8]

    /// What has been written.
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
        for shift in stride(from: 24, through: 0, by: -8) { storage.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    @inlinable
    public mutating func write(_ value: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) { storage.append(UInt8(truncatingIfNeeded: value >> shift)) }
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

    @inlinable
    public mutating func write(_ value: ArraySlice<UInt8>) {
        storage.append(contentsOf: value)
    }
}
