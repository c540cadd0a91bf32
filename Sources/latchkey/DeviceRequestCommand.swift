import ByteCoding
import DeviceSimulation
import FairPlay
import Foundation
import KeyCrypto
import LatchkeyService

extension Command {
    /// `latchkey device request`
    static let deviceRequest = Command(
        "request",
        summary: "Ask a licence server for a key as a device does, and check its answer",
        details: """
            Makes a fresh SPC, sends it with the token, and opens the CKC that comes back as strictly as a device: R1, every
            block that was asked back, all sizes. Prints the content key, its initialization vector and the terms; exits with
            status 1, and prints no key, if anything does not hold.

            The simulated device tests servers that you operate. It needs the server's application secret, and so cannot obtain
            keys from anybody else's.
            """,
        examples: [
            "latchkey device request --url http://127.0.0.1:8080 --certificate development/fairplay/bundle.bin "
                + "--application-secret development/fairplay/application-secret.hex --asset-id movie-1 --token @token",
            "latchkey token mint --config development/latchkey.json5 --content movie-1 | latchkey device request "
                + "--url http://127.0.0.1:8080 --certificate development/fairplay/bundle.bin --application-secret "
                + "development/fairplay/application-secret.hex --asset-id movie-1 --spc-version 2 --json --token -",
        ],
        options: [DeviceRequestCommand.url, DeviceRequestCommand.token] + DeviceArguments.options
            + [DeviceRequestCommand.saveSPC, DeviceRequestCommand.saveCKC, DeviceRequestCommand.secrets, .json],
        run: { arguments, context throws(CommandError) in
            try await DeviceRequestCommand(arguments, context).run()
        })
}

private struct DeviceRequestCommand {
    static let url = CommandOption(
        "--url", .value("URL"), help: "the server, or its licence route if that is not /fps/license", isRequired: true)
    static let token = CommandOption("--token", .secret("TOKEN"), help: "the bearer token", isRequired: true)
    static let saveSPC = CommandOption("--save-spc", .value("FILE"), help: "keep the SPC that is sent")
    static let saveCKC = CommandOption("--save-ckc", .value("FILE"), help: "keep the CKC that comes back")
    static let secrets = CommandOption(
        "--secrets", .value("FILE"), help: "keep what opens the two, for spc inspect and ckc inspect")

    private let arguments: Arguments
    private let context: CommandContext
    private let address: URL
    private let bearer: String

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        self.arguments = arguments
        self.context = context
        address = try LicenseURL.parse(arguments.required(Self.url))
        bearer = try SecretArgument.token(Self.token, arguments.required(Self.token), context)
    }

    func run() async throws(CommandError) {
        let (request, version) = try DeviceArguments.makeRequest(arguments, context)
        if let path = arguments.value(Self.secrets) { try RequestSecretsFile(request).write(to: path) }
        if let path = arguments.value(Self.saveSPC) {
            try CommandFile.write(request.message, to: path, isSecret: false)
        }
        let answer = try await LicenseClient.post(request.message, to: address, token: bearer)
        guard answer.status == 200 else { throw .failed(LicenseProblem(answer).description) }
        if let path = arguments.value(Self.saveCKC) { try CommandFile.write(answer.body, to: path, isSecret: false) }
        try report(try open(answer, with: request.secrets), answer, version)
    }

    private func open(_ answer: LicenseAnswer, with secrets: RequestSecrets) throws(CommandError) -> OpenedLicense {
        let crypto = try Cryptography.attempt { () throws(CryptoError) in try CryptoContext() }
        do throws(CKCFault) {
            return try CKCOpener(secrets: secrets, using: crypto).open(answer.body)
        } catch {
            let id = LicenseProblem.printable(answer.requestID ?? "none")
            throw .failed("a device would refuse this answer (status 200, request id \(id)): \(error.explanation)")
        }
    }

    private func report(
        _ license: OpenedLicense, _ answer: LicenseAnswer, _ version: SPCVersion
    ) throws(CommandError) {
        guard arguments.isSet(.json) else {
            return try context.print(
                (license.lines + ["licence      \(answer.body.count) bytes, for an SPC of version \(version.rawValue)"])
                    .joined(separator: "\n"))
        }
        try context.printObject { writer in
            license.write(to: &writer)
            writer.member("spcVersion", Int(version.rawValue))
            writer.member("licenseBytes", answer.body.count)
            writer.member("requestID", answer.requestID)
        }
    }
}
