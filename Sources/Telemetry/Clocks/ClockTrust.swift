/// Decides whether the wall clock can be trusted, and keeps the settled time. It is a value: it takes readings of the
/// clocks and returns events.
///
/// `settled` is the time for deleting data. It never goes back. While the wall clock is trusted, `settled` follows it,
/// at most 0.1 % faster than the boot-time clock. Otherwise it advances with the boot-time clock alone, so that a step
/// of the wall clock never changes it. When the clock is trusted again, `settled` takes the wall clock's value if that
/// is later.
///
/// `reference` is the time that the wall clock must not be behind. It equals `settled`, with one exception: if the
/// clock is trusted again at an earlier time, `reference` goes back to that time, because the time before was wrong.
///
/// All times are in nanoseconds. Times of the wall clock count from 1970, times of the boot-time clock from the start
/// of the machine.
package struct ClockTrust: Equatable, Sendable {
    package struct Settings: Equatable, Sendable {
        /// The largest step of the wall clock against the boot-time clock after which it is still trusted.
        package var stepTolerance: Int64
        /// The time without a step after which the clock is trusted again.
        package var settleTime: Int64
        /// How far the clock may be behind `reference` while new licenses are still given.
        package var leeway: Int64

        /// By default a step of 30 seconds is tolerated, as a busy machine may have one, and trust returns after an
        /// hour.
        package init(
            stepTolerance: Duration = .seconds(30), settleTime: Duration = .seconds(3600), leeway: Duration
        ) {
            self.stepTolerance = stepTolerance.clampedNanoseconds
            self.settleTime = settleTime.clampedNanoseconds
            self.leeway = leeway.clampedNanoseconds
        }

        fileprivate init(stepTolerance: Int64, settleTime: Int64, leeway: Int64) {
            self.stepTolerance = stepTolerance
            self.settleTime = settleTime
            self.leeway = leeway
        }

        /// How long the kernel must report the clock as synchronised before it is trusted again.
        static let synchronisedTime: Int64 = 60_000_000_000
        /// The largest offset between the node's clock and the database's that causes no warning.
        static let databaseWarning: Int64 = 2_000_000_000
        /// The largest offset to the database's clock with which the node still counts.
        var databaseTolerance: Int64 { leeway + 5_000_000_000 }
    }

    /// The part of the state that a store keeps across a restart.
    package struct Memory: Equatable, Sendable {
        package var settled: Int64
        package var reference: Int64

        package init(settled: Int64, reference: Int64) {
            self.settled = settled
            self.reference = reference
        }
    }

    /// How far the clock can be trusted now.
    package enum Standing: String, Sendable, CaseIterable {
        case trusted
        /// Since the start, the clock is ahead of the time in the store by more than the tolerance for steps. That is
        /// right if the node was down for this time, so it is not an error. Nothing is deleted before the clock is
        /// trusted.
        case unproved
        /// The clock was stepped, but is not behind. Licenses are given, but nothing is deleted.
        case stepped
        /// The clock is behind `reference` by more than the leeway. Only renewals by session tokens are served.
        case behind
        /// The clocks of the node and of the database differ too much. The node counts nothing and deletes nothing.
        case apart
    }

    /// Why the clock is trusted again.
    package enum Cause: String, Sendable, CaseIterable {
        case backInTolerance = "back_in_tolerance"
        case synchronised
        case steady
        case accepted
    }

    /// How well the node's clock agrees with the database's.
    package enum Agreement: Int64, Sendable {
        case good
        /// The clocks differ enough for a warning.
        case warned
        /// The clocks differ too much for counting.
        case apart
    }

    package enum Event: Equatable, Sendable {
        /// The wall clock was stepped by this many nanoseconds against the boot-time clock. `wasTrusted` says whether
        /// it was trusted before.
        case stepped(by: Int64, wasTrusted: Bool)
        /// At the start, the wall clock differs by this many nanoseconds from the time in the store: it is ahead if
        /// positive, behind if negative.
        case differsAtStart(by: Int64)
        case trusted(Cause)
        /// The wall clock is behind `reference` by this many nanoseconds, which is more than the leeway.
        case fellBehind(by: Int64)
        case caughtUp
        /// The agreement with the database has changed. The node's clock is ahead of the database's by this many
        /// nanoseconds.
        case databaseOffset(Agreement, by: Int64)
    }

    /// What is known about a wall clock that is not trusted yet.
    private struct Proof: Equatable {
        /// The offset of the wall clock against the boot-time clock, since the last step.
        var offset: Int64
        /// When the last step was seen, on the boot-time clock.
        var steadySince: Int64
        /// Since when the kernel reports the clock as synchronised, on the boot-time clock; nil if it does not.
        var synchronisedSince: Int64?
    }

    private enum Phase: Equatable {
        /// The offset of the wall clock against the boot-time clock. It follows the wall clock by at most 0.1 % of the
        /// elapsed time, so that many small steps add up to one large step.
        case trusted(offset: Int64)
        /// The clock was stepped; before that it had this offset.
        case stepped(from: Int64, Proof)
        /// The clock has not been trusted since the start.
        case starting(Proof)
    }

    private struct DatabaseTime: Equatable {
        /// The offset of the database's clock against the node's boot-time clock.
        var offset: Int64
        /// By how much `offset` may be wrong, because the question and the answer took some time.
        var uncertainty: Int64
    }

    package var settings: Settings
    package private(set) var settled: Int64
    package private(set) var reference: Int64
    /// The last reading that was taken.
    private(set) var last: ClockReading
    private var phase: Phase
    private var database: DatabaseTime?
    private var agreement = Agreement.good
    private var wasBehind = false

    /// The state at the start. Without a memory the store is new: it has no data to lose, and the wall clock is the
    /// only source of the time.
    package init(_ settings: Settings, memory: Memory?, at reading: ClockReading) {
        self.settings = settings
        last = reading
        settled = memory?.settled ?? reading.wall
        reference = memory?.reference ?? reading.wall
        phase = .starting(Proof(offset: reading.offset, steadySince: reading.boot))
    }

    // MARK: What follows from it

    /// How far the clock can be trusted now.
    package var standing: Standing {
        if agreement == .apart { return .apart }
        if isBehind { return .behind }
        return switch phase {
        case .trusted: .trusted
        case .stepped: .stepped
        case .starting: .unproved
        }
    }

    /// Whether new licenses are refused.
    package var isBehind: Bool { last.wall < reference - settings.leeway }

    /// Whether the node may count in counters that all nodes share.
    package var mayCount: Bool { agreement != .apart }

    /// The time that decides what has ended. It is never later than `settled`, and never later than the wall clock,
    /// with which end times are set.
    package var endTime: Int64 { min(settled, last.wall) }

    /// Everything that ended by this time may be deleted; nil while nothing may be deleted.
    package var deletionTime: Int64? {
        guard case .trusted = phase, mayCount else { return nil }
        return endTime
    }

    /// The time for everything else: the wall clock's, or `reference` while the wall clock is behind.
    package var decisionTime: Int64 { isBehind ? reference : last.wall }

    package var memory: Memory { Memory(settled: settled, reference: reference) }

    /// By how much the wall clock is ahead of the time that follows from the boot-time clock; 0 while it is trusted.
    package var wallOffset: Int64 {
        switch phase {
        case .trusted: 0
        case .stepped(let from, _): last.offset - from
        case .starting: last.wall - reference
        }
    }

    /// By how much the node's clock is ahead of the database's; nil before that was measured.
    package var databaseOffset: Int64? { database.map { last.offset - $0.offset } }

    // MARK: Readings

    /// Takes a reading of the clocks. `isSynchronised` is what the kernel reports about the wall clock; nil if it was
    /// not asked.
    package mutating func observe(_ reading: ClockReading, isSynchronised: Bool? = nil) -> [Event] {
        let elapsed = max(0, reading.boot - last.boot)
        last = reading
        var events: [Event] = []
        switch phase {
        case .trusted(let offset): follow(from: offset, elapsed, &events)
        case .stepped(let from, let proof):
            advance(by: elapsed)
            if abs(reading.offset - from) <= settings.stepTolerance {
                phase = .trusted(offset: from)
                events.append(.trusted(.backInTolerance))
            } else {
                phase = .stepped(from: from, judged(proof, isSynchronised, &events))
            }
        case .starting(let proof):
            advance(by: elapsed)
            if abs(reading.wall - reference) <= settings.stepTolerance {
                believe(.backInTolerance, keepingReference: true, &events)
            } else {
                phase = .starting(judged(proof, isSynchronised, &events))
            }
        }
        proveIfDue(&events)
        compare(&events)
        return events
    }

    /// Takes the first reading and returns the events of the start, which are to be logged once.
    package mutating func begin() -> [Event] {
        let difference = last.wall - reference
        let isLarge = abs(difference) > settings.stepTolerance
        let events = observe(last)
        return isLarge ? [.differsAtStart(by: difference)] + events : events.filter { $0 != .trusted(.backInTolerance) }
    }

    /// Takes the time that the database reported. `asked` and `answered` are on the boot-time clock.
    package mutating func noteDatabase(time: Int64, asked: Int64, answered: Int64) -> [Event] {
        let uncertainty = max(0, answered - asked) / 2
        database = DatabaseTime(offset: time - (asked + uncertainty), uncertainty: uncertainty)
        var events: [Event] = []
        compare(&events)
        return events
    }

    /// Takes over the database's time that was measured before the start.
    mutating func takeDatabase(of other: ClockTrust) {
        database = other.database
    }

    /// An operator confirms that the wall clock is right. `offset` is its offset against the boot-time clock at that
    /// time; if the clock was stepped since then, nothing happens.
    package mutating func accept(offset: Int64) -> [Event] {
        guard abs(last.offset - offset) <= settings.stepTolerance else { return [] }
        var events: [Event] = []
        believe(.accepted, &events)
        compare(&events)
        return events
    }

    // MARK: Steps

    private mutating func follow(from offset: Int64, _ elapsed: Int64, _ events: inout [Event]) {
        let step = last.offset - offset
        guard abs(step) <= settings.stepTolerance else {
            phase = .stepped(from: offset, Proof(offset: last.offset, steadySince: last.boot))
            advance(by: elapsed)
            events.append(.stepped(by: step, wasTrusted: true))
            return
        }
        let correction = elapsed / 1000
        phase = .trusted(offset: offset + min(max(step, -correction), correction))
        // If the wall clock is a little behind, both times stay as they are until it catches up.
        settled = max(settled, min(last.wall, settled + elapsed + correction))
        reference = max(reference, min(last.wall, reference + elapsed + correction))
    }

    private mutating func advance(by elapsed: Int64) {
        settled += elapsed
        reference += elapsed
    }

    private func judged(_ proof: Proof, _ isSynchronised: Bool?, _ events: inout [Event]) -> Proof {
        var proof = proof
        let step = last.offset - proof.offset
        if abs(step) > settings.stepTolerance {
            proof = Proof(offset: last.offset, steadySince: last.boot)
            events.append(.stepped(by: step, wasTrusted: false))
        }
        switch isSynchronised {
        case .some(true): proof.synchronisedSince = proof.synchronisedSince ?? last.boot
        case .some(false): proof.synchronisedSince = nil
        case nil: break
        }
        return proof
    }

    private mutating func proveIfDue(_ events: inout [Event]) {
        let proof: Proof
        switch phase {
        case .trusted: return
        case .stepped(_, let given), .starting(let given): proof = given
        }
        if let since = proof.synchronisedSince, last.boot - since >= Settings.synchronisedTime {
            believe(.synchronised, &events)
        } else if last.boot - proof.steadySince >= settings.settleTime {
            believe(.steady, &events)
        }
    }

    private mutating func believe(_ cause: Cause, keepingReference: Bool = false, _ events: inout [Event]) {
        phase = .trusted(offset: last.offset)
        settled = max(settled, last.wall)
        reference = keepingReference ? max(reference, last.wall) : last.wall
        events.append(.trusted(cause))
    }

    // MARK: Comparisons

    private mutating func compare(_ events: inout [Event]) {
        if isBehind != wasBehind {
            wasBehind.toggle()
            events.append(wasBehind ? .fellBehind(by: reference - last.wall) : .caughtUp)
        }
        guard let database, let offset = databaseOffset else { return }
        let excess = abs(offset) - database.uncertainty
        let new: Agreement =
            excess > settings.databaseTolerance ? .apart : excess > Settings.databaseWarning ? .warned : .good
        guard new != agreement else { return }
        agreement = new
        events.append(.databaseOffset(new, by: offset))
    }
}

