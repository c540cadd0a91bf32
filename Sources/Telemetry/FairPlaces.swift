/// Places of one size in one block of memory. If all are taken, a new entry replaces the oldest one of the share that
/// has the most, so no share can push out the entries of one that has fewer.
///
/// If each entry were allocated separately, each could keep a whole page from being returned to the system.
struct FairPlaces {
    private struct Share {
        var count = 0
        /// The indices of its oldest and newest place; -1 if it has none.
        var oldest: Int32 = -1
        var newest: Int32 = -1
    }

    private let size: Int
    private let capacity: Int
    private var bytes: [UInt8] = []
    private var numbers: [UInt64] = []
    /// For each place, the next newer one of its share.
    private var newer: [Int32] = []
    /// Those that have an entry.
    private var shares: [UInt64: Share] = [:]
    /// The shares with so many entries, by that number. The last level is not empty, if there is one.
    private var levels: [Set<UInt64>] = []

    init(capacity: Int, size: Int) {
        precondition(capacity > 0, "there is a place")
        (self.capacity, self.size) = (capacity, size)
        bytes.reserveCapacity(capacity * size)
        numbers.reserveCapacity(capacity)
        newer.reserveCapacity(capacity)
    }

    var count: Int { numbers.count }

    /// The number of each entry, by place. Newer entries have larger numbers.
    var entryNumbers: [UInt64] { numbers }

    subscript(place: Int) -> ArraySlice<UInt8> { bytes[place * size..<(place + 1) * size] }

    /// Keeps `entry`, which has the size of a place.
    mutating func add(_ entry: [UInt8], number: UInt64, share name: UInt64) {
        precondition(entry.count == size, "an entry fills its place")
        let place: Int
        if numbers.count < capacity {
            place = numbers.count
            bytes += entry
            numbers.append(number)
            newer.append(-1)
        } else {
            place = removeOldest()
            bytes.replaceSubrange(place * size..<(place + 1) * size, with: entry)
            (numbers[place], newer[place]) = (number, -1)
        }
        var share = shares[name] ?? Share()
        if share.newest >= 0 { newer[Int(share.newest)] = Int32(place) } else { share.oldest = Int32(place) }
        share.newest = Int32(place)
        move(name, from: share.count, to: share.count + 1)
        share.count += 1
        shares[name] = share
    }

    /// Frees the oldest place of a share that has the most, and returns it.
    private mutating func removeOldest() -> Int {
        guard let name = levels.last?.first, var share = shares[name] else {
            preconditionFailure("taken places belong to a share")
        }
        let place = Int(share.oldest)
        move(name, from: share.count, to: share.count - 1)
        share.count -= 1
        share.oldest = newer[place]
        shares[name] = share.count > 0 ? share : nil
        return place
    }

    /// Level 0 is always empty.
    private mutating func move(_ name: UInt64, from old: Int, to new: Int) {
        while levels.count <= new { levels.append([]) }
        if old > 0 { levels[old].remove(name) }
        if new > 0 { levels[new].insert(name) }
        while let last = levels.last, last.isEmpty { levels.removeLast() }
    }
}
