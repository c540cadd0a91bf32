import Synchronization

/// The last refusals with their causes, in memory. An operator can find one by its request id even if the sampled log
/// left it out.
///
/// An entry contains no secrets. The number of places and their size are fixed: 10,000 entries take 10 MB. Refusals of
/// strangers have places of their own, so they never replace those of viewers with a good token. Among the senders of a
/// kind, no network pushes out the refusals of others.
package final class RecentRefusals: Sendable {
    /// One refusal.
    package struct Entry: Equatable, Sendable {
        package let requestID: String
        /// The trace that the request is part of; nil if its sender has named none.
        package let traceID: String?
        package let time: WallTime
        /// The kind of request, with its name in the log.
        package let event: String
        /// The code that the client was told.
        package let code: String
        package let cause: String
        /// Further facts about the cause, as in the log.
        package let facts: [(name: String, value: String)]

        /// An entry; `cause` is cut to 256 bytes.
        package init(
            _ requestID: String, trace traceID: String? = nil, at time: WallTime, event: String, code: String,
            cause: String,
            facts: [(name: String, value: String)] = []
        ) {
            self.requestID = requestID
            self.traceID = traceID
            self.time = time
            self.event = event
            self.code = code
            self.cause = String(decoding: cause.utf8.prefix(256), as: UTF8.self)
            self.facts = facts
        }

        package static func == (left: Entry, right: Entry) -> Bool {
            left.requestID == right.requestID && left.traceID == right.traceID && left.time == right.time
                && left.event == right.event
                && left.code == right.code && left.cause == right.cause
                && left.facts.elementsEqual(right.facts) { $0 == $1 }
        }
    }

    /// The size of each entry's place, in bytes. Texts are cut if they do not fit; normally only a cause is long.
    static let entrySizeMaximum = 1024

    /// Who was refused, which decides whose refusals a new one may replace.
    package struct Sender: Sendable {
        /// Whether the sender has proved to be a viewer or packager of this server.
        let isProven: Bool
        let share: UInt64

        /// A sender from `network`, as far as it is known.
        package init(isProven: Bool, network: (some Hashable)?) {
            self.isProven = isProven
            var hasher = Hasher()
            hasher.combine(network)
            share = UInt64(bitPattern: Int64(hasher.finalize()))
        }
    }

    private struct Places {
        var proven: FairPlaces
        var strangers: FairPlaces
        /// The number of all refusals that were ever noted.
        var notedCount: UInt64 = 0

        /// The numbers and places of all kept refusals, in no order.
        var all: [(number: UInt64, isProven: Bool, place: Int)] {
            proven.entryNumbers.enumerated().map { ($1, true, $0) }
                + strangers.entryNumbers.enumerated().map { ($1, false, $0) }
        }

        func bytes(_ isProven: Bool, _ place: Int) -> ArraySlice<UInt8> {
            isProven ? proven[place] : strangers[place]
        }
    }

    private let places: Mutex<Places>

    /// A memory with so many places. Two fifths of them are for strangers.
    package init(capacity: Int = 10_000) {
        precondition(capacity > 1, "both kinds of senders need a place")
        let forStrangers = max(1, capacity * 2 / 5)
        places = Mutex(
            Places(
                proven: FairPlaces(capacity: capacity - forStrangers, size: Self.entrySizeMaximum),
                strangers: FairPlaces(capacity: forStrangers, size: Self.entrySizeMaximum)))
    }

    /// How many refusals are kept.
    package var count: Int { places.withLock { $0.proven.count + $0.strangers.count } }

    /// Keeps a refusal. If all places of this kind of senders are taken, it replaces the oldest refusal of the network
    /// that has the most.
    package func note(_ entry: Entry, of sender: Sender) {
        let bytes = entry.encoded
        places.withLock { places in
            if sender.isProven {
                places.proven.add(bytes, number: places.notedCount, share: sender.share)
            } else {
                places.strangers.add(bytes, number: places.notedCount, share: sender.share)
            }
            places.notedCount += 1
        }
    }

    /// The refusal of this request; nil if it is not among those kept.
    package func entry(of requestID: String) -> Entry? {
        newestEntry { reader in reader.next().elementsEqual(requestID.utf8) }
    }

    /// The newest refusal of this trace; nil if none is among those kept.
    package func newestEntry(ofTrace traceID: String) -> Entry? {
        guard !traceID.isEmpty else { return nil }
        return newestEntry { reader in
            _ = reader.next()
            return reader.next().elementsEqual(traceID.utf8)
        }
    }

    /// A part of the kept refusals, the newest first.
    package struct Page: Equatable, Sendable {
        package let entries: [Entry]
        /// The `position` of the next page; nil if this page has the oldest refusal.
        package let next: UInt64?
    }

    /// Returns a part of the kept refusals, the newest first.
    ///
    /// - Parameters:
    ///   - limit: The most refusals of the page.
    ///   - position: Only refusals that were noted before this position, which is the `next` of the previous page; nil
    ///     for the newest ones.
    ///   - code: Only refusals with this code; nil for all.
    package func page(limit: Int, before position: UInt64? = nil, code: String? = nil) -> Page {
        let (found, next) = places.withLock { places in
            var found: [[UInt8]] = []
            var last: UInt64?
            let older = places.all.filter { $0.number < position ?? .max }.sorted { $0.number > $1.number }
            for (number, isProven, place) in older {
                if found.count == limit { return (found, last) }
                last = number
                let bytes = places.bytes(isProven, place)
                if let code, !Self.hasCode(code, bytes) { continue }
                found.append(Array(bytes))
            }
            return (found, nil)
        }
        return Page(entries: found.map { Entry(encoded: $0[...]) }, next: next)
    }

    private static func hasCode(_ code: String, _ place: ArraySlice<UInt8>) -> Bool {
        var reader = EntryReader(place)
        // The code follows the request id, the trace id, both parts of the time, and the event.
        for _ in 0..<5 { _ = reader.next() }
        return reader.next().elementsEqual(code.utf8)
    }

    private func newestEntry(where isWanted: (inout EntryReader) -> Bool) -> Entry? {
        let found: [UInt8]? = places.withLock { places in
            let wanted = places.all.filter { _, isProven, place in
                var reader = EntryReader(places.bytes(isProven, place))
                return isWanted(&reader)
            }
            return wanted.max { $0.number < $1.number }.map { Array(places.bytes($0.isProven, $0.place)) }
        }
        return found.map { Entry(encoded: $0[...]) }
    }
}

