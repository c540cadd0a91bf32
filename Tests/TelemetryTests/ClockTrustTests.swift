import Foundation
import Synchronization
import Telemetry
import TestSupport
import Testing

/// Whether a clock is trusted, tested with scripts of readings. Every length is in seconds, and time passes only as a
/// script says.
@Suite struct ClockTrustTests {
    private static let start: Int64 = 1_800_000_000
    private static let day: Int64 = 86_400

    /// A node with its own clocks. The boot-time clock advances with the wall clock unless a script steps the wall
    /// clock.
    private struct Script {
        var wall: Int64
        var boot: Int64 = 5000
        var trust: ClockTrust
        var events: [ClockTrust.Event] = []

        /// - Parameter stored: The time in the store, or nil for a new store.
        init(wall: Int64 = start, stored: Int64? = start, leeway: Int64 = 5) {
            self.wall = wall
            trust = ClockTrust(
                .init(stepTolerance: .seconds(30), settleTime: .seconds(3600), leeway: .seconds(leeway)),
                memory: stored.map { ClockTrust.Memory(settled: nanoseconds($0), reference: nanoseconds($0)) },
                at: Self.reading(wall, 5000))
            events = trust.begin()
        }

        mutating func step(_ seconds: Int64) {
            wall += seconds
            observe()
        }

        /// Lets time pass, second by second.
        mutating func pass(_ seconds: Int64, synchronised: Bool = false) {
            for _ in 0..<seconds {
                wall += 1
                boot += 1
                observe(synchronised)
            }
        }

        mutating func observe(_ isSynchronised: Bool? = nil) {
            events += trust.observe(Self.reading(wall, boot), isSynchronised: isSynchronised)
        }

        mutating func accept() {
            events += trust.accept(offset: nanoseconds(wall - boot))
        }

        /// Notes a measurement of the database's clock. `seconds` is the database's clock minus the wall clock.
        mutating func noteDatabase(ahead seconds: Int64, roundTrip: Int64 = 0) {
            events += trust.noteDatabase(
                time: nanoseconds(wall + seconds), asked: nanoseconds(boot - roundTrip), answered: nanoseconds(boot))
        }

        mutating func takeEvents() -> [ClockTrust.Event] {
            defer { events = [] }
            return events
        }

        var settled: Int64 { seconds(trust.settled) }
        var endTime: Int64 { seconds(trust.endTime) }
        var decisionTime: Int64 { seconds(trust.decisionTime) }
        var mayDelete: Bool { trust.deletionTime != nil }

        private static func reading(_ wall: Int64, _ boot: Int64) -> ClockReading {
            ClockReading(wall: WallTime(seconds: wall), boot: MonotonicTime(nanoseconds: nanoseconds(boot)))
        }
    }

    private static func nanoseconds(_ seconds: Int64) -> Int64 { seconds * 1_000_000_000 }
    private static func seconds(_ nanoseconds: Int64) -> Int64 { WallTime(nanosecondsSince1970: nanoseconds).seconds }

    // MARK: Trusted

    @Test func followsAClockThatIsNeverStepped() {
        var node = Script()
        node.pass(1000)
        #expect(node.trust.standing == .trusted && node.mayDelete)
        #expect(node.settled == Self.start + 1000 && node.endTime == Self.start + 1000)
        #expect(node.takeEvents() == [])
    }

    @Test(arguments: [10, 30])
    func followsASmallStepAheadSlowly(step: Int64) {
        var node = Script()
        node.step(step)
        node.pass(1000)
        #expect(node.trust.standing == .trusted)
        #expect(node.settled == Self.start + 1001)
        node.pass(40_000)
        #expect(node.settled == node.wall)
        #expect(node.takeEvents() == [])
    }

    /// As the row for clocks in the table of outages says, new licenses wait until time has passed the highest time
    /// seen.
    @Test func waitsForAClockThatIsALittleBehind() {
        var node = Script()
        node.step(-10)
        #expect(node.trust.standing == .behind && node.trust.isBehind)
        #expect(node.decisionTime == Self.start && node.endTime == Self.start - 10)
        node.pass(4)
        #expect(node.trust.isBehind)
        node.pass(1)
        #expect(!node.trust.isBehind && node.settled == Self.start)
        node.pass(10)
        #expect(node.settled == Self.start + 5)
        #expect(node.takeEvents() == [.fellBehind(by: Self.nanoseconds(10)), .caughtUp])
    }

