import Synchronization
import TestSupport
import Testing

@testable import Telemetry

/// The state of the clock, which readers read without a lock.
@Suite struct PublishedWordsTests {
    @Test func hasNoValueBeforeTheFirst() {
        let words = PublishedWords<3>()
        #expect(words.value == nil)
        words.publish([1, 2, 3])
        let value = words.value
        #expect(value?[0] == 1 && value?[1] == 2 && value?[2] == 3)
    }

    /// Every value has the same number in all words, so that a mixture of two values is noticed.
    @Test func givesNoMixtureOfTwoValues() async {
        let words = PublishedWords<14>()
        words.publish(InlineArray(repeating: 0))
        let end = End()
        let read = await withTaskGroup(of: (whole: Int, mixed: Int).self) { group in
            for _ in 0..<2 {
                group.addTask {
                    var (whole, mixed) = (0, 0)
                    repeat {
                        guard let value = words.value else { continue }
                        let isWhole = value.indices.allSatisfy { value[$0] == value[0] }
                        if isWhole { whole += 1 } else { mixed += 1 }
                    } while !end.hasCome.load(ordering: .relaxed) || whole == 0
                    return (whole, mixed)
                }
            }
            for number in 1...200_000 as ClosedRange<Int64> { words.publish(InlineArray(repeating: number)) }
            end.hasCome.store(true, ordering: .relaxed)
            return await group.reduce((whole: 0, mixed: 0)) { ($0.whole + $1.whole, $0.mixed + $1.mixed) }
        }
        #expect(read.mixed == 0)
        #expect(read.whole >= 2)
    }

    /// No part of the state is lost by the encoding, with any steps of the clocks.
    @Test(arguments: 0..<50 as Range<UInt64>)
    func isTheStateThatItWasMadeOf(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (wall, boot): (Int64, Int64) = (1_800_000_000, 5000)
        var trust = ClockTrust(
            .init(stepTolerance: .seconds(30), settleTime: .seconds(3600), leeway: .seconds(5)),
            memory: .init(settled: 1_800_000_000_000_000_000, reference: 1_799_999_999_000_000_000),
            at: Self.reading(wall, boot))
        #expect(ClockTrust(words: trust.words) == trust)
        for _ in 0..<100 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: wall += Int64.random(in: -1_000_000...1_000_000, using: &random)
            case 1: _ = trust.accept(offset: (wall - boot) * 1_000_000_000)
            case 2:
                _ = trust.noteDatabase(
                    time: (wall + Int64.random(in: -20...20, using: &random)) * 1_000_000_000,
                    asked: boot * 1_000_000_000 - 1000, answered: boot * 1_000_000_000)
            default:
                wall += 61
                boot += 61
            }
            let isSynchronised: Bool? = Bool.random(using: &random) ? nil : Bool.random(using: &random)
            _ = trust.observe(Self.reading(wall, boot), isSynchronised: isSynchronised)
            #expect(ClockTrust(words: trust.words) == trust)
        }
    }

    @Test func refusesWordsThatNoStateHas() {
        let trust = ClockTrust(
            .init(stepTolerance: .zero, settleTime: .zero, leeway: .zero), memory: nil, at: Self.reading(1, 1))
        var words = trust.words
        words[7] = 3 << 3
        #expect(ClockTrust(words: words) == nil)
        words[7] = 3 << 1
        #expect(ClockTrust(words: words) == nil)
    }

    private static func reading(_ wall: Int64, _ boot: Int64) -> ClockReading {
        ClockReading(wall: WallTime(seconds: wall), boot: MonotonicTime(nanoseconds: boot * 1_000_000_000))
    }
}

/// Tells tasks that no further value will come.
private final class End: Sendable {
    let hasCome = Atomic<Bool>(false)
}
