import ByteCoding
import CommandLineKit
import Foundation
import HTTPCalls
import KeyCrypto
import OperatorCommands
import ServiceConfiguration

/// Reaches an admin listener of a running daemon, as its configuration or the command line says.
struct AdminConnection {
    private static let config = CommandOption(
        "--config", .value("FILE"), help: "the daemon's configuration, with address and token of its admin listener")
    private static let url = CommandOption(
        "--url", .value("URL"), help: "the admin listener, if the configuration does not say or TLS has another name")
    private static let token = CommandOption(
        "--token", .secret("TOKEN"), help: "its token, in place of the one in tokenFile")
    private static let authorities = CommandOption(
        "--ca", .value("FILE"), help: "authorities in PEM that alone may vouch for its certificate")
    static let options = [config, url, token, authorities]

    /// For messages.
    let place: String
    private let base: String
    private let bearer: String
    private var settings = HTTPRoundTripSettings()

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        let file = try arguments.value(Self.config).map { (path) throws(CommandError) in
            try wrap(
                { (error: ConfigurationError) in CommandError.failed(error.description) },
                try ConfigurationFile(path: path, environment: context.environment))
        }
        let listener = file?.configuration.listeners.admin.first
        // The token goes to the listener alone.
        settings.proxy = .none
        settings.timeout = .seconds(10)
        if let url = arguments.value(Self.url) {
            guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
                throw .usage("--url takes an address such as http://127.0.0.1:9443")
            }
            base = url.hasSuffix("/") ? String(url.dropLast()) : url
            place = url
        } else if let listener {
            guard let address = LocalAddress(listener) else {
                throw .usage("the configuration says \(listener.address), which names no address: add --url")
            }
            base = address.base
            settings.unixSocket = address.unixSocket
            place = address.unixSocket ?? address.base
        } else if file != nil {
            throw .failed("the configuration has no admin listener")
        } else {
            throw .usage("--config or --url is missing")
        }
        if let text = arguments.value(Self.token) {
            bearer = try SecretArgument.token(Self.token, text, context)
        } else if let listener {
            bearer = try Self.token(of: listener, context)
        } else {
            throw .usage("--token is missing")
        }
        if let path = arguments.value(Self.authorities) {
            settings.authorities = try CommandFile.read(path).revealed()
        }
    }

    /// Posts nothing to a path, and gives the body of the answer, which had the status 200.
    func post(_ path: String) throws(CommandError) -> [UInt8] {
        let request = HTTPRoundTripRequest(.post([]), base + path, fields: ["Authorization: Bearer \(bearer)"])
        let answer: HTTPRoundTripAnswer
        do throws(HTTPRoundTripError) {
            answer = try HTTPRoundTrip.perform(request, settings)
        } catch {
            throw .failed("\(place): \(Self.explanation(of: error))")
        }
        guard answer.status == 200 else { throw .failed("\(place): \(Self.explanation(of: answer))") }
        return answer.body
    }

    private static func token(
        of listener: Configuration.AdminListener, _ context: CommandContext
    ) throws(CommandError) -> String {
        guard let source = listener.tokenFile else {
            throw .failed("the admin listener has no tokenFile; name a token by --token")
        }
        let secret = try wrap(
            { (error: FileError) in CommandError.failed("the token of the admin listener: \(error)") },
            try SecretFile.read(source, environment: context.environment))
        let text = String(decoding: secret.revealed(), as: UTF8.self)
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func explanation(of error: HTTPRoundTripError) -> String {
        switch error {
        case .notConnected: "nothing accepts connections there; is latchkeyd running, and is this its admin listener?"
        case .hostUnknown: "there is no host of this name"
        case .timedOut: "no answer within 10 s"
        case .certificateRefused(let text):
            "its certificate was refused (\(text)); name its authorities by --ca, and its name by --url"
        case .authoritiesUnusable: "--ca holds no certificates in PEM"
        case .closedEarly: "the connection ended before the answer"
        case .answerTooLarge: "the answer is none of an admin listener"
        case .proxyUnknown, .proxyRefused: "a proxy stands between, which is not asked"
        case .failed(let code, let text): "the request failed: \(text) (\(code))"
        }
    }

    private static func explanation(of answer: HTTPRoundTripAnswer) -> String {
        let problem = (try? JSONReader.parse(answer.body))?.object
        let detail = problem?["detail"]?.string ?? "status \(answer.status)"
        return answer.status == 404 ? "\(detail) Is it an admin listener of this version?" : detail
    }
}