    @Test func addsUpManySmallSteps() {
        var node = Script()
        node.step(25)
        node.pass(10)
        #expect(node.trust.standing == .trusted)
        node.step(25)
        #expect(node.trust.standing == .stepped)
    }

    // MARK: Stepped

    @Test(arguments: [31, 600, 7200, 60 * day, 500 * day])
    func deletesNothingAfterAStepAhead(step: Int64) {
        var node = Script()
        node.step(step)
        #expect(node.takeEvents() == [.stepped(by: Self.nanoseconds(step), wasTrusted: true)])
        node.pass(10)
        #expect(node.trust.standing == .stepped && !node.mayDelete && !node.trust.isBehind)
        #expect(node.endTime == Self.start + 10, "what ends is judged as if there had been no step")
        #expect(node.decisionTime == node.wall, "tokens are judged by the wall clock")
        node.step(-step)
        #expect(node.trust.standing == .trusted && node.mayDelete && node.settled == Self.start + 10)
        #expect(node.takeEvents() == [.trusted(.backInTolerance)])
    }

    @Test(arguments: [31, 7200, 25 * 365 * day])
    func servesOnlyRenewalsAfterAStepBack(step: Int64) {
        var node = Script()
        node.step(-step)
        node.pass(10)
        #expect(node.trust.standing == .behind && !node.mayDelete && node.trust.isBehind)
        #expect(node.decisionTime == Self.start + 10, "renewals are judged by the time that it should be")
        #expect(node.endTime == node.wall)
        node.step(step)
        #expect(node.trust.standing == .trusted && node.settled == Self.start + 10)
        #expect(
            node.takeEvents() == [
                .stepped(by: Self.nanoseconds(-step), wasTrusted: true), .fellBehind(by: Self.nanoseconds(step)),
                .trusted(.backInTolerance), .caughtUp,
            ])
    }

    @Test func noticesEveryFurtherStep() {
        var node = Script()
        node.step(100)
        node.pass(5)
        node.step(1000)
        #expect(
            node.takeEvents() == [
                .stepped(by: Self.nanoseconds(100), wasTrusted: true),
                .stepped(by: Self.nanoseconds(1000), wasTrusted: false),
            ])
    }

    // MARK: Trust returns

    @Test(arguments: [-7200, 7200])
    func trustsAClockThatTheKernelHasReportedSynchronisedForAMinute(step: Int64) {
        var node = Script()
        node.step(step)
        node.pass(30, synchronised: true)
        node.pass(1, synchronised: false)
        node.pass(60, synchronised: true)
        #expect(node.trust.standing == (step < 0 ? .behind : .stepped))
        node.pass(1, synchronised: true)
        #expect(node.trust.standing == .trusted && node.mayDelete && !node.trust.isBehind)
        #expect(node.takeEvents().contains(.trusted(.synchronised)))
        #expect(node.settled == max(node.wall, Self.start + 92), "settled never goes back")
        #expect(node.endTime == node.wall)
    }

    @Test func aStepBeginsTheMinuteAgain() {
        var node = Script()
        node.step(7200)
        node.pass(59, synchronised: true)
        node.step(7200)
        node.pass(60, synchronised: true)
        #expect(node.trust.standing == .stepped)
        node.pass(1, synchronised: true)
        #expect(node.trust.standing == .trusted)
    }

    @Test func trustsASteadyClock() {
        var node = Script()
        node.step(-7200)
        node.pass(3599)
        #expect(node.trust.isBehind)
        node.pass(1)
        #expect(node.trust.standing == .trusted && !node.trust.isBehind)
        #expect(node.takeEvents().contains(.trusted(.steady)))
    }

    @Test func trustsAClockThatAnOperatorAccepts() {
        var node = Script()
        node.step(500 * Self.day)
        node.accept()
        #expect(node.trust.standing == .trusted && node.settled == node.wall && node.mayDelete)
        #expect(node.takeEvents().last == .trusted(.accepted))
    }

    @Test func ignoresAnAcceptanceOfAClockThatWasSteppedSince() {
        var node = Script()
        node.step(7200)
        let offset = Self.nanoseconds(node.wall - node.boot)
        node.step(7200)
        #expect(node.trust.accept(offset: offset) == [])
        #expect(node.trust.standing == .stepped)
    }

    /// The settled time stays. The earlier clock, which sets new ends, decides what has ended.
    @Test func aClockThatWasWronglyAheadCostsNoOutage() {
        var node = Script()
        node.step(60 * Self.day)
        node.accept()
        node.step(-60 * Self.day)
        #expect(node.trust.isBehind)
        node.pass(61, synchronised: true)
        #expect(!node.trust.isBehind && node.trust.standing == .trusted)
        #expect(node.settled >= Self.start + 60 * Self.day && node.endTime == node.wall)
        node.pass(1000)
        #expect(node.trust.standing == .trusted && node.endTime == node.wall)
        #expect(node.trust.memory.reference == Self.nanoseconds(node.wall))
    }

    // MARK: The start

    @Test func trustsTheClockAtAStartSoonAfterTheStop() {
        var node = Script(wall: Self.start + 20)
        #expect(node.trust.standing == .trusted && node.mayDelete && node.settled == Self.start + 20)
        #expect(node.takeEvents() == [])
    }

    @Test func takesTheClockForANewStore() {
        let node = Script(stored: nil)
        #expect(node.trust.standing == .trusted && node.settled == Self.start && node.events == [])
    }

    @Test(arguments: [600, 60 * day, 500 * day])
    func deletesNothingAfterAStartAheadBeforeTheClockIsProved(ahead: Int64) {
        var node = Script(wall: Self.start + ahead)
        #expect(node.takeEvents() == [.differsAtStart(by: Self.nanoseconds(ahead))])
        node.pass(100)
        #expect(node.trust.standing == .unproved && !node.mayDelete && node.endTime == Self.start + 100)
        #expect(!node.trust.isBehind)
        node.pass(61, synchronised: true)
        #expect(node.trust.standing == .trusted && node.settled == node.wall)
        #expect(node.takeEvents() == [.trusted(.synchronised)])
    }

    @Test(arguments: [31, 7200, 25 * 365 * day])
    func servesOnlyRenewalsAfterAStartBehind(behind: Int64) {
        var node = Script(wall: Self.start - behind)
        #expect(node.trust.standing == .behind && !node.mayDelete)
        #expect(
            node.takeEvents() == [
                .differsAtStart(by: Self.nanoseconds(-behind)), .fellBehind(by: Self.nanoseconds(behind)),
            ])
        node.step(behind)
        #expect(node.trust.standing == .trusted && node.takeEvents() == [.trusted(.backInTolerance), .caughtUp])
    }

    /// The time service corrects a clock that was wrong when the machine started.
    @Test(arguments: [-7200, 500 * day])
    func aClockThatIsCorrectedAfterTheStartServesAtOnce(wrong: Int64) {
        let down = Int64(600)
        var node = Script(wall: Self.start + down + wrong)
        node.pass(5)
        node.step(-wrong)
        #expect(!node.trust.isBehind && node.trust.standing == .unproved)
        node.pass(61, synchronised: true)
        #expect(node.trust.standing == .trusted)
    }

    // MARK: The database

    @Test func countsNothingWhileTheDatabaseDiffers() {
        var node = Script()
        node.noteDatabase(ahead: 1)
        #expect(node.takeEvents() == [] && node.trust.mayCount)
        node.noteDatabase(ahead: 3)
        #expect(node.takeEvents() == [.databaseOffset(.warned, by: Self.nanoseconds(-3))])
        node.noteDatabase(ahead: 10)
        #expect(node.trust.mayCount && node.trust.standing == .trusted && node.takeEvents() == [])
        node.noteDatabase(ahead: 11)
        #expect(!node.trust.mayCount && node.trust.standing == .apart && !node.mayDelete)
        #expect(node.takeEvents() == [.databaseOffset(.apart, by: Self.nanoseconds(-11))])
        node.noteDatabase(ahead: 0)
        #expect(node.trust.mayCount && node.mayDelete)
        #expect(node.takeEvents() == [.databaseOffset(.good, by: 0)])
    }

    /// The offset is known immediately, not only at the next measurement.
    @Test func countsNothingFromItsOwnStepOn() {
        var node = Script()
        node.noteDatabase(ahead: 0)
        node.pass(10)
        #expect(node.trust.mayCount)
        node.step(15)
        #expect(!node.trust.mayCount && node.trust.databaseOffset == Self.nanoseconds(15))
        node.step(-15)
        #expect(node.trust.mayCount)
    }

    @Test func doubtsAnAnswerThatWasLongUnderWay() {
        var node = Script()
        node.noteDatabase(ahead: 10, roundTrip: 20)
        #expect(node.trust.mayCount)
    }

    @Test func countsByTheLeeway() {
        var node = Script(leeway: 60)
        node.noteDatabase(ahead: 65)
        #expect(node.trust.mayCount)
        node.noteDatabase(ahead: 66)
        #expect(!node.trust.mayCount)
    }

    // MARK: Always

    /// For all behaviour of clocks in legal orders: the settled time never goes back, and never runs ahead of the
    /// boot-time clock except by an acceptance or a proof. Nothing is deleted by a time that no trusted clock has
    /// shown.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func settledNeverGoesBackNorAheadByItself(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var node = Script(wall: Self.start + Int64.random(in: -100_000...100_000, using: &random))
        var settled = node.trust.settled
        var checked = 0
        for _ in 0..<200 {
            let boot = node.boot
            node.events = []
            switch Int.random(in: 0..<10, using: &random) {
            case 0: node.step(Int64.random(in: -40...40, using: &random))
            case 1: node.step(Int64.random(in: -1_000_000...1_000_000, using: &random))
            case 2: node.accept()
            case 3: node.noteDatabase(ahead: Int64.random(in: -20...20, using: &random))
            case 4: node.pass(61, synchronised: true)
            default: node.pass(Int64.random(in: 1...20, using: &random))
            }
            #expect(node.trust.settled >= settled)
            let isProved = node.events.contains { if case .trusted = $0 { true } else { false } }
            if !isProved {
                let elapsed = Self.nanoseconds(node.boot - boot)
                #expect(node.trust.settled - settled <= elapsed + elapsed / 1000)
            }
            if let deletion = node.trust.deletionTime { #expect(deletion <= node.trust.settled) }
            settled = node.trust.settled
            checked += 1
        }
        #expect(checked == 200)
    }
}

