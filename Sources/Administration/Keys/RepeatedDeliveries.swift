import ByteCoding
import ContentKeys
import Records
import Synchronization
import Telemetry

/// Counts deliveries that have no ledger row of their own, because the same client gets the same keys again and again
/// within a minute.
///
/// The first deliveries of a minute have rows, which are durable before the keys are returned. Later, one row for each
/// key says how many further deliveries there were. An encoder that asks a thousand times a second therefore does not
/// fill the ledger. A power cut may lose such a count, but never the fact that the client got the keys.
final class RepeatedDeliveries: Sendable {
    /// The number of deliveries in a minute that have rows of their own.
    static let ownRowsMaximum = 10
    static let window: Duration = .seconds(60)
    /// The largest number of counted names. Deliveries beyond it have rows of their own.
    static let capacity = 4_096

    /// Identifies deliveries that are counted together.
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

    /// Deliveries that are counted and not recorded yet.
    struct Owed {
        let name: Name
        /// The rows of the first delivery of the minute.
        let rows: [LedgerEntry]
        var count: UInt64
    }

    /// The deliveries of one name within a minute.
    final class Minute: Sendable {
        private struct Counts {
            var ownRows = 1
            var repeats: UInt64 = 0
            /// Whether the number of repetitions was taken. A later repetition would be lost.
            var isClosed = false
        }

        let end: MonotonicTime
        /// The rows of the first delivery.
        let rows: [LedgerEntry]
        private let counts = Mutex(Counts())

        init(end: MonotonicTime, rows: [LedgerEntry]) {
            self.end = end
            self.rows = rows
        }

        /// Counts a delivery that needs no row of its own. Returns false if the delivery needs a row.
        func count(at now: MonotonicTime) -> Bool {
            guard now < end else { return false }
            return counts.withLock { counts in
                guard !counts.isClosed, counts.ownRows >= RepeatedDeliveries.ownRowsMaximum else { return false }
                counts.repeats += 1
                return true
            }
        }

        fileprivate func noteRows() { counts.withLock { $0.ownRows += 1 } }

        /// Returns the number of counted deliveries. Later deliveries are not counted here.
        fileprivate func close() -> UInt64 {
            counts.withLock { counts in
                counts.isClosed = true
                return counts.repeats
            }
        }
    }

    private struct State {
        var minutes: [Name: Minute] = [:]
        /// The counts of minutes that have ended and are not in the ledger yet.
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

    /// Counts a delivery that needs no row of its own, and returns the minute that counts it. Returns nil if the
    /// delivery needs a row.
    func count(_ name: Name) -> Minute? {
        guard let minute = state.withLock({ $0.minutes[name] }), minute.count(at: clock.monotonicTime) else {
            return nil
        }
        return minute
    }

    /// Notes that a delivery has durable rows.
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

    /// Removes and returns the counts that the ledger must record: of minutes that have ended, or of all.
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

    /// Puts back counts that the ledger has not recorded.
    func putBack(_ owed: some Sequence<Owed>) {
        state.withLock { state in for part in owed { state.owe(part) } }
    }
}
