import ContentKeys
import Entitlements
import Telemetry
import TestSupport
import Testing

@testable import Licensing

@Suite struct StandstillTests {
    private let clock = ManualClock()
    private let standstill: Standstill

    init() {
        standstill = Standstill(clock: clock)
    }

    private func beats(_ count: Int) {
        for _ in 0..<count {
            clock.advance(by: Standstill.pause)
            #expect(!standstill.beat())
        }
    }

    @Test func beatsAreNoStandstill() {
        beats(30)
        #expect(!standstill.isStale)
        clock.advance(by: Standstill.gapMinimum)
        #expect(!standstill.isStale && !standstill.beat())
    }

    /// Requests that come before the first beat after the gap find it too.
    @Test func aGapIsStaleBeforeAndAfterTheNextBeat() {
        clock.advance(by: Standstill.gapMinimum + .milliseconds(1))
        #expect(standstill.isStale)
        #expect(standstill.beat())
        #expect(standstill.isStale)
        beats(3)
        #expect(standstill.isStale)
        standstill.endReading(standstill.beginReading())
        #expect(!standstill.isStale)
    }

    /// A reading that began before the gap knows nothing of what happened meanwhile.
    @Test func aReadingFromBeforeTheGapIsTooOld() {
        let before = standstill.beginReading()
        clock.advance(by: .seconds(60))
        standstill.endReading(before)
        #expect(standstill.isStale)
        #expect(standstill.beat())
        standstill.endReading(before)
        #expect(standstill.isStale)
        standstill.endReading(standstill.beginReading())
        #expect(!standstill.isStale)
    }

    @Test func nothingIsKnownOfRevocationsMeanwhile() throws {
        let revocations = KnownRevocations(RevocationView(), standstill: standstill)
        #expect(throws: Never.self) { try revocations.known() }
        clock.advance(by: .seconds(60))
        #expect(throws: LicenseError.store(.unavailable(.unreachable))) { try revocations.known() }
    }
}
