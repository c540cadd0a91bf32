import ByteCoding
package import CommandLineKit
import FairPlay
import ServiceConfiguration

extension Command {
    /// `latchkey credentials`
    package static let credentials = Command(
        "credentials",
        summary: "Show and check the FairPlay credentials of a configuration",
        examples: [
            "latchkey credentials list --config latchkey.json5",
            "latchkey credentials check --config latchkey.json5",
            "latchkey credentials prove --config latchkey.json5",
        ],
        commands: [listCredentials, checkCredentials, proveCredentials])

    private static let use = CommandOption(
        "--use", .flag, help: "ask the daemon that runs what still uses each credential")

    private static let listCredentials = Command(
        "list",
        summary: "List the credentials, and the certificate hashes by which requests find them",
        details: """
            An SPC names its credential by its version and the hash of a certificate, or of the bundle that apps are given. Each
            hash is shown with the requests that it serves. Expired certificates are served too.

            With --use, the admin listener of the daemon that runs is asked how many SPCs have named each credential since
            the daemon started, and when one did last.

            Faults of a credential are printed on standard error, and the exit status is then 1.
            """,
        examples: [
            "latchkey credentials list --config latchkey.json5",
            "latchkey credentials list --config latchkey.json5 --use",
            "latchkey credentials list --config latchkey.json5 --json",
        ],
        options: [CommandOption.config, .json, use] + AdminClient.options,
        run: { arguments, context throws(CommandError) in
            let path = try arguments.required(.config)
            let uses = arguments.isSet(use) ? try CredentialUses.ask(arguments, configuration: path, context) : nil
            let review = CredentialReview(configuration: path, uses, context)
            if arguments.isSet(.json) {
                try context.printObject(review.writeList)
            } else if !review.reports.isEmpty {
                try context.print(review.list)
            }
            try review.throwProblems()
        })

    private static let checkCredentials = Command(
        "check",
        summary: "Check that the files of the credentials exist and belong together",
        details: """
            Checks what the daemon checks before it starts: that each file can be read and has the right kind, that private
            keys open with their passphrase and belong to their certificates, that a bundle has its two halves in order, and
            that no two credentials have the same certificate hash. Ends with status 1 and a line for each problem; warnings
            leave the status at 0.

            For an SDK, this includes its certificates.json and the files that it names. Each of its entries is a credential.
            The SDK's library is not loaded: latchkey credentials prove loads it.
            """,
        examples: [
            "latchkey credentials check --config latchkey.json5",
            "latchkey credentials check --config latchkey.json5 --json",
        ],
        options: [.config, .json],
        run: { arguments, context throws(CommandError) in
            let review = CredentialReview(configuration: try arguments.required(.config), nil, context)
            if arguments.isSet(.json) {
                try context.printObject(review.writeCheck)
            } else {
                for warning in review.warningLines { context.note("warning: \(warning)") }
                if review.error == nil { try context.print(review.verdict) }
            }
            try review.throwProblems()
        })
}

/// The credentials of a configuration, with their problems and warnings, for both commands.
private struct CredentialReview {
    let reports: [CredentialReport]
    let error: ConfigurationError?
    private let path: String

    init(configuration path: String, _ uses: CredentialUses?, _ context: CommandContext) {
        self.path = path
        do throws(ConfigurationError) {
            let file = try ConfigurationFile(path: path, environment: context.environment)
            let loaded = LoadedConfiguration.loadCredentials(file, environment: context.environment)
            reports = loaded.credentials.map { CredentialReport($0, now: context.now, use: uses?[$0.name]) }
            error = loaded.error
        } catch {
            reports = []
            self.error = error
        }
    }

    func throwProblems() throws(CommandError) {
        if let error { throw .failed(error.description) }
    }

    var list: String { reports.map(\.text).joined(separator: "\n\n") }

    var warningLines: [String] {
        reports.flatMap { report in report.warnings.map { "\(report.name): \($0)" } }
    }

    var verdict: String {
        "\(path): \(reports.count.counted("credential")), good: "
            + reports.map(\.name).joined(separator: ", ")
    }

    func writeList(_ writer: inout JSONWriter) {
        writer.objects("credentials", reports) { $1.write(&$0) }
    }

    func writeCheck(_ writer: inout JSONWriter) {
        writer.member("good", error == nil)
        writer.array("problems") { writer in
            switch error {
            case .none: break
            case .unreadable, .malformed: writer.object { write(path, line: nil, error?.description, to: &$0) }
            case .invalid(_, let problems):
                for problem in problems {
                    writer.object { write(problem.path, line: problem.position?.line, "\(problem.fault)", to: &$0) }
                }
            }
        }
        writer.array("warnings") { writer in
            for report in reports {
                for warning in report.warnings { writer.object { report.write(warning, to: &$0) } }
            }
        }
    }

    private func write(_ path: String, line: Int?, _ message: String?, to writer: inout JSONWriter) {
        writer.member("path", path)
        writer.member("line", line.map { Int64($0) })
        writer.member("message", message)
    }
}
