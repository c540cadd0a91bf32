import POSIXSockets

/// The accepted connections of one listener and loop that have not begun, in lanes by client network.
///
/// The kernel has one queue for all clients, so after a flood every client would wait for the whole flood. Here the
/// lanes take turns, with one connection each. So a client only waits for the earlier connections of its own lane, and
/// for the same number of each other lane. Each waiting connection has a place and is charged, so the limits of
/// connections also limit the queue.
struct StartQueue<Waiting> {
    /// The number of lanes for networks. Networks share lanes, so that a flood from many networks costs no more than
    /// one from a few.
    ///
    /// Which networks share a lane differs between processes, because `Hasher` has a random seed.
    static var networkLaneCount: Int { 255 }
    /// The lane for connections that carry many clients, those of trusted proxies and of unix sockets, and for those
    /// that are only for health checks.
    private static var sharedLane: Int { networkLaneCount }

    private struct Lane {
        var waiting = ArrivalQueue<Waiting>()
        /// Whether the lane is in `order`.
        var isOrdered = false
    }

    private var lanes = [Lane](repeating: Lane(), count: networkLaneCount + 1)
    /// The lanes in the order of their turns.
    private var order = ArrivalQueue<Int>()
    /// The number of waiting connections.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Adds a connection to the lane of its network. `network` is `nil` for a connection that carries many clients.
    mutating func append(_ connection: Waiting, of network: IPAddress?) {
        let lane = Self.lane(of: network)
        lanes[lane].waiting.append(connection)
        count += 1
        putInOrder(lane)
    }

    /// Removes and returns the connection whose turn it is; nil if none waits.
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

    /// Removes and returns the oldest connection of the longest lane of networks, to make room for another one.
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
