import ContentKeys
import Records
import Telemetry
import TestSupport
import Testing

@testable import Licensing

/// What a node admits in an outage, after what it has given and what the database may have given.
@Suite struct OutageAdmissionsTests {
    private let clock = ManualClock()
    private let admissions: OutageAdmissions

    init() {
        admissions = OutageAdmissions(AdmissionLimits(perToken: 50, perSubject: 50), clock: clock)
    }

    private func decision(
        _ number: UInt64, use: TokenUse? = nil, place: DevicePlace? = nil, slot: SlotClaim? = nil, now: Int64 = 10
    ) -> LicenseDecision {
        LicenseDecision(
            now: now, replay: SampleDecisions.replay(number, window: 10), tokenUse: use,
            devicePlaces: [place].compactMap(\.self), slotClaims: [slot].compactMap(\.self),
            entry: LedgerEntry(kind: .licenseIssued, at: now, license: SampleDecisions.license(number)))
    }

    private func give(_ decisions: LicenseDecision...) async throws {
        for decision in decisions { _ = try await admissions.watching(decision) { .recorded } }
    }

    /// The database may have settled these decisions.
    private func lose(_ decisions: LicenseDecision...) async {
        for decision in decisions {
            await #expect(throws: StoreError.recordMalformed) {
                try await admissions.watching(decision) { () throws(StoreError) in throw .recordMalformed }
            }
        }
    }

    private func verdict(on decision: LicenseDecision) async throws -> OutageAdmissions.Verdict {
        var verdict = OutageAdmissions.Verdict.refused
        _ = try await admissions.watching(decision) { () throws(StoreError) in
            verdict = try await admissions.admit(decision, knowing: EmptyLedger())
            return verdict == .admitted ? .recorded : .denied(.replayed)
        }
        return verdict
    }

    private func isAdmitted(_ decision: LicenseDecision) async throws -> Bool {
        try await verdict(on: decision) == .admitted
    }

    private typealias Sample = SampleDecisions

    /// One device may hold all slots of a group.
    @Test func countsPlaybacksAndNotDevices() async throws {
        try await give(
            decision(1, slot: Sample.slot(limit: 2, device: 1, session: 1)),
            decision(2, slot: Sample.slot(limit: 2, device: 1, session: 2, content: 2)))
        #expect(try await !isAdmitted(decision(3, slot: Sample.slot(limit: 2, device: 2, session: 3))))
        #expect(try await isAdmitted(decision(4, slot: Sample.slot(limit: 2, device: 1, session: 4, content: 3))))
    }

    /// The database knew more than this node, for example that a playback had stopped or that a use was given back.
    @Test func countsWhatItWouldHaveDenied() async throws {
        for number in 1...2 as ClosedRange<UInt64> {
            try await give(
                decision(
                    number, use: Sample.use(limit: 1), place: Sample.place(device: number, limit: 1),
                    slot: Sample.slot(device: number, session: number)))
        }
        #expect(try await !isAdmitted(decision(3, use: Sample.use(limit: 2))))
        #expect(try await isAdmitted(decision(4, use: Sample.use(limit: 3))))
        #expect(try await !isAdmitted(decision(5, place: Sample.place(device: 3, limit: 2))))
        #expect(try await isAdmitted(decision(6, place: Sample.place(device: 2, limit: 2))))
        #expect(try await !isAdmitted(decision(7, slot: Sample.slot(limit: 2, device: 3, session: 3))))
        #expect(try await isAdmitted(decision(8, slot: Sample.slot(limit: 3, device: 3, session: 3))))
    }

    @Test func givesNoPlaceBackThatAnotherDeviceHasTaken() async throws {
        for device in 1...2 as ClosedRange<UInt64> {
            try await give(
                decision(
                    device, place: Sample.place(device: device, limit: 1, .replacing),
                    slot: Sample.slot(.evictOldest, device: device, session: device)))
        }
        #expect(try await !isAdmitted(decision(3, place: Sample.place(device: 1, limit: 1))))
        #expect(try await !isAdmitted(decision(4, slot: Sample.slot(.evictOldest, device: 1, session: 1))))
        #expect(try await isAdmitted(decision(5, place: Sample.place(device: 1, limit: 1, .replacing))))
        // The database gave this license before the slot was taken. Its use counts.
        try await give(
            decision(7, use: Sample.use(limit: 1), slot: Sample.slot(.evictOldest, device: 1, session: 1)))
        #expect(try await !isAdmitted(decision(8, use: Sample.use(limit: 1))))
        #expect(try await isAdmitted(decision(6, slot: Sample.slot(.evictOldest, device: 1, session: 9, content: 9))))
    }

    /// The database may have given the only place to one of two devices. It is not known to which one.
    @Test func givesNoPlaceThatIsInDoubt() async throws {
        for device in 1...2 as ClosedRange<UInt64> {
            await lose(
                decision(
                    device, place: Sample.place(device: device, limit: 1),
                    slot: Sample.slot(device: device, session: device, content: 1)))
        }
        for device in 1...2 as ClosedRange<UInt64> {
            #expect(try await !isAdmitted(decision(3, place: Sample.place(device: device, limit: 1))))
            #expect(try await !isAdmitted(decision(4, slot: Sample.slot(device: device, session: device))))
        }
        // It may not join a playback that may not run.
        #expect(try await !isAdmitted(decision(5, slot: Sample.slot(device: 3, session: 3, relayed: true))))
        #expect(try await isAdmitted(decision(6, place: Sample.place(device: 1, limit: 2))))
    }

    /// A device in doubt fills nothing if there was no room for it, and a place that is known stays its device's own.
    @Test func goesOnWithAPlaceWhileOthersAreInDoubt() async throws {
        try await give(
            decision(1, place: Sample.place(device: 1, limit: 1), slot: Sample.slot(device: 1, session: 1)))
        await lose(
            decision(2, place: Sample.place(device: 2, limit: 1), slot: Sample.slot(device: 2, session: 2)))
        let next = Sample.slot(device: 1, session: 3, content: 2)
        #expect(try await isAdmitted(decision(3, place: Sample.place(device: 1, limit: 1), slot: next)))
    }

    /// One request comes again and again, and a report without a use stays in doubt for a month.
    @Test func endsDoubtsWhileOthersLast() async throws {
        let again = decision(1, use: Sample.use(1, limit: 1))
        var report = decision(2)
        report.replay?.retryWindow = 30 * 86_400
        await lose(again, report, decision(3, use: Sample.use(2, limit: 1)))
        for _ in 1...3 {
            #expect(try await !isAdmitted(decision(4, use: Sample.use(2, limit: 1))))
            clock.advance(by: .seconds(3))
            await lose(again)
        }
        clock.advance(by: .seconds(1))
        #expect(try await isAdmitted(decision(4, use: Sample.use(2, limit: 1))))
        #expect(try await !isAdmitted(decision(5, use: Sample.use(1, limit: 1))))
        clock.advance(by: .seconds(9))
        #expect(try await isAdmitted(decision(5, use: Sample.use(1, limit: 1))))
    }

    @Test func repeatsAnAnswerWithinItsWindow() async throws {
        try await give(decision(1, use: Sample.use(limit: 5)))
        #expect(try await verdict(on: decision(1, use: Sample.use(limit: 5), now: 19)) == .repeated(answer: [1]))
        #expect(try await verdict(on: decision(1, use: Sample.use(limit: 5), now: 20)) == .refused)
    }

    /// Another node may have given the rental that the license was computed from.
    @Test func admitsARentalThatItDoesNotKnow() async throws {
        let record = RentalRecord(openedAt: 1)
        var rental = decision(1)
        rental.rental = Sample.rental(known: record, RentalRecord(openedAt: 1, firstPlay: 10))
        #expect(try await isAdmitted(rental))
        rental.replay = Sample.replay(2)
        #expect(try await verdict(on: rental) == .rentalDiffers(RentalRecord(openedAt: 1, firstPlay: 10)))
    }
}

/// A ledger that keeps nothing.
private struct EmptyLedger: DecisionKeeping {
    func append(_ entry: LedgerEntry) async throws(StoreError) {}
    func append(_ entry: LedgerEntry, keeping decision: LicenseDecision, mark: Int64?) async throws(StoreError) {}
    func owedDecisions(limit: Int) async throws(StoreError) -> [KeptDecision] { [] }
    func keptDecisions(
        from mark: Int64, behind number: Int64, limit: Int
    ) async throws(StoreError) -> [KeptDecision] { [] }
    func latestMark() async throws(StoreError) -> Int64 { 0 }
    func noteSettled(_ numbers: [Int64], mark: Int64) async throws(StoreError) {}
    func forgetKept(before mark: Int64) async throws(StoreError) {}
}
