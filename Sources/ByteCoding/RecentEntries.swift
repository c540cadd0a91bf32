/// A bounded table in two halves: when the younger half is full, the older half is forgotten.
///
/// So the table forgets its oldest entries without keeping them in order.
public struct RecentEntries<Key: Hashable, Value> {
    @usableFromInline var younger: [Key: Value] = [:]
    @usableFromInline var older: [Key: Value] = [:]
    @usableFromInline let halfCapacity: Int

    /// Makes a table that holds at most `capacity` entries. `capacity` is at least 2.
    @inlinable
    public init(capacity: Int) {
        precondition(capacity >= 2, "a table of two halves holds at least two entries")
        halfCapacity = capacity / 2
    }

    @inlinable public var count: Int { younger.count + older.count }

    @inlinable
    public subscript(key: Key) -> Value? { younger[key] ?? older[key] }

    /// Whether the next entry begins a new half.
    @inlinable public var isHalfFull: Bool { younger.count >= halfCapacity }

    /// Adds or replaces an entry.
    @inlinable
    public mutating func remember(_ value: Value, for key: Key) {
        if isHalfFull, younger[key] == nil { beginHalf() }
        younger[key] = value
    }

    /// Forgets the older half. The younger one takes its place.
    @inlinable
    public mutating func beginHalf() {
        // The old table is freed before the new one grows.
        older = younger
        younger = [:]
    }

    @inlinable
    public mutating func forget(_ key: Key) {
        younger[key] = nil
        older[key] = nil
    }

    @inlinable
    public mutating func forgetAll(where isOver: (Value) -> Bool) {
        younger = younger.filter { !isOver($0.value) }
        older = older.filter { !isOver($0.value) }
    }
}

extension RecentEntries: Sendable where Key: Sendable, Value: Sendable {}
