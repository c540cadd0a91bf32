import ByteCoding
package import CommandLineKit
import CommandSupport
import KeyCrypto
import ServiceConfiguration

extension Command {
    private static let noDaemon = CommandOption(
        "--no-daemon", .flag, help: "look at the files, stores and clock alone, before the daemon runs")

    /// `latchkey doctor`
    package static let doctor = Command(
        "doctor",
        summary: "Look over an installation and the daemon that runs, and say what to fix",
        details: """
            Looks from inside at the configuration and everything that it names: permissions, certificates and their ends, proofs of the
            stores, room on the disk, the kernel's clock, and settings that are hardly ever meant (one secret for several uses, every
            address as a trusted proxy, a retention below the roll-up). Then it asks the daemon: readiness, clock and its steps, locked
            memory, descriptors, the last reload, and whether each listener presents the certificate that the configuration names. With
            --viewer-token and --asset-id it asks for a license as a device does, and opens it.

            Run it as the service's user or root, on the node. Nothing is changed. Each finding is a line, with what to do about it
            behind an arrow. The exit status is 1 if something is bad, and 0 if there are warnings alone.
            """,
        examples: [
            "latchkey doctor --config latchkey.json5",
            "latchkey doctor --config latchkey.json5 --viewer-token @token --asset-id skd://movie-1 --json",
        ],
        options: [CommandOption.config, noDaemon, AdminClient.server, AdminClient.token] + LicenseCheck.options + [
            .json
        ],
        run: { arguments, context throws(CommandError) in
            let findings = try examine(arguments, context)
            let badCount = findings.count { $0.verdict == .bad }
            if arguments.isSet(.json) {
                try context.printObject { writer in
                    writer.member("isSound", badCount == 0)
                    writer.objects("findings", findings) { $1.write(to: &$0) }
                }
            } else {
                for finding in findings { try context.print(finding.text) }
            }
            if badCount > 0 { throw .failed("\(badCount) of \(findings.count) checks found something bad") }
        })

    private static func examine(
        _ arguments: Arguments, _ context: CommandContext
    ) throws(CommandError) -> [DoctorFinding] {
        let path = try arguments.required(.config)
        let file: ConfigurationFile
        let loaded: LoadedConfiguration
        do throws(ConfigurationError) {
            file = try ConfigurationFile(path: path, environment: context.environment)
            loaded = try LoadedConfiguration.load(file, environment: context.environment)
        } catch {
            return [
                .bad(
                    "configuration", error.description,
                    remedy: "mend these fields: the daemon would not start with them")
            ]
        }
        var findings: [DoctorFinding] = [.good("configuration", "\(path) and the files that it names are good")]
        findings += file.warnings.map {
            .warning(
                "configuration", "\($0)",
                remedy: "the daemon works with it; see operate/configure.md of the documentation")
        }
        findings += AdminRolesWarning.warnings(about: file.configuration).map {
            .warning("configuration", "\($0)", remedy: "see security/administrators.md of the documentation")
        }
        findings += loaded.shortSecrets.map {
            .warning("configuration", "\($0)", remedy: ShortSecretWarning.remedy)
        }
        findings += DeploymentLint(file.configuration, environment: context.environment).findings
        let named = LoadedConfiguration.namedFiles(of: file, environment: context.environment)
        let paths = named.compactMap { try? $0.path(environment: context.environment) }
        findings +=
            InstallationChecks(path: path, loaded: loaded, filePaths: [path] + paths, now: context.now).findings
        guard !arguments.isSet(noDaemon) else { return findings + [.skipped("daemon", "--no-daemon")] }
        let client = try AdminClient(arguments, file, context, for: .scrape)
        findings += DaemonChecks(client: client, loaded: loaded, environment: context.environment).findings
        return findings + (try licenses(arguments, loaded, context))
    }

    private static func licenses(
        _ arguments: Arguments, _ loaded: LoadedConfiguration, _ context: CommandContext
    ) throws(CommandError) -> [DoctorFinding] {
        guard let token = arguments.value(LicenseCheck.viewerToken) else {
            return [
                .skipped(
                    "license", "no license was asked for",
                    remedy: "--viewer-token and --asset-id ask for one, as a device does")
            ]
        }
        let assetID = try arguments.required(LicenseCheck.assetID)
        let url = arguments.value(LicenseCheck.url) ?? loaded.configuration.publicURL.map { "\($0)/fps/license" }
        guard let url else {
            throw .usage("\(LicenseCheck.url.usage) is missing: the configuration has no publicURL")
        }
        var check = LicenseCheck(
            loaded: loaded, token: try SecretArgument.token(LicenseCheck.viewerToken, token, context), assetID: assetID,
            url: url, now: context.now)
        if let path = arguments.value(LicenseCheck.authorities) {
            check.authorities = try CommandFile.read(path).revealed()
        }
        return check.findings
    }
}
