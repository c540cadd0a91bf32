/// Places of one size in one block of memory. If all are taken, a new entry replaces the oldest one of the share that
/// has the most, so no share can push out the entries of others.
///
/// If each entry were allocated separately, each could keep a whole page from being returned to the system.
struct FairPlaces {
    /// The number of shares. Different senders can have the same one.
    static let shareCount = 256

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
    private var shares = [Share](repeating: Share(), count: shareCount)

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
    mutating func add(_ entry: [UInt8], number: UInt64, share: Int) {
        precondition(entry.count == size, "an entry fills its place")
        let place: Int
        if numbers.count < capacity {
            place = numbers.count
            bytes += entry
            numbers.append(number)
            newer.append(-1)
        } else {
            place = removeOldest(ofShare: largestShare)
            bytes.replaceSubrange(place * size..<(place + 1) * size, with: entry)
            (numbers[place], newer[place]) = (number, -1)
        }
        if shares[share].newest >= 0 {
            newer[Int(shares[share].newest)] = Int32(place)
        } else {
            shares[share].oldest = Int32(place)
        }
        shares[share].newest = Int32(place)
        shares[share].count += 1
    }

    private var largestShare: Int {
        var largest = 0
        for index in 1..<shares.count where shares[index].count > shares[largest].count { largest = index }
        return largest
    }

    private mutating func removeOldest(ofShare index: Int) -> Int {
        let place = Int(shares[index].oldest)
        shares[index].count -= 1
        shares[index].oldest = newer[place]
        if shares[index].oldest < 0 { shares[index].newest = -1 }
        return place
    }
}
