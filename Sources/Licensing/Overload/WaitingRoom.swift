/// A bounded queue of requests that cannot be served at once. Each request has a deadline.
///
/// Renewals go before all others, because a running playback should not stop because others begin. Within each kind,
/// requests go in the order in which they came. Instants are nanoseconds on a clock that never runs backwards.
struct WaitingRoom<Guest> {
    /// Whether a request has entered the room.
    enum Entry {
        case entered
        /// The renewal has taken the place of the youngest request that is not a renewal. The caller must refuse that
        /// request.
        case enteredFor(Guest)
        case full
    }

    private struct Place {
        let guest: Guest
        let deadline: Int64
    }

    private var urgent = Line<Place>()
    private var ordinary = Line<Place>()

    var count: Int { urgent.count + ordinary.count }
    var isEmpty: Bool { urgent.isEmpty && ordinary.isEmpty }
    /// The request whose turn is next.
    var next: Guest? { (urgent.first ?? ordinary.first)?.guest }
    /// Whether a renewal is next.
    var isNextUrgent: Bool { !urgent.isEmpty }

    /// Adds a request to a room of `capacity` places, at least one.
    ///
    /// Capacity and deadline come with each request, so a reload can change both. The deadline of a request is never
    /// earlier than the deadlines before it in its line.
    mutating func enter(_ guest: Guest, isUrgent: Bool, deadline: Int64, capacity: Int) -> Entry {
        guard count >= capacity else {
            if isUrgent {
                Self.append(guest, deadline, to: &urgent)
            } else {
                Self.append(guest, deadline, to: &ordinary)
            }
            return .entered
        }
        guard isUrgent, let youngest = ordinary.removeLast() else { return .full }
        Self.append(guest, deadline, to: &urgent)
        return .enteredFor(youngest.guest)
    }

    /// Within a line, deadlines never decrease, so the late requests are always at its front.
    private static func append(_ guest: Guest, _ deadline: Int64, to line: inout Line<Place>) {
        line.append(Place(guest: guest, deadline: max(deadline, line.last?.deadline ?? deadline)))
    }

    mutating func takeNext() -> Guest? {
        (urgent.removeFirst() ?? ordinary.removeFirst())?.guest
    }

    /// Takes the requests whose deadline has come.
    mutating func takeLate(now: Int64) -> [Guest] {
        var late: [Guest] = []
        while let first = urgent.first, first.deadline <= now, let place = urgent.removeFirst() {
            late.append(place.guest)
        }
        while let first = ordinary.first, first.deadline <= now, let place = ordinary.removeFirst() {
            late.append(place.guest)
        }
        return late
    }

    /// The earliest deadline of all waiting requests; nil if no request waits.
    var earliestDeadline: Int64? {
        [urgent.first?.deadline, ordinary.first?.deadline].compactMap(\.self).min()
    }
}

/// A first-in, first-out queue. Removed elements leave a gap at the front, which is closed from time to time.
private struct Line<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }
    var isEmpty: Bool { count == 0 }
    var first: Element? { isEmpty ? nil : elements[head] }
    var last: Element? { isEmpty ? nil : elements[elements.count - 1] }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func removeFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer {
            elements[head] = nil
            head += 1
            if head == elements.count {
                elements.removeAll(keepingCapacity: true)
                head = 0
            } else if head >= 1024, head * 2 >= elements.count {
                elements.removeFirst(head)
                head = 0
            }
        }
        return elements[head]
    }

    mutating func removeLast() -> Element? {
        guard !isEmpty else { return nil }
        return elements.removeLast()
    }
}
