import ContentKeys
package import Records
import TestSupport
import Testing

/// The rules of every store of decisions, with any database.
///
/// Each store's own tests run every case on an empty database, with one node or with several that share it:
///
///     @Test(arguments: DecisionConformance.Case.allCases)
///     func decides(by rule: DecisionConformance.Case) async throws {
///         let store = try openEmptyStore()
///         try await DecisionConformance.run(rule, on: [WholeDecisionStore(store)])
///     }
package enum DecisionConformance {
    package enum Case: String, CaseIterable, Sendable {
        // Replay.
        case repeatsTheAnswerWithinTheWindow
        case refusesARepetitionOutsideTheWindow
        case tellsRequestsApart
        case forgetsARequestAtItsEnd
        case keepsEveryAnswerAsItIs
        // Sessions.
        case takesASessionsTokenUntilItsSuccessorIsUsed
        case forgetsASessionAtItsEnd
        // Token uses.
        case countsUsesForEachTokenAndKey
        case beginsUsesAnewAtTheTokensEnd
        // Devices.
        case keepsADevicesPlace
        case freesAPlaceAtItsEnd
        case bindsToTheFirstDevice
        case tellsAnotherDeviceFromOneTooMany
        case replacesTheOldestDevice
        // Rentals.
        case grantsARentalAsItIsKnown
        case forgetsARentalAtItsEnd
        case repeatsAnAnswerWhateverBecameOfTheRental
        // Slots.
        case countsAPlaybackOnce
        case deniesWhatIsTooMuch
        case evictsTheOldest
        case evictsAsManyAsALowerLimitTakes
        case freesASlotAtItsEnd
        case takesUpTheSlotOfAPlayerThatCrashed
        case knowsAPlaybackWithoutASessionByItsContent
        case letsTheNextEpisodeBeReady
        case boundsWhatIsReadyBesideAPlayback
        case letsADeviceMakeRoomForItself
        case countsEachViewOfADevice
        case joinsWhatAScreenIsLent
        case joinsTheNextEpisodeThatAScreenIsLent
        case keepsGroupsApart
        case takesSeveralClaimsInOrder
        // Whole decisions.
        case spendsNothingOnADenial
        case answersWithTheFirstDenial
        case agreesWithTheModel
        case givesThreeLicensesForThreeUses
        case keepsTheLimitsInParallel
        case answersARepetitionInParallel
        case givesOneFirstPlayInParallel
        case givesTheLastPlaceOnceInParallel
    }

    package static func run(_ rule: Case, on nodes: [any SharedStateStore]) async throws {
        let script = DecisionScript(nodes)
        switch rule {
        case .repeatsTheAnswerWithinTheWindow: try await ReplayRules.repeatsTheAnswerWithinTheWindow(script)
        case .refusesARepetitionOutsideTheWindow: try await ReplayRules.refusesARepetitionOutsideTheWindow(script)
        case .tellsRequestsApart: try await ReplayRules.tellsRequestsApart(script)
        case .forgetsARequestAtItsEnd: try await ReplayRules.forgetsARequestAtItsEnd(script)
        case .keepsEveryAnswerAsItIs: try await ReplayRules.keepsEveryAnswerAsItIs(script)
        case .takesASessionsTokenUntilItsSuccessorIsUsed:
            try await SessionRules.takesATokenUntilItsSuccessorIsUsed(script)
        case .forgetsASessionAtItsEnd: try await SessionRules.forgetsASessionAtItsEnd(script)
        case .countsUsesForEachTokenAndKey: try await ClaimRules.countsUsesForEachTokenAndKey(script)
        case .beginsUsesAnewAtTheTokensEnd: try await ClaimRules.beginsUsesAnewAtTheTokensEnd(script)
        case .keepsADevicesPlace: try await ClaimRules.keepsADevicesPlace(script)
        case .freesAPlaceAtItsEnd: try await ClaimRules.freesAPlaceAtItsEnd(script)
        case .bindsToTheFirstDevice: try await ClaimRules.bindsToTheFirstDevice(script)
        case .tellsAnotherDeviceFromOneTooMany: try await ClaimRules.tellsAnotherDeviceFromOneTooMany(script)
        case .replacesTheOldestDevice: try await ClaimRules.replacesTheOldestDevice(script)
        case .grantsARentalAsItIsKnown: try await RentalRules.grantsARentalAsItIsKnown(script)
        case .forgetsARentalAtItsEnd: try await RentalRules.forgetsARentalAtItsEnd(script)
        case .repeatsAnAnswerWhateverBecameOfTheRental:
            try await RentalRules.repeatsAnAnswerWhateverBecameOfTheRental(script)
        case .countsAPlaybackOnce: try await SlotRules.countsAPlaybackOnce(script)
        case .deniesWhatIsTooMuch: try await SlotRules.deniesWhatIsTooMuch(script)
        case .evictsTheOldest: try await SlotRules.evictsTheOldest(script)
        case .evictsAsManyAsALowerLimitTakes: try await SlotRules.evictsAsManyAsALowerLimitTakes(script)
        case .freesASlotAtItsEnd: try await SlotRules.freesASlotAtItsEnd(script)
        case .takesUpTheSlotOfAPlayerThatCrashed: try await SlotRules.takesUpTheSlotOfAPlayerThatCrashed(script)
        case .knowsAPlaybackWithoutASessionByItsContent:
            try await SlotRules.knowsAPlaybackWithoutASessionByItsContent(script)
        case .letsTheNextEpisodeBeReady: try await SlotRules.letsTheNextEpisodeBeReady(script)
        case .boundsWhatIsReadyBesideAPlayback: try await SlotRules.boundsWhatIsReadyBesideAPlayback(script)
        case .letsADeviceMakeRoomForItself: try await SlotRules.letsADeviceMakeRoomForItself(script)
        case .countsEachViewOfADevice: try await SlotRules.countsEachViewOfADevice(script)
        case .joinsWhatAScreenIsLent: try await SlotRules.joinsWhatAScreenIsLent(script)
        case .joinsTheNextEpisodeThatAScreenIsLent: try await SlotRules.joinsTheNextEpisodeThatAScreenIsLent(script)
        case .keepsGroupsApart: try await SlotRules.keepsGroupsApart(script)
        case .takesSeveralClaimsInOrder: try await SlotRules.takesSeveralClaimsInOrder(script)
        case .spendsNothingOnADenial: try await WholeDecisions.spendsNothingOnADenial(script)
        case .answersWithTheFirstDenial: try await WholeDecisions.answersWithTheFirstDenial(script)
        case .agreesWithTheModel: try await WholeDecisions.agreesWithTheModel(script)
        case .givesThreeLicensesForThreeUses: try await ParallelDecisions.givesThreeLicensesForThreeUses(nodes)
        case .keepsTheLimitsInParallel: try await ParallelDecisions.keepsTheLimitsInParallel(nodes)
        case .answersARepetitionInParallel: try await ParallelDecisions.answersARepetitionInParallel(nodes)
        case .givesOneFirstPlayInParallel: try await ParallelDecisions.givesOneFirstPlayInParallel(nodes)
        case .givesTheLastPlaceOnceInParallel: try await ParallelDecisions.givesTheLastPlaceOnceInParallel(nodes)
        }
    }
}

