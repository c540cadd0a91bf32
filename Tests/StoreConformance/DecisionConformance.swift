package import Records
import Testing

/// What every store of decisions does, with any database.
///
/// Each store's own tests run every case over an empty database, on one node or on several that share it:
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
        case refusesARequestWithAnotherToken
        case repeatsTheAnswerForAnotherTokenOfTheParty
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
        // All of it.
        case spendsNothingOnADenial
        case answersWithTheFirstDenial
        case agreesWithTheModel
        case givesThreeLicencesForThreeUses
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
        case .refusesARequestWithAnotherToken: try await ReplayRules.refusesARequestWithAnotherToken(script)
        case .repeatsTheAnswerForAnotherTokenOfTheParty:
            try await ReplayRules.repeatsTheAnswerForAnotherTokenOfTheParty(script)
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
        case .givesThreeLicencesForThreeUses: try await ParallelDecisions.givesThreeLicencesForThreeUses(nodes)
        case .keepsTheLimitsInParallel: try await ParallelDecisions.keepsTheLimitsInParallel(nodes)
        case .answersARepetitionInParallel: try await ParallelDecisions.answersARepetitionInParallel(nodes)
        case .givesOneFirstPlayInParallel: try await ParallelDecisions.givesOneFirstPlayInParallel(nodes)
        case .givesTheLastPlaceOnceInParallel: try await ParallelDecisions.givesTheLastPlaceOnceInParallel(nodes)
        }
    }
}
