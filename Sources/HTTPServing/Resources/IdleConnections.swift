/// The connections of one loop that may be closed to make room: those on which no request is under way, longest idle
/// first. Those that are closing belong to them.
///
/// A doubly linked list through the connections themselves, so that each change costs the same however many there are.
/// A connection leaves the list before it closes.
struct IdleConnections {
    private var oldest: HTTPConnection?
    private var newest: HTTPConnection?
    private(set) var count = 0

    /// The connection that has been idle for the longest time.
    var first: HTTPConnection? { oldest }

    /// Puts a connection at the end, or moves it there.
    mutating func append(_ connection: HTTPConnection) {
        remove(connection)
        connection.idleLink = .init(previous: newest, next: nil, isListed: true)
        if let newest { newest.idleLink.next = connection } else { oldest = connection }
        newest = connection
        count += 1
    }

    /// Takes a connection out; nothing happens if it is not in the list.
    mutating func remove(_ connection: HTTPConnection) {
        guard connection.idleLink.isListed else { return }
        let link = connection.idleLink
        connection.idleLink = .init()
        if let previous = link.previous { previous.idleLink.next = link.next } else { oldest = link.next }
        if let next = link.next { next.idleLink.previous = link.previous } else { newest = link.previous }
        count -= 1
    }

    /// A connection's place in the list.
    struct Link {
        var previous: HTTPConnection?
        var next: HTTPConnection?
        var isListed = false
    }
}
