import Synchronization

/// A value that every loop has its own instance of, made when the loop first asks for it.
///
/// The instance is made, used and released on the loop's thread, so it needs no lock and need not be `Sendable`: a
/// reused cipher context, a reader of the database, a scratch buffer. Read it with `LoopContext.value(of:)`.
package final class LoopLocal<Value>: Sendable {
    let index: Int
    let make: @Sendable (LoopContext) -> Value

    /// Describes how a loop makes its instance.
    package init(_ make: @escaping @Sendable (LoopContext) -> Value) {
        index = nextLoopLocalIndex.add(1, ordering: .relaxed).oldValue
        self.make = make
    }
}

/// Every `LoopLocal` of the process has a place of its own in the loops' tables.
private let nextLoopLocalIndex = Atomic<Int>(0)

/// The instances of one loop, by the index of their `LoopLocal`.
struct LoopLocalTable {
    private final class Box<Value> {
        let value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private var boxes: [AnyObject?] = []

    func value<Value>(of local: LoopLocal<Value>) -> Value? {
        guard local.index < boxes.count, let box = boxes[local.index] else { return nil }
        // Safe: an index belongs to one LoopLocal, and `store` puts only boxes of its Value there.
        return unsafe unsafeDowncast(box, to: Box<Value>.self).value
    }

    mutating func store<Value>(_ value: Value, for local: LoopLocal<Value>) {
        if local.index >= boxes.count {
            boxes.append(contentsOf: repeatElement(nil, count: local.index + 1 - boxes.count))
        }
        boxes[local.index] = Box(value)
    }
}
