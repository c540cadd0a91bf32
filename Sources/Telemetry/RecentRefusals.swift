import Synchronization

/// The last refusals with their causes, in memory: an operator finds one by its request id although the log is sampled.
///
/// Nothing in an entry is a secret, and nothing but numbers comes from the client. It has a fixed number of places, so strangers can push
/// entries out, but not make it grow: about 4 MiB with 10,000 entries.
package final class RecentRefusals: Sendable {
    /// One refusal.
    package struct Entry: Equatable, Sendable {
        package let requestID: String
        package let time: WallTime
        /// The kind of request, as the log names it.
        package let event: String
        /// The code that the client was told.
        package let code: String
        package let cause: String
        /// Further facts of the cause, as the log has them.
        package let numbers: [(name: String, value: String)]

        /// An entry; a longer cause is cut to 256 bytes.
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

    private struct Ring {
        var entries: [Entry] = []
        /// Where the next entry goes once all places are taken.
        var next = 0
    }

    private let capacity: Int
    private let ring = Mutex(Ring())

    /// A ring of so many places, at least one.
    package init(capacity: Int = 10_000) {
        precondition(capacity > 0, "a ring needs a place")
        self.capacity = capacity
    }

    /// How many refusals are kept.
    package var count: Int { ring.withLock { $0.entries.count } }

    /// Keeps a refusal in place of the oldest one.
    package func note(_ entry: Entry) {
        ring.withLock { ring in
            guard ring.entries.count == capacity else { return ring.entries.append(entry) }
            ring.entries[ring.next] = entry
            ring.next = (ring.next + 1) % capacity
        }
    }

    /// The refusal of this request; nil if it is not among the last ones.
    package func entry(of requestID: String) -> Entry? {
        ring.withLock { ring in ring.entries.first { $0.requestID == requestID } }
    }
}
