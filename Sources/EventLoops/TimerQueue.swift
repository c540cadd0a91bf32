import Telemetry

/// Identifies a scheduled timer. The ID of a timer that has fired or was cancelled is not used again.
package struct TimerID: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32
}

/// Timers in the order of their deadlines: a binary heap that knows the position of each timer.
///
/// Schedule, cancel and reschedule cost O(log n). Timers with equal deadlines fire in the order in which they were
/// scheduled.
struct TimerQueue {
    private struct Timer {
        var deadline: MonotonicTime
        var order: UInt64
        var generation: UInt32
        var heapPosition: Int
        var action: (() -> Void)?
    }

    private var timers: [Timer] = []
    private var freeSlots: [UInt32] = []
    private var heap: [UInt32] = []
    private var nextOrder: UInt64 = 0

    /// The number of waiting timers.
    var count: Int { heap.count }

    /// The earliest deadline; nil if no timer waits.
    var earliest: MonotonicTime? { heap.first.map { timers[Int($0)].deadline } }

    mutating func schedule(at deadline: MonotonicTime, _ action: @escaping () -> Void) -> TimerID {
        let slot = takeSlot()
        timers[Int(slot)].deadline = deadline
        timers[Int(slot)].order = takeOrder()
        timers[Int(slot)].action = action
        timers[Int(slot)].heapPosition = heap.count
        heap.append(slot)
        moveUp(from: heap.count - 1)
        return TimerID(slot: slot, generation: timers[Int(slot)].generation)
    }

    /// Moves a waiting timer. Returns `false` if it has fired or was cancelled.
    mutating func reschedule(_ id: TimerID, at deadline: MonotonicTime) -> Bool {
        guard isWaiting(id) else { return false }
        timers[Int(id.slot)].deadline = deadline
        timers[Int(id.slot)].order = takeOrder()
        let position = timers[Int(id.slot)].heapPosition
        moveDown(from: position)
        moveUp(from: position)
        return true
    }

    /// Cancels a timer. Does nothing if it has fired or was cancelled.
    mutating func cancel(_ id: TimerID) {
        if isWaiting(id) { _ = remove(at: timers[Int(id.slot)].heapPosition) }
    }

    /// Removes the first timer whose deadline is not after `now`, and returns its action; nil if no timer is due.
    mutating func popExpired(at now: MonotonicTime) -> (() -> Void)? {
        guard let earliest, earliest <= now else { return nil }
        return remove(at: 0)
    }

    private func isWaiting(_ id: TimerID) -> Bool {
        Int(id.slot) < timers.count && timers[Int(id.slot)].generation == id.generation
            && timers[Int(id.slot)].action != nil
    }

    private mutating func takeSlot() -> UInt32 {
        if let slot = freeSlots.popLast() { return slot }
        timers.append(Timer(deadline: .distantFuture, order: 0, generation: 0, heapPosition: 0, action: nil))
        return UInt32(timers.count - 1)
    }

    private mutating func takeOrder() -> UInt64 {
        nextOrder += 1
        return nextOrder
    }

    private mutating func remove(at position: Int) -> (() -> Void)? {
        let slot = heap[position]
        let last = heap.count - 1
        swapPositions(position, last)
        heap.removeLast()
        if position < last {
            moveDown(from: position)
            moveUp(from: position)
        }
        let action = timers[Int(slot)].action
        timers[Int(slot)].action = nil
        timers[Int(slot)].generation &+= 1
        freeSlots.append(slot)
        return action
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        let (left, right) = (timers[Int(heap[left])], timers[Int(heap[right])])
        return left.deadline == right.deadline ? left.order < right.order : left.deadline < right.deadline
    }

    private mutating func swapPositions(_ left: Int, _ right: Int) {
        heap.swapAt(left, right)
        timers[Int(heap[left])].heapPosition = left
        timers[Int(heap[right])].heapPosition = right
    }

    private mutating func moveUp(from start: Int) {
        var position = start
        while position > 0, isBefore(position, (position - 1) / 2) {
            swapPositions(position, (position - 1) / 2)
            position = (position - 1) / 2
        }
    }

    private mutating func moveDown(from start: Int) {
        var position = start
        while true {
            var first = position
            for child in [2 * position + 1, 2 * position + 2] where child < heap.count && isBefore(child, first) {
                first = child
            }
            if first == position { return }
            swapPositions(position, first)
            position = first
        }
    }
}
