import Glibc
import Synchronization

/// The wall clock of a node, watched by `ClockTrust`. Each call that asks for the time takes a reading of the clocks,
/// so that every step is noticed before a decision.
///
/// Such a call normally waits for no lock. It applies its reading to a copy of the last published state. If the reading
/// causes an event, the call takes the lock and a second reading, so that each event is reported once. If it causes no
/// event, the copy is as good as the state itself and is not stored. When the stored reading is 10 ms old, the next
/// call stores its own, unless another thread holds the lock. So a call misses at most 10 ms by which `settled` and
/// `reference` have advanced.
///
/// Before `start` the clock is the wall clock, and nothing may be deleted.
package final class TrustedClock: WallClock {
    package typealias Report = @Sendable (ClockTrust.Event) -> Void

    private struct State {
        var trust: ClockTrust
        var hasStarted = false
    }

    private let wall: any WallClock
    private let boot: any MonotonicClock
    private let report: Report
    private let state: Mutex<State>
    /// The state after the last reading that was stored. It is written with the lock of `state` held, and only after
    /// `start`.
    private let published = PublishedWords<14>()
    /// A call stores its reading if the stored one is at least this many nanoseconds old: 10 ms.
    private static let storePeriod: Int64 = 10_000_000

    /// `report` is called with each event, on the thread that made the reading.
    package init(
        _ settings: ClockTrust.Settings, wall: any WallClock = SystemWallClock(),
        boot: any MonotonicClock = SystemBootClock(), report: @escaping Report = { _ in }
    ) {
        self.wall = wall
        self.boot = boot
        self.report = report
        let reading = ClockReading(wall: wall.wallTime, boot: boot.monotonicTime)
        state = Mutex(State(trust: ClockTrust(settings, memory: nil, at: reading)))
    }

    /// Begins to compare the clock with the times that the store has kept. Without a memory the store is new.
    package func start(_ memory: ClockTrust.Memory?) {
        change { state in
            let old = state.trust
            state.trust = ClockTrust(old.settings, memory: memory, at: self.reading)
            state.trust.takeDatabase(of: old)
            state.hasStarted = true
            return state.trust.begin()
        }
    }

    // MARK: Times

    /// The time for decisions: the wall clock's, or the reference time while the wall clock is behind.
    package var wallTime: WallTime { WallTime(nanosecondsSince1970: now(\.decisionTime)) }

    /// The time that decides what has ended, in seconds since 1970.
    package var endTime: Int64 { WallTime(nanosecondsSince1970: now(\.endTime)).seconds }

    /// Everything that ended by this time may be deleted, in seconds since 1970; nil while nothing may be deleted.
    package var deletionTime: Int64? {
        observe { state in state.hasStarted ? state.trust.deletionTime : nil }
            .map { WallTime(nanosecondsSince1970: $0).seconds }
    }

    /// The range in which the true time lies, in seconds since 1970: from `endTime` to the time for decisions. With a
    /// trusted clock both are the same, except for the leeway.
    package var possibleTimes: ClosedRange<Int64> {
        let trust = now(\.self)
        let end = WallTime(nanosecondsSince1970: trust.endTime).seconds
        return end...max(end, WallTime(nanosecondsSince1970: trust.decisionTime).seconds)
    }

    /// Whether new licenses are refused, because the clock is behind.
    package var isBehind: Bool { now(\.isBehind) }

    /// Whether the node may count in counters that all nodes share.
    package var mayCount: Bool { now(\.mayCount) }

    /// The state after a reading of the clocks.
    package var trust: ClockTrust { now(\.self) }

    // MARK: Events

    /// Takes what the kernel reports about the wall clock. To be called about every second.
    package func tick(isSynchronised: Bool) {
        change { $0.trust.observe(self.reading, isSynchronised: isSynchronised) }
    }

    /// Takes the database's time, in nanoseconds since 1970. `asked` and `answered` are the moments of the question and
    /// the answer on the boot-time clock.
    package func noteDatabase(time: Int64, asked: MonotonicTime, answered: MonotonicTime) {
        change { state in
            state.trust.observe(self.reading)
                + state.trust.noteDatabase(time: time, asked: asked.nanoseconds, answered: answered.nanoseconds)
        }
    }

    /// An operator has accepted a wall clock with this offset against the boot-time clock, in nanoseconds.
    package func accept(offset: Int64) {
        change { state in state.trust.observe(self.reading) + state.trust.accept(offset: offset) }
    }

    /// Sets the leeway, which a reload of the configuration may change.
    package func setLeeway(_ leeway: Duration) {
        change { state in
            state.trust.settings.leeway = leeway.clampedNanoseconds
            return state.trust.observe(self.reading)
        }
    }

    private var reading: ClockReading { ClockReading(wall: wall.wallTime, boot: boot.monotonicTime) }

    private func now<Value: Sendable>(_ value: @Sendable (ClockTrust) -> Value) -> Value {
        guard let look = quietLook() else { return observe { value($0.trust) } }
        return value(look)
    }

    /// The state after a reading that causes no event; nil if it causes one, or if no state is published.
    private func quietLook() -> ClockTrust? {
        let reading = reading
        guard let words = published.value, var trust = ClockTrust(words: words) else { return nil }
        let age = reading.boot - trust.last.boot
        guard trust.observe(reading).isEmpty else { return nil }
        if age >= Self.storePeriod { storeIfFree() }
        return trust
    }

    /// Takes a reading and stores it, unless another thread holds the lock.
    private func storeIfFree() {
        guard let events = state.withLockIfAvailable({ takeReading(&$0) }) else { return }
        for event in events { report(event) }
    }

    private func observe<Value: Sendable>(_ value: @Sendable (State) -> Value) -> Value {
        let (result, events) = state.withLock { state in
            let events = takeReading(&state)
            return (value(state), events)
        }
        for event in events { report(event) }
        return result
    }

    private func takeReading(_ state: inout State) -> [ClockTrust.Event] {
        let events = state.trust.observe(reading)
        publish(state)
        return state.hasStarted ? events : []
    }

    private func change(_ body: @Sendable (inout State) -> [ClockTrust.Event]) {
        let events = state.withLock { state in
            let events = body(&state)
            publish(state)
            return events
        }
        for event in events { report(event) }
    }

    /// To be called with the lock held, so that there is only one writer at a time.
    private func publish(_ state: State) {
        if state.hasStarted { published.publish(state.trust.words) }
    }
}

