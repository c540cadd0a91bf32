import ByteCoding
import CommandLineKit
import CommandSupport
import ServiceConfiguration

extension Command {
    private static let credential = CommandOption(
        "--credential", .value("NAME"), help: "try only the library of this credential; unless given, all are tried")
    private static let inputs = CommandOption(
        "--inputs", .value("FOLDER"),
        help: "try every *.json in this folder: the SDK's own test inputs, which are for its test credentials")
    private static let spc = CommandOption(
        "--spc", .value("FILE"), help: "try the raw SPC of a device of yours", repeats: true)

    /// `latchkey credentials prove`
    static let proveCredentials = Command(
        "prove",
        summary: "Run the library of Apple's SDK, and compare what it does with our own parse",
        details: """
            Starts the library of each credential of the kind sdk in a worker process, as the daemon does, and says
            whether it loads and knows every certificate hash of the configuration. With --inputs and --spc, it is tried
            with each SPC: status and facts, the same HU in two calls, a license with a random key and whether its CKC
            is whole, and the refusal of SPCs in which one bit was changed. For a test input, the license that it asks
            for is tried too.

            The private keys of the configuration open the SPCs, so test inputs need a configuration with the SDK's test
            credentials. latchkeyd must be in the folder of this program. Run it as the service's user or root.

            No output has a key or the HU of a device. Each finding is a line, with what to do about it behind an arrow.
            The exit status is 0 only if everything holds. This is no proof that a title plays on a device, and no
            approval by Apple.
            """,
        examples: [
            "latchkey credentials prove --config latchkey.json5",
            "latchkey credentials prove --config test.json5 --inputs Test_Inputs/ios",
            "latchkey credentials prove --config latchkey.json5 --credential apple-26 --spc device.spc --json",
        ],
        options: [.config, credential, inputs, spc, .json],
        run: { arguments, context throws(CommandError) in
            let findings = try await prove(arguments, context)
            let badCount = findings.count { $0.verdict == .bad }
            if arguments.isSet(.json) {
                try context.printObject { writer in
                    writer.member("holds", badCount == 0)
                    writer.member("notice", notice)
                    writer.objects("findings", findings) { $1.write(to: &$0) }
                }
            } else {
                for finding in findings { try context.print(finding.text) }
                context.note(notice)
            }
            if badCount > 0 { throw .failed("\(badCount) of \(findings.count) checks do not hold") }
        })

    private static let notice =
        "This is no proof that a title plays, and no approval by Apple: play a title on your devices before you go "
        + "live."

    private static func prove(
        _ arguments: Arguments, _ context: CommandContext
    ) async throws(CommandError) -> [DoctorFinding] {
        let path = try arguments.required(.config)
        let file: ConfigurationFile
        var loaded: LoadedLibraries
        do throws(ConfigurationError) {
            file = try ConfigurationFile(path: path, environment: context.environment)
            loaded = try LoadedConfiguration.loadLibraries(file, environment: context.environment)
        } catch {
            throw .failed(error.description)
        }
        if let name = arguments.value(credential) { loaded.libraries.removeAll { $0.name != name } }
        guard !loaded.libraries.isEmpty else {
            throw .failed(
                "\(path): there is no library to try"
                    + (arguments.value(credential).map { " for a credential \($0)" } ?? "")
                    + ": a credential needs the field sdk, and an entry with provisioning data in its file")
        }
        var samples: [ProofSample.File] = []
        if let folder = arguments.value(inputs) { samples += try ProofSample.testInputs(in: folder) }
        for path in arguments.values(spc) { samples.append(try ProofSample.deviceSPC(at: path)) }
        let proof = CredentialProof(
            credentials: loaded.credentials, libraries: loaded.libraries,
            servedVersions: file.configuration.fairplay.protocolVersions, samples: samples,
            program: try DaemonProgram.path())
        do throws(CredentialProof.Fault) {
            return try await proof.run()
        } catch {
            throw .failed(error.description)
        }
    }
}