/// The clock that takes readings and decides whether to trust them.
@Suite struct TrustedClockTests {
    private let manual = ManualClock()
    private let events = MemoryEvents()

    private func clock() -> TrustedClock {
        TrustedClock(
            .init(stepTolerance: .seconds(30), settleTime: .seconds(3600), leeway: .seconds(5)), wall: manual,
            boot: manual, report: { [events] in events.append($0) })
    }

    private func set(_ offset: Int64) {
        manual.setWallTime(WallTime(seconds: manual.wallTime.seconds + offset))
    }

    @Test func noticesAStepAtTheVeryNextLook() {
        let clock = clock()
        clock.start(nil)
        let before = manual.wallTime.seconds
        set(5_184_000)
        #expect(clock.deletionTime == nil && clock.endTime == before)
        #expect(clock.wallTime == manual.wallTime)
        #expect(events.all == [.stepped(by: 5_184_000_000_000_000, wasTrusted: true)])
        set(-5_184_000 - 7200)
        #expect(clock.isBehind && clock.wallTime.seconds == before)
    }

    @Test func deletesNothingBeforeItKnowsTheStore() {
        let clock = clock()
        #expect(clock.deletionTime == nil)
        clock.start(nil)
        #expect(clock.deletionTime == manual.wallTime.seconds)
    }

