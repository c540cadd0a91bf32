import ByteCoding
import FairPlay
import Records
import TestSupport
import Testing

@testable import Licensing

@Suite struct LicenseTimesTests {
    private static let issuedAt: Int64 = 1_800_000_000

    private func times(_ validity: LicenseTerms.Validity, random: UInt64 = 0) -> LicenseTimes {
        LicenseTimes(
            LicenseTerms(validity: validity), issuedAt: Self.issuedAt, id: LicenseID(Bytes16(high: 0, low: random)))
    }

    private func seconds(_ value: UInt32) -> LicenseSeconds { LicenseSeconds(atLeastOne: value) }

    @Test func endsWithTheLeastOfItsLimits() {
        let ends: [(LicenseTerms.Validity, Int64?)] = [
            (.session, nil), (.duration(.lease(seconds(300))), 300), (.duration(.rental(seconds(90))), 90),
            (.duration(.leaseAndRental(lease: seconds(300), rental: seconds(90))), 90),
            (.duration(.leaseAndRental(lease: seconds(60), rental: seconds(90))), 60),
            (.duration(.persistent), nil), (.duration(.persistentLimited(seconds(7))), 7),
            (.offlineKey(OfflineKey(.version1(contentID: .zero), storage: seconds(5), playback: seconds(9))), 5),
            (.offlineKey(OfflineKey(.version1(contentID: .zero), storage: nil, playback: seconds(9))), nil),
        ]
        for (validity, end) in ends {
            #expect(times(validity).expiresAt == end.map { Self.issuedAt + $0 }, "\(validity)")
        }
    }

    /// For every license id, the renewal is due between a little more than half and two thirds of the lease. The ids
    /// spread the renewals over this time.
    @Test func isRenewedWellBeforeItsEnd() throws {
        var generator = SeededGenerator.announced("renewal times")
        for _ in 0..<2000 {
            let lease = UInt32.random(in: 1...100_000, using: &generator)
            let times = times(.duration(.lease(seconds(lease))), random: generator.next())
            let wait = try #require(times.renewAfter) - Self.issuedAt
            #expect(wait >= 1 && wait <= max(1, Int64(lease) * 2 / 3))
            #expect(wait * 2 >= Int64(lease) - 1, "a lease of \(lease) s is renewed after \(wait) s")
        }
    }

    @Test func spreadsRenewalsOfOneInstant() {
        let waits = Set((0..<200).map { times(.duration(.lease(seconds(300))), random: UInt64($0)).renewAfter })
        #expect(waits.count == 31)
    }

    @Test func hasNothingToRenewWithoutALease() {
        #expect(times(.session).renewAfter == nil)
        #expect(times(.duration(.rental(seconds(90)))).renewAfter == nil)
        #expect(times(.duration(.persistentLimited(seconds(90)))).renewAfter == nil)
    }
}
