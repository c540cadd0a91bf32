/// Elements in the order in which they came.
struct ArrivalQueue<Element> {
    private var elements: [Element] = []
    /// Those before it have left.
    private var first = 0

    var count: Int { elements.count - first }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Takes the element that came first; nil if the queue is empty.
    mutating func removeFirst() -> Element? {
        guard first < elements.count else { return nil }
        defer { dropTheLeft() }
        first += 1
        return elements[first - 1]
    }

    /// Moves the rest only if it is the smaller part, so that each element is moved once or less on average.
    private mutating func dropTheLeft() {
        guard first > elements.count / 2 else { return }
        elements.removeFirst(first)
        first = 0
    }
}