/// The machine's boot-time clock (`CLOCK_BOOTTIME`). It is never set, and it continues while the machine is suspended.
package struct SystemBootClock: MonotonicClock {
    /// The clock; it has no state.
    package init() {}

    /// The time since the machine was started; from any thread.
    package var monotonicTime: MonotonicTime {
        let time = timespec.now(of: CLOCK_BOOTTIME)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

/// The wall clock and the boot-time clock at one moment, in nanoseconds. Values are limited to 146 years from the
/// clock's origin.
package struct ClockReading: Equatable, Sendable {
    /// Since 1970-01-01T00:00:00Z.
    package let wall: Int64
    /// Since the machine was started.
    package let boot: Int64

    package init(wall: WallTime, boot: MonotonicTime) {
        self.wall = wall.clampedNanoseconds
        self.boot = min(max(boot.nanoseconds, 0), WallTime.nanosecondsMaximum)
    }

    init(wallNanoseconds: Int64, bootNanoseconds: Int64) {
        wall = wallNanoseconds
        boot = bootNanoseconds
    }

    /// When the machine was started, according to the wall clock. It changes only when the wall clock is stepped or
    /// adjusted.
    package var offset: Int64 { wall - boot }
}

extension WallTime {
    /// The limit of nanoseconds in a reading, so that the sum of two such numbers does not overflow.
    fileprivate static let nanosecondsMaximum: Int64 = 1 << 62

    /// Nanoseconds since 1970, limited to 146 years in either direction.
    package var clampedNanoseconds: Int64 {
        let limit = Self.nanosecondsMaximum / 1_000_000_000 - 1
        return min(max(seconds, -limit), limit) * 1_000_000_000 + Int64(nanoseconds)
    }

    /// The moment this many nanoseconds after 1970-01-01T00:00:00Z, or before if negative.
    package init(nanosecondsSince1970 nanoseconds: Int64) {
        let seconds = nanoseconds >= 0 ? nanoseconds / 1_000_000_000 : -((-nanoseconds + 999_999_999) / 1_000_000_000)
        self.init(seconds: seconds, nanoseconds: UInt32(nanoseconds - seconds * 1_000_000_000))
    }
}

/// A sequence lock: a value of a few 64-bit words that one thread at a time writes and any thread reads without a lock.
///
/// The sequence number is odd while a value is written. If a reader sees an odd number, or different numbers before and
/// after its copy, the copy may have parts of two values: the reader drops it and tries again. Each word is atomic, so
/// there is no data race.
final class PublishedWords<let count: Int>: Sendable {
    /// The sequence number; it is also odd before the first value.
    private let sequence = Atomic<UInt>(1)
    private let words = InlineArray<count, Atomic<Int64>> { _ in Atomic(0) }

    /// How often a reader tries. After that it must take the writers' lock.
    private static var readsMaximum: Int { 3 }

    /// Publishes a value. The caller makes sure that no other thread does so at the same time.
    func publish(_ value: InlineArray<count, Int64>) {
        let next = (sequence.load(ordering: .relaxed) | 1) &+ 1
        sequence.store(next &- 1, ordering: .relaxed)
        // A reader that sees one of the new words then also sees the odd sequence number.
        atomicMemoryFence(ordering: .releasing)
        for index in value.indices { words[index].store(value[index], ordering: .relaxed) }
        sequence.store(next, ordering: .releasing)
    }

    /// The value that was published last; nil before the first one, or if writers interrupted every attempt to read.
    var value: InlineArray<count, Int64>? {
        for _ in 0..<Self.readsMaximum {
            let before = sequence.load(ordering: .acquiring)
            guard before.isMultiple(of: 2) else { continue }
            let copy = InlineArray<count, Int64> { words[$0].load(ordering: .relaxed) }
            atomicMemoryFence(ordering: .acquiring)
            if sequence.load(ordering: .relaxed) == before { return copy }
        }
        return nil
    }
}
