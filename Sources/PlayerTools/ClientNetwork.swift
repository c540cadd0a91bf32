import CommandLineKit
import CommandSupport
import Foundation
import HTTPCalls
import KeyCrypto

/// Sends requests to a license server or a server of playlists, and explains network errors in words.
struct ClientNetwork {
    static let authorities = CommandOption(
        "--ca", .value("FILE"),
        help: "the only certificate authorities to trust, in PEM; the system's unless given")
    static let proxy = CommandOption(
        "--proxy", .value("URL"),
        help: "the proxy for every request, http://HOST:PORT; those of https_proxy and no_proxy unless given")
    static let http1 = CommandOption(
        "--http1", .flag, help: "offer only HTTP/1.1; unless given, HTTP/2 is used over TLS if possible")
    static let timeout = CommandOption(
        "--timeout", .value("DURATION"), help: "the time for one answer, 1s to 2m; 30s unless given")

    static let options = [authorities, proxy, http1, timeout]

    private let settings: HTTPRoundTripSettings
    private let timeoutSeconds: Int64
    /// The end of the message about a server that does not answer.
    private let absenceRemark: String
    /// The end of the message about an answer that is too large.
    private let sizeRemark: String

    /// Reads the options. `answerSizeMaximum` is in bytes.
    init(
        _ arguments: Arguments, answerSizeMaximum: Int = HTTPRoundTripSettings().answerSizeMaximum,
        sizeRemark: String = "no license is",
        absenceRemark: String = "is latchkeyd running, and is this an address at which it listens?"
    ) throws(CommandError) {
        self.absenceRemark = absenceRemark
        self.sizeRemark = sizeRemark
        var settings = HTTPRoundTripSettings()
        settings.answerSizeMaximum = answerSizeMaximum
        settings.offersHTTP2 = !arguments.isSet(Self.http1)
        if let path = arguments.value(Self.authorities) {
            settings.authorities = try CommandFile.read(path).revealed()
        }
        if let text = arguments.value(Self.proxy) {
            guard let scheme = URLComponents(string: text)?.scheme, ["http", "https", "socks5h"].contains(scheme) else {
                throw .usage("--proxy takes an address such as http://127.0.0.1:3128")
            }
            settings.proxy = .url(text)
        }
        timeoutSeconds = try arguments.seconds(Self.timeout, in: 1...120) ?? 30
        settings.timeout = .seconds(timeoutSeconds)
        self.settings = settings
    }

    /// Sends one request. Throws the reason in words if there is no answer.
    func perform(_ request: HTTPRoundTripRequest, _ address: URL) throws(ClientNetworkError) -> HTTPRoundTripAnswer {
        var settings = settings
        // Addresses of this machine need no proxy, unless --proxy names one.
        if settings.proxy == .environment, LicenseURL.isLoopback(address) { settings.proxy = .none }
        do throws(HTTPRoundTripError) {
            return try HTTPRoundTrip.perform(request, settings)
        } catch {
            throw ClientNetworkError(text: LicenseProblem.printable(text(of: error, address)))
        }
    }

    private func text(of error: HTTPRoundTripError, _ address: URL) -> String {
        let server = LicenseURL.hostAndPort(address)
        return switch error {
        case .hostUnknown: "there is no host with the name \(address.host ?? "")"
        case .proxyUnknown: "there is no host with the proxy's name"
        case .notConnected(let text):
            settings.proxy == .environment
                ? "nothing answers at \(server) (\(text)); \(absenceRemark)"
                : "neither \(server) nor the proxy answers (\(text))"
        case .timedOut: "\(server) did not answer within \(timeoutSeconds) s"
        case .certificateRefused(let text):
            "the certificate of \(server) is not trusted (\(text)); name a private authority by --ca"
        case .authoritiesUnusable: "the file of --ca has no certificates in PEM"
        case .proxyRefused(let status): "the proxy does not connect to \(server): status \(status)"
        case .answerTooLarge:
            "the answer of \(server) is larger than \(settings.answerSizeMaximum) bytes; \(sizeRemark)"
        case .closedEarly: "\(server) closed the connection before it had answered"
        case .failed(let code, let text): "the request to \(server) failed: \(text) (\(code))"
        }
    }
}

/// The reason in words why there is no answer.
struct ClientNetworkError: Error, Equatable, Sendable {
    let text: String
}
