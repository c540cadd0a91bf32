/// A bounded table in two halves: when the younger half is full, the older half is forgotten.
///
/// So the table forgets its oldest entries without keeping them in order.
struct RecentEntries<Key: Hashable, Value> {
    private var younger: [Key: Value] = [:]
    private var older: [Key: Value] = [:]
    private let halfCapacity: Int

    /// Makes a table that holds at most `capacity` entries. `capacity` is at least 2.
    init(capacity: Int) {
        precondition(capacity >= 2, "a table of two halves holds at least two entries")
        halfCapacity = capacity / 2
    }

    var count: Int { younger.count + older.count }

    subscript(key: Key) -> Value? { younger[key] ?? older[key] }

    /// Whether the next entry begins a new half.
    var isHalfFull: Bool { younger.count >= halfCapacity }

    mutating func remember(_ value: Value, for key: Key) {
        if isHalfFull { beginHalf() }
        younger[key] = value
    }

    /// Forgets the older half. The younger one takes its place.
    mutating func beginHalf() {
        // The old table is freed before the new one grows.
        older = younger
        younger = [:]
    }

    mutating func forget(_ key: Key) {
        younger[key] = nil
        older[key] = nil
    }
}
