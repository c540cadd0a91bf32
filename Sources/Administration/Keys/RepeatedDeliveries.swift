import ByteCoding
import ContentKeys
import Records
import Synchronization
import Telemetry

/// Counts the deliveries that have no row of their own in the ledger: those of keys that the same client was given
/// again and again within a minute.
///
/// The first ones of a minute have rows, durable before the keys leave. Later one row for each key says how many more
/// there were, so that an encoder that asks a thousand times a second does not fill the ledger. A power cut loses such
/// a count. It never loses that the client was given the keys.
final class RepeatedDeliveries: Sendable {
    /// How many deliveries of a minute have rows of their own.
    static let ownRowsMaximum = 10
    static let window: Duration = .seconds(60)
    /// Further deliveries have rows of their own.
    static let capacity = 4_096

    /// What is the same in all deliveries that are counted together.
    struct Name: Hashable {
        let actor: String
        let manner: String
        let keyIDs: [KeyID]

        init(_ keys: [ContentKeyRecord], to client: KeyDesk.Client) {
            actor = client.actor
            manner = client.manner
            keyIDs = keys.map(\.keyID)
        }
    }

    /// Deliveries without rows of their own.
    struct Owed {
        let name: Name
        /// Rows of one of the deliveries that have some.
        let rows: [LedgerEntry]
        var count: UInt64
    }

    /// The deliveries of one name within a minute.
    final class Minute: Sendable {
        private struct Counts {
            var ownRows = 1
            var repeats: UInt64 = 0
            /// Whether the repeats were taken. A later one would be lost.
            var isClosed = false
        }

        let end: MonotonicTime
        /// Of its first delivery.
        let rows: [LedgerEntry]
        private let counts = Mutex(Counts())

        init(end: MonotonicTime, rows: [LedgerEntry]) {
            self.end = end
            self.rows = rows
        }

        /// Counts a delivery that needs no row of its own; returns false if it needs one.
        func count(at now: MonotonicTime) -> Bool {
            guard now < end else { return false }
            return counts.withLock { counts in
                guard !counts.isClosed, counts.ownRows >= RepeatedDeliveries.ownRowsMaximum else { return false }
                counts.repeats += 1
                return true
            }
        }

        fileprivate func noteRows() { counts.withLock { $0.ownRows += 1 } }

        /// Returns how many deliveries were counted, and counts no more.
        fileprivate func close() -> UInt64 {
            counts.withLock { counts in
                counts.isClosed = true
                return counts.repeats
            }
        }
    }

    private struct State {
        var minutes: [Name: Minute] = [:]
        /// Of minutes that have ended. The ledger lacks these.
        var owed: [Name: Owed] = [:]

        mutating func owe(_ minute: Minute, _ name: Name) {
            let count = minute.close()
            guard count > 0 else { return }
            owe(Owed(name: name, rows: minute.rows, count: count))
        }

        mutating func owe(_ part: Owed) {
            guard owed[part.name] == nil else {
                owed[part.name]?.count += part.count
                return
            }
            owed[part.name] = part
        }
    }

    private let clock: any MonotonicClock
    private let state = Mutex(State())

    init(clock: any MonotonicClock) {
        self.clock = clock
    }

    /// Counts a delivery that needs no row of its own, and returns the minute that counts it; nil if the delivery needs
    /// a row.
    func count(_ name: Name) -> Minute? {
        guard let minute = state.withLock({ $0.minutes[name] }), minute.count(at: clock.monotonicTime) else {
            return nil
        }
        return minute
    }

    /// A delivery has rows, which would outlive a power cut.
    func noteRows(_ rows: [LedgerEntry], of name: Name) {
        let now = clock.monotonicTime
        state.withLock { state in
            if let minute = state.minutes[name] {
                if now < minute.end {
                    minute.noteRows()
                    return
                }
                state.owe(minute, name)
            }
            guard state.minutes.count + state.owed.count < Self.capacity else {
                state.minutes[name] = nil
                return
            }
            state.minutes[name] = Minute(end: now + Self.window, rows: rows)
        }
    }

    /// What the ledger is to be told: of minutes that have ended, or else of all.
    func take(all: Bool) -> [Owed] {
        let now = clock.monotonicTime
        return state.withLock { state in
            for (name, minute) in state.minutes where all || minute.end <= now {
                state.minutes[name] = nil
                state.owe(minute, name)
            }
            defer { state.owed = [:] }
            return Array(state.owed.values)
        }
    }

    /// The ledger did not take these.
    func putBack(_ owed: some Sequence<Owed>) {
        state.withLock { state in for part in owed { state.owe(part) } }
    }
}
