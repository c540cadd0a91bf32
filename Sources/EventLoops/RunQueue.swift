/// One piece of work for a loop.
enum LoopWork {
    /// The next stretch of a task.
    case job(UnownedJob)
    /// A closure from another thread.
    case call(@Sendable () -> Void)
}

/// Work in the order of its arrival: two arrays that change roles, so that neither moves its elements.
struct RunQueue {
    private var taking: [LoopWork] = []
    private var position = 0
    private var filling: [LoopWork] = []

    var isEmpty: Bool { position == taking.count && filling.isEmpty }

    var count: Int { taking.count - position + filling.count }

    mutating func append(_ work: LoopWork) {
        filling.append(work)
    }

    /// Moves another queue's work behind this one's, leaving it empty with its storage.
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
