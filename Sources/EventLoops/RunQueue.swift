/// One piece of work for a loop.
enum LoopWork {
    /// The next part of a task.
    case job(UnownedJob)
    /// A closure from another thread.
    case call(@Sendable () -> Void)
}

/// A queue of work in the order of its arrival. It has two arrays that exchange their roles, so that no elements are
/// moved.
struct RunQueue {
    private var taking: [LoopWork] = []
    private var position = 0
    private var filling: [LoopWork] = []

    var isEmpty: Bool { position == taking.count && filling.isEmpty }

    var count: Int { taking.count - position + filling.count }

    mutating func append(_ work: LoopWork) {
        filling.append(work)
    }

    /// Appends all work of another array, which then is empty but keeps its storage.
    mutating func takeAll(from other: inout [LoopWork]) {
        if filling.isEmpty {
            swap(&filling, &other)
        } else {
            filling.append(contentsOf: other)
            other.removeAll(keepingCapacity: true)
        }
    }

    mutating func next() -> LoopWork? {
        if position == taking.count {
            taking.removeAll(keepingCapacity: true)
            position = 0
            if filling.isEmpty { return nil }
            swap(&taking, &filling)
        }
        position += 1
        return taking[position - 1]
    }
}