// MARK: - As words

/// The whole state as 64-bit words, so that `PublishedWords` can give it to readers that take no lock.
extension ClockTrust {
    typealias Words = InlineArray<14, Int64>

    /// Stands for a missing moment. No moment has this value, because moments are limited to 2^62.
    private static let noMoment = Int64.min

    private enum PhaseWord: Int64 {
        case trusted
        case stepped
        case starting
    }

    var words: Words {
        let kind: PhaseWord
        var from: Int64 = 0
        var proof: Proof?
        switch phase {
        case .trusted(let offset): (kind, from) = (.trusted, offset)
        case .stepped(let offset, let given): (kind, from, proof) = (.stepped, offset, given)
        case .starting(let given): (kind, proof) = (.starting, given)
        }
        return [
            settings.stepTolerance, settings.settleTime, settings.leeway, settled, reference, last.wall, last.boot,
            kind.rawValue << 3 | agreement.rawValue << 1 | (wasBehind ? 1 : 0), from, proof?.offset ?? 0,
            proof?.steadySince ?? 0, proof?.synchronisedSince ?? Self.noMoment, database?.offset ?? 0,
            database?.uncertainty ?? Self.noMoment,
        ]
    }

    /// The state from which these words were made; nil for words that no state has.
    init?(words: Words) {
        guard let kind = PhaseWord(rawValue: words[7] >> 3), let agreement = Agreement(rawValue: words[7] >> 1 & 3)
        else { return nil }
        settings = Settings(stepTolerance: words[0], settleTime: words[1], leeway: words[2])
        settled = words[3]
        reference = words[4]
        last = ClockReading(wallNanoseconds: words[5], bootNanoseconds: words[6])
        let proof = Proof(
            offset: words[9], steadySince: words[10], synchronisedSince: words[11] == Self.noMoment ? nil : words[11])
        phase =
            switch kind {
            case .trusted: .trusted(offset: words[8])
            case .stepped: .stepped(from: words[8], proof)
            case .starting: .starting(proof)
            }
        database = words[13] == Self.noMoment ? nil : DatabaseTime(offset: words[12], uncertainty: words[13])
        self.agreement = agreement
        wasBehind = words[7] & 1 == 1
    }
}
