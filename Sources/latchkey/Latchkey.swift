import CommandLineKit
import Foundation
import OperatorCommands
import PlayerTools
import ServiceConfiguration
import SetupCommands

/// The command-line tool.
@main
struct Latchkey {
    static func main() async {
        RuntimeMessages.silence()
        // `latchkey doctor` tries an accelerator in a child process.
        if let status = AcceleratorTrial.runIfAsked(CommandLine.arguments) { _exit(status) }
        let words = Array(ProcessInfo.processInfo.arguments.dropFirst())
        await CommandRunner(command).run(words).endProcess()
    }

    static let command = Command(
        "latchkey",
        summary: "Set up and try a Latchkey license server",
        details: "The server itself is latchkeyd. Each command has its own --help.",
        examples: [
            "latchkey init ./development",
            "latchkey keys create --config ./development/latchkey.json5 --content movie-1",
            "latchkey token mint --config ./development/latchkey.json5 --content movie-1",
            "latchkey device request --help",
        ],
        commands: [
            .initialize, .doctor, .why, .credentials, .keys, .lint, .ledger, .revocations, .account, .clock, .store,
            .backup, .token, .device, .bench, .conformance, .admin, .spc, .ckc,
        ])
}
