import ByteCoding
package import CommandLineKit
import CommandSupport
import DeviceSimulation
import FairPlay

extension Command {
    /// `latchkey device`
    package static let device = Command(
        "device",
        summary: "Simulate a FairPlay device: ask a license server for a key, report stored keys, or make an SPC",
        details: """
            The simulated device is for tests of servers that you operate. It needs the server's application secret, and so cannot
            get keys from other servers.
            """,
        examples: [
            "latchkey device request --help", "latchkey device sync --help", "latchkey device make-spc --help",
        ],
        commands: [deviceRequest, deviceSync, makeSPC])

    private static let output = CommandOption(
        "--output", .value("FILE"), help: "the file for the SPC; an existing file is replaced", isRequired: true)
    private static let secrets = CommandOption(
        "--secrets", .value("FILE"),
        help: "the file for its secrets; the name of the SPC's file followed by .secrets unless given")
    private static let challenge = CommandOption(
        "--challenge", .value("HEX"), help: "the server's challenge for a sync of version 2; none unless given")

    private static let makeSPC = Command(
        "make-spc",
        summary: "Write an SPC and its secrets, and send nothing",
        details: """
            An app would POST this SPC to the server. With the secrets file, which only you can read, the inspect commands can open
            this SPC and the CKC that answers it. With --sync the SPC is a report about the device's stored keys. The answer to it
            is JSON and no CKC.
            """,
        examples: [
            "latchkey device make-spc --certificate development/fairplay/bundle.bin --application-secret "
                + "development/fairplay/application-secret.hex --asset-id movie-1 --output movie-1.spc",
            "latchkey spc inspect movie-1.spc --secrets movie-1.spc.secrets",
            "curl --data-binary @movie-1.spc -H \"Authorization: Bearer $TOKEN\" -H \"Content-Type: "
                + "application/octet-stream\" -o movie-1.ckc http://127.0.0.1:8080/fps/license",
            "latchkey ckc inspect movie-1.ckc --secrets movie-1.spc.secrets",
            "latchkey device make-spc --certificate development/fairplay/bundle.bin --application-secret "
                + "development/fairplay/application-secret.hex --asset-id movie-1 --output sync.spc --sync report",
        ],
        options: DeviceArguments.options + [SyncArguments.sync] + SyncArguments.details + [
            challenge, output, secrets, .json,
        ],
        run: { arguments, context throws(CommandError) in
            let path = try arguments.required(output)
            let secretsPath = arguments.value(secrets) ?? path + ".secrets"
            guard path != secretsPath else { throw .usage("--output and --secrets name the same file") }
            let (request, _) = try DeviceArguments.makeRequest(arguments, context, sync: syncStatement(arguments))
            try RequestSecretsFile(request).write(to: secretsPath)
            try CommandFile.write(request.message, to: path, isSecret: false)
            if arguments.isSet(.json) {
                try context.printObject { writer in
                    writer.member("spc", path)
                    writer.member("secrets", secretsPath)
                    writer.member("spcVersion", Int(request.version.rawValue))
                    writer.member("spcBytes", request.message.count)
                }
            } else {
                try context.print(
                    "\(path): an SPC of version \(request.version.rawValue), \(request.message.count) bytes\n"
                        + "\(secretsPath): its secrets, for spc inspect and ckc inspect")
            }
        })

    private static func syncStatement(_ arguments: Arguments) throws(CommandError) -> SyncStatement? {
        let number = try arguments.identifier8(challenge)
        guard let sync = try SyncArguments(ifAskedFor: arguments) else {
            guard number == nil else { throw .usage("--challenge is for a sync; add --sync") }
            return nil
        }
        guard number == nil || sync.takesChallenge else { throw .usage("--challenge needs --sync-version 2") }
        return .report(sync.report(challenge: number ?? 0))
    }
}