    @Test func keepsWhatTheDatabaseSaidBeforeTheStart() {
        let clock = clock()
        let moment = manual.monotonicTime
        clock.noteDatabase(time: manual.wallTime.clampedNanoseconds + 60_000_000_000, asked: moment, answered: moment)
        clock.start(nil)
        #expect(!clock.mayCount)
    }

    @Test func takesAnotherLeeway() {
        let clock = clock()
        clock.start(nil)
        set(-10)
        #expect(clock.isBehind)
        clock.setLeeway(.seconds(10))
        #expect(!clock.isBehind)
    }

    /// A loop that reads the time does not wait for a thread that is about to store a reading.
    @Test(.timeLimit(.minutes(1)))
    func aLookWaitsForNoOtherThread() async {
        let held = HeldClock()
        let clock = TrustedClock(
            .init(stepTolerance: .seconds(30), settleTime: .seconds(3600), leeway: .seconds(5)), wall: held,
            boot: manual)
        clock.start(nil)
        held.holdNextReading()
        let thread = Thread { clock.tick(isSynchronised: true) }
        thread.start()
        held.waitForReading()
        #expect(clock.wallTime == held.wallTime && clock.endTime == held.wallTime.seconds)
        #expect(!clock.isBehind && clock.mayCount)
        held.letGo()
    }

