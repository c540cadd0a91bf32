import CommandLineKit
import CommandSupport
import Foundation

/// The options for the license server of a command, and for files in which it saves the request.
struct ServerArguments {
    static let url = CommandOption(
        "--url", .value("URL"), help: "the server, or its license route if that is not /fps/license", isRequired: true)
    static let token = CommandOption("--token", .secret("TOKEN"), help: "the bearer token", isRequired: true)
    static let saveSPC = CommandOption("--save-spc", .value("FILE"), help: "save the SPC that is sent")
    static let secrets = CommandOption(
        "--secrets", .value("FILE"), help: "save the secrets that open the SPC and the CKC, for the inspect commands")

    let address: URL
    let bearer: String

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        address = try LicenseURL.parse(arguments.required(Self.url))
        bearer = try SecretArgument.token(Self.token, arguments.required(Self.token), context)
    }
}
