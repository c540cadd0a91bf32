import CommandLineKit
import Foundation
import OperatorCommands

/// The options by which a command reaches a licence server, and what it keeps of the exchange.
struct ServerArguments {
    static let url = CommandOption(
        "--url", .value("URL"), help: "the server, or its licence route if that is not /fps/license", isRequired: true)
    static let token = CommandOption("--token", .secret("TOKEN"), help: "the bearer token", isRequired: true)
    static let saveSPC = CommandOption("--save-spc", .value("FILE"), help: "keep the SPC that is sent")
    static let secrets = CommandOption(
        "--secrets", .value("FILE"), help: "keep what opens it and its answer, for spc inspect and ckc inspect")

    let address: URL
    let bearer: String

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        address = try LicenseURL.parse(arguments.required(Self.url))
        bearer = try SecretArgument.token(Self.token, arguments.required(Self.token), context)
    }
}
