import ByteCoding
import CommandLineKit
import CommandSupport
import Foundation
import HTTPCalls
import KeyCrypto
import POSIXSockets
import ServiceConfiguration

/// Asks the admin listener of a daemon that runs: the one that is named, or the first one of a configuration.
struct AdminClient {
    static let server = CommandOption(
        "--server", .value("URL"),
        help:
            "the admin listener, as http://127.0.0.1:9443 or unix:/run/latchkey/admin; the first of --config unless given"
    )
    static let token = CommandOption(
        "--token", .secret("TOKEN"),
        help: "an admin token; the first of that listener in --config whose roles allow the request unless given")
    static let authorities = CommandOption(
        "--ca", .value("FILE"), help: "authorities in PEM that alone may vouch for the admin listener")
    static let options = [server, token, authorities]

    /// Why there is no answer, in words.
    struct Failure: Error {
        let text: String
        /// Whether the daemon may have got the request, or may get it yet.
        var mayTakeEffect = false
    }

    /// For messages.
    let name: String
    private let url: String
    private let token: String?
    private var settings = HTTPRoundTripSettings()

    /// `file` is the configuration, if one is given. Throws if neither it nor `--server` names a listener.
    ///
    /// - Parameter permission: What the requests need. It selects a token of the configuration.
    init(
        _ arguments: Arguments, _ file: ConfigurationFile?, _ context: CommandContext,
        for permission: AdminPermission? = nil
    ) throws(CommandError) {
        let listeners = file?.configuration.listeners.admin ?? []
        var listener = listeners.first
        if let text = arguments.value(Self.server) {
            name = text.hasSuffix("/") ? String(text.dropLast()) : text
            let own = listeners.first { [name] in Self.name(of: $0) == name }
            listener = own ?? (Self.isOfThisHost(name) ? listener : nil)
        } else if let own = listener.flatMap(Self.name) {
            if case .socket(.internet(_, 0))? = listener?.address {
                throw .usage("the admin listener of the configuration has a free port: name it with --server")
            }
            name = own
        } else {
            throw .usage("--server is missing: the configuration names no address of an admin listener")
        }
        settings.proxy = .none
        settings.timeout = .seconds(10)
        // The metrics of a node with many issuers and packagers are the longest answer.
        settings.answerSizeMaximum = 16 << 20
        if let path = arguments.value(Self.authorities) { settings.authorities = try CommandFile.read(path).revealed() }
        if name.hasPrefix("unix:") {
            settings.unixSocket = String(name.dropFirst(5))
            url = "http://localhost"
        } else if name.hasPrefix("http://") || name.hasPrefix("https://") {
            url = name
        } else {
            throw .usage("--server takes http://HOST:PORT, https://HOST:PORT or unix:PATH")
        }
        if let text = arguments.value(Self.token) {
            token = try SecretArgument.token(Self.token, text, context)
        } else {
            token = try listener.flatMap { (listener) throws(CommandError) in
                try Self.token(of: listener, for: permission, context)
            }
        }
    }

    /// How `--server` names a listener; nil if systemd opens it.
    private static func name(of listener: Configuration.AdminListener) -> String? {
        guard case .socket(let address) = listener.address else { return nil }
        guard case .internet = address else { return "\(address)" }
        return (listener.transport.tls == nil ? "http://" : "https://") + "\(address)"
    }

    /// Whether a server is on this host. Tokens of the configuration go to no other one that it does not name, because
    /// the address may be mistyped.
    private static func isOfThisHost(_ server: String) -> Bool {
        if server.hasPrefix("unix:") { return true }
        guard let host = URLComponents(string: server)?.host else { return false }
        return host == "localhost" || IPAddress(host.filter { !"[]".contains($0) })?.isLoopback == true
    }

    /// The first token of a listener that has a permission. Without one the first token, so that the daemon says which
    /// role is missing. Nil if the listener has no token, as a loopback listener may.
    private static func token(
        of listener: Configuration.AdminListener, for permission: AdminPermission?, _ context: CommandContext
    ) throws(CommandError) -> String? {
        let able = listener.tokens.first { token in
            permission.map { token.roles.permissions.contains($0) } ?? true
        }
        guard let source = listener.tokenFile ?? (able ?? listener.tokens.first)?.file else { return nil }
        let secret = try wrap(
            { (error: FileError) in
                CommandError.failed("cannot read the admin token, which --token can give: \(error)")
            }, try SecretFile.read(source, environment: context.environment))
        var bytes = secret.revealed()
        defer { bytes.wipe() }
        let isSpace: (UInt8) -> Bool = { $0 <= 0x20 }
        guard let end = bytes.lastIndex(where: { !isSpace($0) }) else { return nil }
        return String(decoding: bytes[...end], as: UTF8.self)
    }

    /// The answer to GET of a path, with any status.
    func get(_ path: String) throws(Failure) -> HTTPRoundTripAnswer { try ask(.get, path) }

    /// The answer to POST of nothing to a path, with any status.
    func post(_ path: String) throws(Failure) -> HTTPRoundTripAnswer { try ask(.post([]), path) }

    /// Why there is no good answer, in words.
    func refusal(of status: Int) -> String {
        switch status {
        case 401 where token == nil:
            "\(name) asks for an admin token: give it by --token, because those of the configuration go only to its own"
                + " listeners and to this host"
        case 401: "\(name) does not accept the admin token"
        case 429:
            "\(name) answered with status 429: it has no room for the request, or the admin token is wrong, as many of"
                + " this network were before. Compare the token with that of the daemon"
        case 403: "no role of the admin token allows this at \(name)"
        default: "\(name) answered with status \(status)"
        }
    }

    /// Throws at a public listener, whose answer would otherwise look like one of an admin listener that knows nothing.
    private func ask(_ method: HTTPRoundTripRequest.Method, _ path: String) throws(Failure) -> HTTPRoundTripAnswer {
        let answer = try send(method, path, token)
        if Self.isOfUnknownAddress(answer), Self.isOfUnknownAddress(try send(.get, Self.ownPath, nil)) {
            throw Failure(
                text: "\(name) is a public listener of the daemon, which does not answer operators; name an admin"
                    + " listener by --server (listeners.admin of the configuration)")
        }
        return answer
    }

    /// An address that every admin listener serves, and no public listener.
    private static let ownPath = "/v1/whoami"

    /// Whether a listener of Latchkey says that there is nothing at the address. An admin listener says it too, of a
    /// refusal that it does not know.
    private static func isOfUnknownAddress(_ answer: HTTPRoundTripAnswer) -> Bool {
        answer.status == 404 && answer.value(of: "X-Error-Code") == "not_found"
    }

    private func send(
        _ method: HTTPRoundTripRequest.Method, _ path: String, _ token: String?
    ) throws(Failure) -> HTTPRoundTripAnswer {
        let fields = ["Accept: application/json"] + (token.map { ["Authorization: Bearer \($0)"] } ?? [])
        do throws(HTTPRoundTripError) {
            return try HTTPRoundTrip.perform(HTTPRoundTripRequest(method, url + path, fields: fields), settings)
        } catch {
            throw Failure(text: text(of: error), mayTakeEffect: [.timedOut, .closedEarly].contains(error))
        }
    }

    private func text(of error: HTTPRoundTripError) -> String {
        let text = error.text(about: name, settings)
        return if case .certificateRefused = error { text + "; --ca names its authority" } else { text }
    }
}
