import CommandLineKit
import Foundation
import LatchkeyService

/// The daemon's program: arguments in, exit status out.
@main
struct Latchkeyd {
    static func main() {
        RuntimeMessages.silence()
        // Without `exit`: what a module has left to be run then is its own affair, and may hang.
        if let status = LadderWorkerCommand.runIfAsked(CommandLine.arguments) { _exit(status) }
        // Before anything else can make a thread: all threads must inherit the mask. An asynchronous `main` would lift
        // it from this one.
        StopSignals.block()
        // `main` is the main actor's, whose queue is not served here: the task must not inherit it.
        Task.detached {
            let status = await CommandRunner(DaemonCommand.command).run(Array(CommandLine.arguments.dropFirst()))
            exit(status.rawValue)
        }
        // This thread only keeps its mask: a signal that it took would end the process without a drain.
        while true { pause() }
    }
}
