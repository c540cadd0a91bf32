/// A queue that returns elements in the order in which they were added.
struct ArrivalQueue<Element> {
    private var elements: [Element] = []
    /// The index of the first element that is still in the queue.
    private var first = 0

    var count: Int { elements.count - first }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Removes and returns the oldest element; nil if the queue is empty.
    mutating func removeFirst() -> Element? {
        guard first < elements.count else { return nil }
        defer { dropTheLeft() }
        first += 1
        return elements[first - 1]
    }

    /// Frees the places of removed elements. The rest is moved only if it is the smaller part, so that each element is
    /// moved at most once on average.
    private mutating func dropTheLeft() {
        guard first > elements.count / 2 else { return }
        elements.removeFirst(first)
        first = 0
    }
}
