import Foundation
import LatchkeyService

/// The daemon's program: arguments in, exit status out.
@main
struct Latchkeyd {
    static func main() async {
        // Before anything else can make a thread: all threads must inherit the mask.
        StopSignals.block()
        let status = await CommandRunner(DaemonCommand.command).run(Array(CommandLine.arguments.dropFirst()))
        exit(status.rawValue)
    }
}
