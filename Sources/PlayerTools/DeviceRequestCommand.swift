import Administration
import ByteCoding
import CommandLineKit
import CommandSupport
import DeviceSimulation
import FairPlay
import Foundation
import KeyCrypto

extension Command {
    /// `latchkey device request`
    static let deviceRequest = Command(
        "request",
        summary: "Ask a license server for a key as a device does, and check its answer",
        details: """
            Makes a new SPC, sends it with the token, and opens the CKC of the answer. It checks the CKC as strictly as a device
            does: R1, every block of the return request, all sizes, and that this device supports the terms. Prints the content key,
            its initialization vector and the terms. If a check fails, it prints no key and exits with status 1.

            With --offline it asks for a license that the device may store. A renewal is a request like any other, with the
            playback state "renewal", and with the device id and the session of the first request, which are printed. The session
            token of the first answer can replace the token, and each renewal brings the next one (--save-session-token).

            With --as PLAYER (several with commas between them, or "all") it sends the request that this player would send: its
            shape of body, header fields, place of the token, and asset id, made from the address --skd. It reads the answer as the
            player would, opens the CKC, and prints a line for each player: shape, version of HTTP, status, milliseconds, terms,
            and whether the film would play. No key is printed. The exit status is 0 if every chosen player would play, and
            otherwise 1.

            Each player fetches the certificate from beside the license route unless --certificate is given. The certificate may be
            one of Apple's, because only its public key is used; the application secret must belong to it. Each --skd asks for one
            key. Players that name a key by its id need a --skd with that id, or --key-id; without it "all" leaves them out. TLS is
            always verified. Requests go through the proxies of the environment or --proxy. Each request is sent once, even if the
            player would repeat it.

            Players: \(Player.allCases.map(\.rawValue).joined(separator: ", ")).

            The simulated device is for tests of servers that you operate. It needs the server's application secret, and so cannot
            get keys from other servers.
            """,
        examples: [
            "latchkey device request --url http://127.0.0.1:8080 --certificate development/fairplay/bundle.bin "
                + "--application-secret development/fairplay/application-secret.hex --asset-id movie-1 --token @token",
            "latchkey token mint --config development/latchkey.json5 --content movie-1 | latchkey device request "
                + "--url http://127.0.0.1:8080 --certificate development/fairplay/bundle.bin --application-secret "
                + "development/fairplay/application-secret.hex --asset-id movie-1 --spc-version 2 --json --token -",
            "latchkey device request --url http://127.0.0.1:8080 --certificate development/fairplay/bundle.bin "
                + "--application-secret development/fairplay/application-secret.hex --asset-id movie-1 --token @token "
                + "--offline --capabilities hdcp,offline-key",
            "latchkey device request --url http://127.0.0.1:8080 --certificate development/fairplay/bundle.bin "
                + "--application-secret development/fairplay/application-secret.hex --asset-id movie-1 --token @token "
                + "--playback-state renewal --session-id 1122334455667788",
            "latchkey device request --url http://127.0.0.1:8080 --certificate development/fairplay/bundle.bin "
                + "--application-secret development/fairplay/application-secret.hex --asset-id movie-1 "
                + "--token @session-token --save-session-token session-token --renew --playback-state renewal "
                + "--session-id 1122334455667788 --device-id 00112233445566778899aabbccddeeff00112233",
            "latchkey device request --as all --url https://keys.example.com/fps/license --skd skd://movie-1 "
                + "--token @token --application-secret @fairplay/application-secret.hex",
            "latchkey device request --as safari-cenc,apple-streaming-keys --url https://127.0.0.1:8443 --ca authority.pem "
                + "--skd skd://2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11 --skd skd://6d0e2f6c-7d3c-4c5e-9c57-0d6a5f0f6a12 "
                + "--token @token --application-secret @fairplay/application-secret.hex --json",
        ],
        options: [
            ServerArguments.url, ServerArguments.token, DeviceRequestCommand.offline, DeviceRequestCommand.renew,
            DeviceArguments.optionalCertificate, DeviceArguments.applicationSecret, DeviceArguments.dask,
            DeviceArguments.optionalAssetID, DeviceArguments.version,
        ] + DeviceStatements.options + DeviceRequestCommand.files + PlayerCommand.options
            + ClientNetwork.options + [.json],
        run: { arguments, context throws(CommandError) in
            if arguments.isSet(PlayerCommand.players) {
                try PlayerCommand(arguments, context).run()
            } else {
                try DeviceRequestCommand(arguments, context).run()
            }
        })
}

