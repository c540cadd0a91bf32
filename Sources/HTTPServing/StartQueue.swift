import POSIXSockets

/// Connections of one listener on one loop that were accepted and have not begun, in lanes by client network.
///
/// The kernel has one queue for all clients, so behind a flood everyone would wait for the whole of it. Here the lanes
/// begin in turn, one connection each: a client waits for those that came before it from its own lane, and for one of
/// each other lane. Each waiting connection has a place and is charged, so the limits of connections bound the queue.
struct StartQueue<Waiting> {
    /// Networks share lanes, so that a flood from many networks costs no more than one from a few. Which networks do
    /// is different in each process: `Hasher` has a random seed.
    static var networkLaneCount: Int { 255 }
    /// The lane of connections that carry many clients: those of trusted proxies, and of unix sockets.
    private static var sharedLane: Int { networkLaneCount }

    private struct Lane {
        var waiting = ArrivalQueue<Waiting>()
        /// Whether the lane is in `order`.
        var isOrdered = false
    }

    private var lanes = [Lane](repeating: Lane(), count: networkLaneCount + 1)
    /// Lanes in the order in which they begin their next connection.
    private var order = ArrivalQueue<Int>()
    /// How many connections wait.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Adds a connection that counts for this network; `nil` for one that carries many clients.
    mutating func append(_ connection: Waiting, of network: IPAddress?) {
        let lane = Self.lane(of: network)
        lanes[lane].waiting.append(connection)
        count += 1
        putInOrder(lane)
    }

    /// Takes the connection whose turn it is.
    mutating func next() -> Waiting? {
        while let lane = order.removeFirst() {
            lanes[lane].isOrdered = false
            // A lane may have lost its connections meanwhile.
            guard let connection = lanes[lane].waiting.removeFirst() else { continue }
            count -= 1
            if !lanes[lane].waiting.isEmpty { putInOrder(lane) }
            return connection
        }
        return nil
    }

    /// Takes the connection that waits for the longest time in the longest lane of networks, to make room for another.
    mutating func giveUp() -> Waiting? {
        var longest = 0
        for lane in 1..<Self.networkLaneCount where lanes[lane].waiting.count > lanes[longest].waiting.count {
            longest = lane
        }
        guard let connection = lanes[longest].waiting.removeFirst() else { return nil }
        count -= 1
        return connection
    }

    private mutating func putInOrder(_ lane: Int) {
        guard !lanes[lane].isOrdered else { return }
        lanes[lane].isOrdered = true
        order.append(lane)
    }

    private static func lane(of network: IPAddress?) -> Int {
        guard let network else { return sharedLane }
        var hasher = Hasher()
        hasher.combine(network)
        return Int(UInt(bitPattern: hasher.finalize()) % UInt(networkLaneCount))
    }
}