// MARK: The form of an entry in its place

extension RecentRefusals.Entry {
    /// Texts, each after its size in two bytes. An empty name ends the list of numbers. The rest is filled with zeros.
    ///
    ///     request id, trace id or "", seconds, nanoseconds, event, code, cause, (name, value)*, ""
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
        for text in [requestID, traceID ?? "", String(time.seconds), String(time.nanoseconds), event, code, cause] {
            append(text)
        }
        for (name, value) in facts {
            append(name)
            append(value)
        }
        bytes += repeatElement(0, count: RecentRefusals.entrySizeMaximum - bytes.count)
        return bytes
    }

    fileprivate init(encoded bytes: ArraySlice<UInt8>) {
        var reader = EntryReader(bytes)
        requestID = reader.nextText()
        let trace = reader.nextText()
        traceID = trace.isEmpty ? nil : trace
        time = WallTime(seconds: Int64(reader.nextText()) ?? 0, nanoseconds: UInt32(reader.nextText()) ?? 0)
        event = reader.nextText()
        code = reader.nextText()
        cause = reader.nextText()
        var facts: [(name: String, value: String)] = []
        while true {
            let name = reader.nextText()
            if name.isEmpty { break }
            facts.append((name, reader.nextText()))
        }
        self.facts = facts
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
