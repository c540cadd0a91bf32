import Records
import StoreConformance
import TestSupport
import Testing

/// The rules of accounts over cells in memory.
@Suite struct CellStoreTests {
    @Test(arguments: DecisionConformance.Case.allCases)
    func decides(by rule: DecisionConformance.Case) async throws {
        try await DecisionConformance.run(rule, on: [MemoryCellStore()])
    }

    @Test(arguments: AccountConformance.Case.allCases)
    func managesAccounts(by rule: AccountConformance.Case) async throws {
        try await AccountConformance.run(rule, on: [MemoryCellStore()])
    }

    @Test(arguments: ChallengeConformance.Case.allCases)
    func keepsChallenges(by rule: ChallengeConformance.Case) async throws {
        try await ChallengeConformance.run(rule, on: [MemoryCellStore()])
    }

    @Test(arguments: SlotReleaseConformance.Case.allCases)
    func releasesSlots(by rule: SlotReleaseConformance.Case) async throws {
        try await SlotReleaseConformance.run(rule, on: [MemoryCellStore()])
    }
}