/// Rules for rentals: the store compares the record that a license was computed from, and stores the license's new
/// record.
enum RentalRules {
    static func grantsARentalAsItIsKnown(_ script: DecisionScript) async throws {
        let opened = RentalRecord(openedAt: 100)
        let played = RentalRecord(openedAt: 100, firstPlay: 150)
        try await script.expect(.rentalDiffers(nil), at: 100, rental: SampleDecisions.rental(known: opened, played))
        try await script.expect(.recorded, at: 100, rental: SampleDecisions.rental(known: nil, opened))
        try await script.expect(
            .rentalDiffers(opened), at: 120, rental: SampleDecisions.rental(known: nil, RentalRecord(openedAt: 120)))
        try await script.expect(.recorded, at: 150, rental: SampleDecisions.rental(known: opened, played))
        try await script.expect(
            .rentalDiffers(played), at: 160,
            rental: SampleDecisions.rental(known: opened, RentalRecord(openedAt: 100, firstPlay: 160)))
        try await script.expect(.recorded, at: 170, rental: SampleDecisions.rental(known: played, played))
        try await script.expect(.recorded, at: 170, rental: SampleDecisions.rental(2, known: nil, played))
        let three = RentalRecord(openedAt: 180)
        try await script.expect(
            .slotsFull(current: 1, limit: 1), at: 180,
            slots: [
                SampleDecisions.slot(device: 1, session: 1), SampleDecisions.slot(device: 2, session: 2, content: 2),
            ], rental: SampleDecisions.rental(3, known: nil, three), "a denial stores nothing")
        try await script.expect(.recorded, at: 180, rental: SampleDecisions.rental(3, known: nil, three))
    }

