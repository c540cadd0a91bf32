/// What a turn-end hook learns about the turn.
package struct TurnEnd: Sendable {
    /// Whether the loop has looked for new work and found none (or has looked often enough): work that was held back to
    /// fill a batch must be done now, because the loop may sleep after this.
    package let isQuiet: Bool

    package init(isQuiet: Bool) {
        self.isQuiet = isQuiet
    }
}

/// What a turn-end hook wants.
package enum TurnEndVerdict: Equatable, Sendable {
    /// Nothing is held back.
    case done
    /// Something is held back: poll once more without sleeping, then call again. Ignored when the turn end was quiet.
    case pollAgain
    /// A group of work has been done and more is left: look at the sockets without sleeping, then call again, however
    /// often it takes.
    case workLeft
}

/// Counts the polls that hooks ask for, so that a hook can put a batch off only for so long.
struct PollAgainBudget: Equatable {
    /// At most so many polls in a row before the turn end counts as quiet.
    static let pollsMaximum = 8

    private var pollsLeft = Self.pollsMaximum

    /// Whether the turn end is quiet: the poll brought nothing, or there were enough polls.
    func isQuiet(broughtWork: Bool) -> Bool {
        !broughtWork || pollsLeft == 0
    }

    /// Notes the hooks' verdict and tells whether to poll again without sleeping.
    mutating func mustPollAgain(asked: Bool, wasQuiet: Bool) -> Bool {
        guard asked, !wasQuiet else {
            pollsLeft = Self.pollsMaximum
            return false
        }
        pollsLeft -= 1
        return true
    }
}