struct DeviceRequestCommand {
    static let offline = CommandOption(
        "--offline", .flag, help: "ask for a license that the device may store: adds offline=1 to the address")
    static let renew = CommandOption(
        "--renew", .flag, help: "say that the request is a renewal: adds renew=true to the address")
    static let saveSessionToken = CommandOption(
        "--save-session-token", .value("FILE"), help: "save the token that renews the license, if the answer has one")
    static let saveCKC = CommandOption("--save-ckc", .value("FILE"), help: "save the CKC of the answer")

    /// The options that save parts of the request or the answer, for a single request.
    static let files = [ServerArguments.saveSPC, saveCKC, saveSessionToken, ServerArguments.secrets]

    private let arguments: Arguments
    private let context: CommandContext
    private let client: LicenseClient
    private let address: URL

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        self.arguments = arguments
        self.context = context
        for option in [DeviceArguments.certificate, DeviceArguments.assetID] {
            guard arguments.isSet(option) else { throw .usage("\(option.usage) is missing") }
        }
        for option in PlayerCommand.options where arguments.isSet(option) {
            throw .usage("\(option.name) needs --as")
        }
        let server = try ServerArguments(arguments, context)
        client = try LicenseClient(arguments, bearer: server.bearer)
        address = try Self.address(server, arguments)
    }

    /// The license route, with the query that the options add.
    static func address(_ server: ServerArguments, _ arguments: Arguments) throws(CommandError) -> URL {
        var address = server.address
        if arguments.isSet(offline) { address = try LicenseURL.adding("offline", "1", to: address) }
        if arguments.isSet(renew) { address = try LicenseURL.adding("renew", "true", to: address) }
        return address
    }

    func run() throws(CommandError) {
        let (request, options) = try DeviceArguments.makeRequest(arguments, context)
        try request.save(arguments)
        let answer = try client.post(spc: request.message, to: address)
        guard answer.status == 200 else { throw .failed(LicenseProblem(answer).description) }
        if let path = arguments.value(Self.saveCKC) { try CommandFile.write(answer.body, to: path, isSecret: false) }
        if let path = arguments.value(Self.saveSessionToken), let token = answer.sessionToken {
            try CommandFile.write(Array((token + "\n").utf8), to: path, isSecret: true)
        }
        try report(try open(answer, with: request.secrets), in: answer, to: request, options)
    }

    private func open(_ answer: ReceivedLicense, with secrets: RequestSecrets) throws(CommandError) -> OpenedLicense {
        let crypto = try wrap(CommandError.cryptography, try CryptoContext())
        do throws(CKCFault) {
            return try CKCOpener(secrets: secrets, using: crypto).open(answer.body)
        } catch {
            let id = LicenseProblem.printable(answer.requestID ?? "none")
            throw .failed(
                "a device would refuse this answer (status 200, request id \(id)): "
                    + error.explanation(of: FileKind(answer.body)))
        }
    }

    private func report(
        _ license: OpenedLicense, in answer: ReceivedLicense, to request: DeviceRequest, _ options: DeviceOptions
    ) throws(CommandError) {
        let session = options.playbackState.map { hexadecimal($0.sessionID) }
        guard arguments.isSet(.json) else {
            let lines =
                license.lines + [
                    "device id    \(request.secrets.deviceID)", "session      \(session ?? "none")",
                    "license id   \(LicenseProblem.printable(answer.licenseID ?? "none"))",
                    "renew after  \(LicenseProblem.printable(answer.renewAfter ?? "never"))",
                    "license      \(answer.body.count) bytes of version \(license.version), for an SPC of version "
                        + "\(request.version.rawValue)",
                ]
            return try context.print(lines.joined(separator: "\n"))
        }
        try context.printObject { writer in
            license.write(to: &writer)
            writer.member("deviceID", Hexadecimal.encode(request.secrets.deviceID.bytes))
            writer.member("sessionID", session)
            writer.member("spcVersion", Int(request.version.rawValue))
            writer.member("licenseBytes", answer.body.count)
            writer.member("requestID", answer.requestID)
            writer.member("licenseID", answer.licenseID)
            writer.member("renewAfter", answer.renewAfter.flatMap { Int64($0) })
            writer.member("hasSessionToken", answer.sessionToken != nil)
        }
    }
}

extension DeviceRequest {
    /// Writes the SPC and its secrets to the files that the arguments name.
    func save(_ arguments: Arguments) throws(CommandError) {
        if let path = arguments.value(ServerArguments.secrets) { try RequestSecretsFile(self).write(to: path) }
        if let path = arguments.value(ServerArguments.saveSPC) {
            try CommandFile.write(message, to: path, isSecret: false)
        }
    }
}
