/// Why a command that was understood did not do its work.
///
/// The texts are for a person at a terminal: they name what was wrong and what to do, and hold no secret.
package enum CommandError: Error, Equatable, Sendable {
    /// The arguments do not fit one another, or the option does not take a value: exit status 2.
    case usage(String)
    /// The work failed: exit status 1.
    case failed(String)
}

/// The exit statuses of both programs.
package enum ExitStatus: Int32, Sendable {
    case success = 0
    case failure = 1
    case usage = 2
}
