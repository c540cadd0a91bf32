import POSIXSockets

extension HTTPRoundTripError {
    /// Why there is no answer, in words. `server` is how the message calls the server.
    ///
    /// libcurl names the host of the URL, which a unix socket does not have. So the path of the socket is looked at.
    package func text(about server: String, _ settings: HTTPRoundTripSettings) -> String {
        switch self {
        case .hostUnknown: "there is no host of the name in \(server)"
        case .notConnected(let text):
            if let path = settings.unixSocket {
                "no daemon answers at \(server): \(UnixSocketAccess.obstacle(to: path))"
            } else {
                "no daemon answers at \(server) (\(text))"
            }
        case .timedOut: "\(server) did not answer within \(settings.timeout.components.seconds) s"
        case .certificateRefused(let text): "the certificate of \(server) is not trusted (\(text))"
        case .authoritiesUnusable: "the file of the authorities has no certificates in PEM"
        case .answerTooLarge: "the answer of \(server) is larger than \(settings.answerSizeMaximum) bytes"
        case .closedEarly: "\(server) closed the connection before it had answered"
        case .proxyUnknown, .proxyRefused: "a proxy stands between this program and \(server)"
        case .failed(let code, let text): "the request to \(server) failed: \(text) (\(code))"
        }
    }
}