    static func forgetsARentalAtItsEnd(_ script: DecisionScript) async throws {
        let first = RentalRecord(openedAt: 0, firstPlay: 10)
        try await script.expect(.recorded, at: 10, rental: SampleDecisions.rental(known: nil, first, keptUntil: 100))
        try await script.expect(.recorded, at: 20, rental: SampleDecisions.rental(known: first, first, keptUntil: 50))
        try await script.expect(
            .rentalDiffers(first), at: 99, rental: SampleDecisions.rental(known: nil, RentalRecord(openedAt: 99)))
        let second = RentalRecord(openedAt: 100)
        try await script.expect(.rentalDiffers(nil), at: 100, rental: SampleDecisions.rental(known: first, first))
        try await script.expect(.recorded, at: 100, rental: SampleDecisions.rental(known: nil, second, keptUntil: 120))
        try await script.expect(
            .recorded, at: 119, rental: SampleDecisions.rental(known: second, second, keptUntil: 130))
        try await script.expect(.rentalDiffers(nil), at: 130, rental: SampleDecisions.rental(known: second, second))
    }

    static func repeatsAnAnswerWhateverBecameOfTheRental(_ script: DecisionScript) async throws {
        let opened = RentalRecord(openedAt: 0)
        let played = RentalRecord(openedAt: 0, firstPlay: 5)
        try await script.expect(
            .recorded, at: 0, replay: SampleDecisions.replay(1, answer: [7]),
            rental: SampleDecisions.rental(known: nil, opened))
        try await script.expect(.recorded, at: 5, rental: SampleDecisions.rental(known: opened, played))
        try await script.expect(
            .repeated(answer: [7]), at: 6, replay: SampleDecisions.replay(1, answer: [8]),
            rental: SampleDecisions.rental(known: nil, opened))
        try await script.expect(.recorded, at: 7, rental: SampleDecisions.rental(known: played, played))
    }
}

/// Rules for the tokens of a session. Each renewal issues the next token.
enum SessionRules {
    static func takesATokenUntilItsSuccessorIsUsed(_ script: DecisionScript) async throws {
        let slot = SampleDecisions.slot(device: 1, session: 1)
        for _ in 0..<3 { try await script.expect(.recorded, session: SampleDecisions.session(1, 1), slots: [slot]) }
        try await script.expect(
            .recorded, replay: SampleDecisions.replay(1), session: SampleDecisions.session(1, 2), slots: [slot])
        try await script.expect(
            .sessionSuperseded, replay: SampleDecisions.replay(2), session: SampleDecisions.session(1, 1), slots: [slot]
        )
        try await script.expect(.recorded, session: SampleDecisions.session(2, 1), "another session")
        try await script.expect(.recorded, session: SampleDecisions.session(1, 4), "an answer was lost")
        try await script.expect(
            .repeated(answer: [1]), replay: SampleDecisions.replay(1), session: SampleDecisions.session(1, 2),
            "a repetition has been counted")
        try await script.expect(
            .recorded, replay: SampleDecisions.replay(2), session: SampleDecisions.session(1, 4),
            "the denied request was not stored")
        try await script.expect(
            .slotsFull(current: 1, limit: 1), session: SampleDecisions.session(1, 9),
            slots: [SampleDecisions.slot(device: 2, session: 2)])
        try await script.expect(.recorded, session: SampleDecisions.session(1, 4), "the denied use changed nothing")
    }

    static func forgetsASessionAtItsEnd(_ script: DecisionScript) async throws {
        try await script.expect(.recorded, at: 0, session: SampleDecisions.session(1, 5, keptUntil: 500))
        try await script.expect(.recorded, at: 1, session: SampleDecisions.session(1, 5, keptUntil: 300))
        try await script.expect(.sessionSuperseded, at: 499, session: SampleDecisions.session(1, 4, keptUntil: 900))
        try await script.expect(.recorded, at: 500, session: SampleDecisions.session(1, 1, keptUntil: 900))
        try await script.expect(.recorded, at: 501, session: SampleDecisions.session(1, 2, keptUntil: 900))
        try await script.expect(.sessionSuperseded, at: 899, session: SampleDecisions.session(1, 1, keptUntil: 900))
    }
}