    /// Most readings are not stored, but they decide and report like a state that takes each reading.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func decidesAsIfEachLookWereStored(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let clock = clock()
        var trust = ClockTrust(
            .init(stepTolerance: .seconds(30), settleTime: .seconds(3600), leeway: .seconds(5)), memory: nil,
            at: ClockReading(wall: manual.wallTime, boot: manual.monotonicTime))
        var expected = trust.begin()
        clock.start(nil)
        for _ in 0..<300 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: set(Int64.random(in: -100...100, using: &random))
            case 1: set(Int64.random(in: -1_000_000...1_000_000, using: &random))
            case 2: manual.advance(by: .seconds(Int64.random(in: 1...4000, using: &random)))
            case 3: manual.advance(by: .milliseconds(Int64.random(in: 10...1000, using: &random)))
            default: manual.advance(by: .microseconds(Int64.random(in: 0...5000, using: &random)))
            }
            let reading = ClockReading(wall: manual.wallTime, boot: manual.monotonicTime)
            expected += trust.observe(reading)
            #expect(clock.wallTime == WallTime(nanosecondsSince1970: trust.decisionTime))
            #expect(clock.endTime == WallTime(nanosecondsSince1970: trust.endTime).seconds)
            #expect(clock.isBehind == trust.isBehind)
            #expect(clock.trust.standing == trust.standing)
            #expect((clock.deletionTime == nil) == (trust.deletionTime == nil))
        }
        #expect(events.all == expected)
    }

    @Test(arguments: [0, 1, -1, 1_800_000_000, -25 * 365 * 86_400])
    func nanosecondsAndBack(seconds: Int64) {
        for part in [0, 1, 999_999_999] as [UInt32] {
            let time = WallTime(seconds: seconds, nanoseconds: part)
            #expect(WallTime(nanosecondsSince1970: time.clampedNanoseconds) == time)
        }
    }
}

private final class MemoryEvents: Sendable {
    private let list = Mutex<[ClockTrust.Event]>([])

    func append(_ event: ClockTrust.Event) { list.withLock { $0.append(event) } }
    var all: [ClockTrust.Event] { list.withLock { $0 } }
}

/// A wall clock one of whose readings can be delayed.
private final class HeldClock: WallClock {
    private enum State {
        case free, armed, held
    }

    private let state = Monitor(State.free)

    var wallTime: WallTime {
        let isHeld = state.update { state in
            guard state == .armed else { return false }
            state = .held
            return true
        }
        if isHeld { state.wait { $0 == .free ? () : nil } }
        return WallTime(seconds: 1_800_000_000)
    }

    func holdNextReading() { state.update { $0 = .armed } }
    func waitForReading() { state.wait { $0 == .held ? () : nil } }
    func letGo() { state.update { $0 = .free } }
}
