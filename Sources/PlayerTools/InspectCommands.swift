import ByteCoding
package import CommandLineKit
import CommandSupport
import DeviceSimulation
import FairPlay
import KeyCrypto
import ServiceConfiguration

extension Command {
    /// `latchkey spc`
    package static let spc = Command(
        "spc", summary: "Look into an SPC",
        examples: ["latchkey spc inspect request.spc"], commands: [inspectSPC])

    /// `latchkey ckc`
    package static let ckc = Command(
        "ckc", summary: "Look into a CKC",
        examples: ["latchkey ckc inspect license.ckc"], commands: [inspectCKC])

    private static let config = CommandOption(
        "--config", .value("FILE"), help: "the configuration of the daemon whose credential the SPC names",
        takesVariable: true)

    private static let inspectSPC = Command(
        "inspect",
        summary: "Show the layout of an SPC, and explain its blocks",
        details: """
            Shows the outer layout of any SPC. To decrypt it and explain every block, give the secrets file that latchkey device
            wrote for this SPC, or the configuration of the daemon that the SPC was made for. With the configuration alone, it also
            says whether that daemon would reject the SPC, and why.
            """,
        examples: [
            "latchkey spc inspect request.spc", "latchkey spc inspect request.spc --secrets request.spc.secrets --json",
            "latchkey spc inspect request.spc --config development/latchkey.json5",
        ],
        operands: [CommandOperand("FILE", help: "the SPC as raw bytes, or \"-\" for standard input")],
        options: [InspectArguments.secrets, config, .json],
        run: { arguments, context throws(CommandError) in
            // The secrets name this SPC, and the configuration may come from the environment.
            let path = arguments.isSet(InspectArguments.secrets) ? nil : arguments.value(config)
            let server = try path.map { (path) throws(CommandError) in try ServerKeys(configuration: path, context) }
            let report = try SPCReport(InspectArguments(arguments, context), server: server)
            try context.printResult(report.text, or: report.write, arguments)
        })

    private static let inspectCKC = Command(
        "inspect",
        summary: "Show the layout of a CKC, and its license if it answers an SPC of latchkey device",
        details: """
            Shows the outer layout of any CKC. To show key and terms, give the secrets file that latchkey device wrote for the SPC
            that this CKC answers. Then it also makes all the checks that a device makes.
            """,
        examples: [
            "latchkey ckc inspect license.ckc", "latchkey ckc inspect license.ckc --secrets request.spc.secrets --json",
        ],
        operands: [CommandOperand("FILE", help: "the CKC as raw bytes, or \"-\" for standard input")],
        options: [InspectArguments.secrets, .json],
        run: { arguments, context throws(CommandError) in
            let report = try CKCReport(InspectArguments(arguments, context))
            try context.printResult(report.text, or: report.write, arguments)
        })
}

/// The arguments of both inspect commands.
struct InspectArguments {
    static let secrets = CommandOption(
        "--secrets", .value("FILE"), help: "the secrets file that latchkey device wrote for the SPC")

    let path: String
    let bytes: [UInt8]
    let secrets: RequestSecretsFile?

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        path = try arguments.operand(0)
        bytes = try CommandFile.readOperand(path, context)
        if let path = arguments.value(Self.secrets) {
            secrets = try RequestSecretsFile(path: path)
        } else {
            secrets = nil
        }
    }
}

/// The keys in a daemon's configuration, which open SPCs that were made for it.
struct ServerKeys {
    let protocolVersions: Set<UInt32>
    private let path: String
    private let credentials: CredentialSet

    init(configuration path: String, _ context: CommandContext) throws(CommandError) {
        self.path = path
        do throws(ConfigurationError) {
            let file = try ConfigurationFile(path: path, environment: context.environment)
            let loaded = LoadedConfiguration.loadCredentials(file, environment: context.environment)
            if let error = loaded.error { throw error }
            protocolVersions = file.configuration.fairplay.protocolVersions
            credentials = try Self.set(of: loaded.credentials, path)
        } catch {
            throw .failed(error.description)
        }
    }

    private static func set(
        of credentials: [Credential], _ path: String
    ) throws(ConfigurationError) -> CredentialSet {
        do throws(CredentialError) {
            return try CredentialSet(credentials)
        } catch {
            // Cannot happen: loading has checked that no two credentials have the same hash.
            throw .invalid(path: path, [])
        }
    }

    /// The key that opens an SPC. `name` is only for messages.
    func key(for envelope: SPCEnvelope, _ name: String) throws(CommandError) -> CredentialKey {
        if let key = credentials.key(version: envelope.version, hash: envelope.certificateHash) { return key }
        guard credentials.servedVersions.contains(envelope.version) else {
            throw .failed(
                "\(name) is an SPC of version \(envelope.version.rawValue), which no credential of \(path) serves; "
                    + "spcVersion3 enables that version")
        }
        throw .failed(
            "\(name) names the certificate hash \(envelope.certificateHash), which no credential of \(path) has for "
                + "version \(envelope.version.rawValue); latchkey credentials list shows the hashes")
    }
}
