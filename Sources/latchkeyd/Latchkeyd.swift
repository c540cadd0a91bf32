import CommandLineKit
import Foundation
import LatchkeyService
import ServiceConfiguration

/// The daemon's program.
@main
struct Latchkeyd {
    static func main() {
        RuntimeMessages.silence()
        // Not `exit`: it would run the exit handlers of the external module, which may hang.
        if let status = LadderWorkerCommand.runIfAsked(CommandLine.arguments) { _exit(status) }
        if let status = AcceleratorTrial.runIfAsked(CommandLine.arguments) { _exit(status) }
        // Before anything can make a thread, because all threads must inherit the mask. In an asynchronous `main` this
        // thread would lose the mask.
        StopSignals.block()
        // `main` runs on the main actor, whose queue is not served here. So the task must not inherit that actor.
        Task.detached {
            await CommandRunner(DaemonCommand.command).run(Array(CommandLine.arguments.dropFirst())).endProcess()
        }
        // This thread stays with its mask. If it took a signal, the process would end without finishing requests.
        while true { pause() }
    }
}
