import LadderWorkers

/// Runs the program `latchkeyd` as a worker for a ladder module. Only the daemon starts it in this role.
package enum LadderWorkerCommand {
    /// Does a worker's work if these words of the command line (the program's name first) ask for it, and gives the
    /// exit status; nil for every other command line. To be called before anything has made a thread or blocked a
    /// signal.
    package static func runIfAsked(_ words: [String]) -> Int32? {
        guard Array(words.dropFirst()) == [LadderWorkerRole.argument] else { return nil }
        return LadderWorkerRole.run()
    }
}
