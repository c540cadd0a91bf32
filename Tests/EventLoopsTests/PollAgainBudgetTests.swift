import Testing

@testable import EventLoops

@Suite struct PollAgainBudgetTests {
    @Test func isQuietWhenNothingCame() {
        let budget = PollAgainBudget()
        #expect(budget.isQuiet(broughtWork: false))
        #expect(!budget.isQuiet(broughtWork: true))
    }

    @Test func allowsEightPollsInARow() {
        var budget = PollAgainBudget()
        for _ in 0..<8 {
            #expect(!budget.isQuiet(broughtWork: true))
            #expect(budget.mustPollAgain(asked: true, wasQuiet: false) == true)
        }
        #expect(budget.isQuiet(broughtWork: true))
        #expect(budget.mustPollAgain(asked: true, wasQuiet: true) == false)
        #expect(budget == PollAgainBudget())
    }

    @Test func startsAnewWhenNobodyAsks() {
        var budget = PollAgainBudget()
        _ = budget.mustPollAgain(asked: true, wasQuiet: false)
        #expect(budget.mustPollAgain(asked: false, wasQuiet: false) == false)
        #expect(budget == PollAgainBudget())
    }
}
