import ByteCoding
import DeviceSimulation
import FairPlay
import LatchkeyService

extension Command {
    /// `latchkey device`
    static let device = Command(
        "device",
        summary: "Be a FairPlay device: ask a licence server for a key, or make an SPC",
        details: """
            The simulated device tests servers that you operate. It needs the server's application secret, and so cannot obtain
            keys from anybody else's.
            """,
        examples: ["latchkey device request --help", "latchkey device make-spc --help"],
        commands: [deviceRequest, makeSPC])

    private static let output = CommandOption(
        "--output", .value("FILE"), help: "where the SPC goes; a file of that name is replaced", isRequired: true)
    private static let secrets = CommandOption(
        "--secrets", .value("FILE"),
        help: "where its secrets go; the name of the SPC with .secrets behind it unless given")

    private static let makeSPC = Command(
        "make-spc",
        summary: "Write an SPC and its secrets, and send nothing",
        details: """
            The SPC is what an app would POST to the server. The secrets file, readable by you alone, lets the inspect commands
            look into this SPC and into the CKC that answers it.
            """,
        examples: [
            "latchkey device make-spc --certificate development/fairplay/bundle.bin --application-secret "
                + "development/fairplay/application-secret.hex --asset-id movie-1 --output movie-1.spc",
            "latchkey spc inspect movie-1.spc --secrets movie-1.spc.secrets",
            "curl --data-binary @movie-1.spc -H \"Authorization: Bearer $TOKEN\" -H \"Content-Type: "
                + "application/octet-stream\" -o movie-1.ckc http://127.0.0.1:8080/fps/license",
            "latchkey ckc inspect movie-1.ckc --secrets movie-1.spc.secrets",
        ],
        options: DeviceArguments.options + [output, secrets, .json],
        run: { arguments, context throws(CommandError) in
            let path = try arguments.required(output)
            let secretsPath = arguments.value(secrets) ?? path + ".secrets"
            guard path != secretsPath else { throw .usage("--output and --secrets name the same file") }
            let (request, version) = try DeviceArguments.makeRequest(arguments, context)
            try RequestSecretsFile(request).write(to: secretsPath)
            try CommandFile.write(request.message, to: path, isSecret: false)
            if arguments.isSet(.json) {
                try context.printObject { writer in
                    writer.member("spc", path)
                    writer.member("secrets", secretsPath)
                    writer.member("spcVersion", Int(version.rawValue))
                    writer.member("spcBytes", request.message.count)
                }
            } else {
                try context.print(
                    "\(path): an SPC of version \(version.rawValue), \(request.message.count) bytes\n"
                        + "\(secretsPath): its secrets, for spc inspect and ckc inspect")
            }
        })
}
