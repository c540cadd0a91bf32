import Synchronization

/// The last refusals with their causes, in memory. An operator can find one by its request id even if the sampled log
/// left it out.
///
/// An entry contains no secrets, and nothing from the client except numbers. The number of places is fixed: strangers
/// can replace entries, but cannot make the memory grow. 10,000 entries take 5 MB.
package final class RecentRefusals: Sendable {
    /// One refusal.
    package struct Entry: Equatable, Sendable {
        package let requestID: String
        package let time: WallTime
        /// The kind of request, with its name in the log.
        package let event: String
        /// The code that the client was told.
        package let code: String
        package let cause: String
        /// Further facts about the cause, as in the log.
        package let numbers: [(name: String, value: String)]

        /// An entry; `cause` is cut to 256 bytes.
        package init(
            _ requestID: String, at time: WallTime, event: String, code: String, cause: String,
            numbers: [(name: String, value: String)] = []
        ) {
            self.requestID = requestID
            self.time = time
            self.event = event
            self.code = code
            self.cause = String(decoding: cause.utf8.prefix(256), as: UTF8.self)
            self.numbers = numbers
        }

        package static func == (left: Entry, right: Entry) -> Bool {
            left.requestID == right.requestID && left.time == right.time && left.event == right.event
                && left.code == right.code && left.cause == right.cause
        }
    }

    /// The size of each entry in the ring, in bytes. Texts are cut if they do not fit; normally only a cause is long.
    static let entrySizeMaximum = 512

    private struct Ring {
        /// All places, each of `entrySizeMaximum` bytes, one after the other.
        var places: [UInt8] = []
        /// The index of the place that the next entry replaces when all places are taken.
        var next = 0

        var count: Int { places.count / entrySizeMaximum }
    }

    private let capacity: Int
    private let ring = Mutex(Ring())

    /// A ring with this many places, at least one.
    package init(capacity: Int = 10_000) {
        precondition(capacity > 0, "a ring needs a place")
        self.capacity = capacity
        // One block of memory for all entries: if each were allocated separately, each could keep a whole page from
        // being returned to the system.
        ring.withLock { $0.places.reserveCapacity(capacity * Self.entrySizeMaximum) }
    }

    /// How many refusals are kept.
    package var count: Int { ring.withLock { $0.count } }

    /// Keeps a refusal. If all places are taken, it replaces the oldest one.
    package func note(_ entry: Entry) {
        let bytes = entry.encoded
        ring.withLock { ring in
            guard ring.count == capacity else { return ring.places.append(contentsOf: bytes) }
            let start = ring.next * Self.entrySizeMaximum
            ring.places.replaceSubrange(start..<start + Self.entrySizeMaximum, with: bytes)
            ring.next = (ring.next + 1) % capacity
        }
    }

    /// The refusal of this request; nil if it is not among those kept.
    package func entry(of requestID: String) -> Entry? {
        let wanted = Array(requestID.utf8)
        let place: [UInt8]? = ring.withLock { ring in
            for start in stride(from: 0, to: ring.places.count, by: Self.entrySizeMaximum) {
                let place = ring.places[start..<start + Self.entrySizeMaximum]
                var reader = EntryReader(place)
                if reader.next().elementsEqual(wanted) { return Array(place) }
            }
            return nil
        }
        return place.map { Entry(encoded: $0[...]) }
    }
}

// MARK: The form of an entry in the ring

extension RecentRefusals.Entry {
    /// Texts, each after its size in two bytes. An empty name ends the list of numbers. The rest is filled with zeros.
    ///
    ///     request id, seconds, nanoseconds, event, code, (name, value)*, "", cause
    fileprivate var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(RecentRefusals.entrySizeMaximum)
        func append(_ text: String) {
            // The size of the text takes two bytes.
            let room = RecentRefusals.entrySizeMaximum - bytes.count - 2
            let utf8 = text.utf8.prefix(max(0, room))
            guard room >= 0 else { return }
            bytes += [UInt8(utf8.count >> 8), UInt8(utf8.count & 0xff)]
            bytes += utf8
        }
        for text in [requestID, String(time.seconds), String(time.nanoseconds), event, code] { append(text) }
        for (name, value) in numbers {
            append(name)
            append(value)
        }
        append("")
        append(cause)
        bytes += repeatElement(0, count: RecentRefusals.entrySizeMaximum - bytes.count)
        return bytes
    }

    fileprivate init(encoded bytes: ArraySlice<UInt8>) {
        var reader = EntryReader(bytes)
        requestID = reader.nextText()
        time = WallTime(seconds: Int64(reader.nextText()) ?? 0, nanoseconds: UInt32(reader.nextText()) ?? 0)
        event = reader.nextText()
        code = reader.nextText()
        var numbers: [(name: String, value: String)] = []
        while true {
            let name = reader.nextText()
            if name.isEmpty { break }
            numbers.append((name, reader.nextText()))
        }
        self.numbers = numbers
        cause = reader.nextText()
    }
}

/// Reads the texts of an entry in order. After the end, it returns empty texts.
private struct EntryReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    mutating func next() -> ArraySlice<UInt8> {
        guard rest.count >= 2 else { return [] }
        let size = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
        rest = rest.dropFirst(2)
        defer { rest = rest.dropFirst(size) }
        return rest.prefix(size)
    }

    mutating func nextText() -> String { String(decoding: next(), as: UTF8.self) }
}
