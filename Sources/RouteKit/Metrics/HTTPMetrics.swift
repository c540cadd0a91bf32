package import HTTPMessages
package import HTTPServing
package import Licensing
import POSIXSockets
import Synchronization
package import Telemetry

/// Counts what all listeners see: connections, handshakes and responses. It logs why handshakes fail.
package final class HTTPMetrics: Sendable {
    package let connections: Gauge
    package let shortages = ConnectionShortages()
    private let responses: MetricFamily<StatusClass, Counter>
    private let responseDurations: MetricFamily<StatusClass, Histogram>
    /// The metrics of the status class that most requests have, looked up once.
    private let successes: Counter
    private let successDurations: Histogram
    private let refusedConnections: MetricFamily<HTTPConnectionRefusal, Counter>
    private let refusedInputs: Counter
    private let abuses: MetricFamily<ConnectionAbuse, Counter>
    private let handshakes: MetricFamily<HandshakeResult, Counter>
    private let failedHandshakes: MetricFamily<TLSHandshakeFailure, Counter>

    private let handshakeLog = Mutex<(@Sendable (HTTPPeer, TLSHandshakeFailure) -> Void)?>(nil)

    package init(in registry: MetricsRegistry) {
        responses = registry.counters(
            "latchkey_http_requests_total", help: "HTTP requests that were answered, by class of status.",
            by: StatusClass.self)
        responseDurations = registry.histograms(
            "latchkey_http_request_duration_seconds",
            help: "Time from the last byte of a request to its answer, by class of status.",
            bounds: Histogram.requestDurationBounds, by: StatusClass.self)
        successes = responses[.success]
        successDurations = responseDurations[.success]
        connections = registry.gauge("latchkey_http_connections", help: "HTTP connections that are open.")
        refusedConnections = registry.counters(
            "latchkey_http_connections_refused_total",
            help: "Connections that were refused, or closed later because resources ran short, by reason.",
            by: HTTPConnectionRefusal.self)
        refusedInputs = registry.counter(
            "latchkey_http_inputs_refused_total", help: "Input that could not be parsed as a request.")
        abuses = registry.counters(
            "latchkey_http_connections_abused_total",
            help: "Connections that were ended because of what their clients did, by reason.", by: ConnectionAbuse.self)
        handshakes = registry.counters(
            "latchkey_tls_handshakes_total", help: "TLS handshakes that succeeded.", by: HandshakeResult.self)
        failedHandshakes = registry.counters(
            "latchkey_tls_handshakes_failed_total", help: "TLS handshakes that failed, by reason.",
            by: TLSHandshakeFailure.self)
    }

    /// From now on, a line says why a handshake has failed. Strangers can cause it, so the log samples it. `form` says
    /// what is written of the client's address.
    package func logHandshakes(to logger: Logger, _ form: @escaping @Sendable () -> ClientAddressForm) {
        handshakeLog.withLock {
            $0 = { peer, reason in
                guard let (cause, remedy) = reason.words else { return }
                logger.log(
                    .info, "tls_handshake_failed", from: .stranger,
                    [.string("listener", peer.listener)]
                        + (form().text(of: peer.address.ip).map { [.string("client", $0)] } ?? [])
                        + [
                            .string("reason", reason.rawValue), .string("cause", cause), .string("remedy", remedy),
                        ])
            }
        }
    }

    /// The number of responses whose status is of a class.
    package func responses(of statusClass: StatusClass) -> Counter { responses[statusClass] }
}

extension HTTPMetrics: HTTPServerObserver {
    package func handshakeFinished(_ peer: HTTPPeer, after duration: Duration) {
        handshakes[peer.tls?.isResumed == true ? .resumed : .full].increment()
    }

    package func handshakeFailed(_ peer: HTTPPeer, because reason: TLSHandshakeFailure) {
        failedHandshakes[reason].increment()
        handshakeLog.withLock(\.self)?(peer, reason)
    }

    package func connectionOpened(_ peer: HTTPPeer) {
        connections.add(1)
    }

    package func connectionClosed(_ peer: HTTPPeer, after duration: Duration) {
        connections.add(-1)
    }

    package func connectionRefused(_ peer: HTTPPeer?, because reason: HTTPConnectionRefusal) {
        refusedConnections[reason].increment()
        shortages.note(peer, reason)
    }

    package func requestFinished(
        _ peer: HTTPPeer, method: HTTPMethod, status: HTTPStatus, after duration: Duration
    ) {
        let statusClass = StatusClass(status)
        (statusClass == .success ? successes : responses[statusClass]).increment()
        (statusClass == .success ? successDurations : responseDurations[statusClass]).observe(duration)
    }

    package func inputRefused(_ peer: HTTPPeer, _ problem: HTTPProblem) {
        refusedInputs.increment()
    }

    package func connectionAbused(_ peer: HTTPPeer, _ abuse: ConnectionAbuse) {
        abuses[abuse].increment()
    }
}

extension HTTPConnectionRefusal: MetricLabels {
    package static let labelNames = ["reason"]
}

extension ConnectionAbuse: MetricLabels {
    package static let labelNames = ["abuse"]
}

private enum HandshakeResult: String, MetricLabels {
    case full
    case resumed

    static let labelNames = ["result"]
}

extension TLSHandshakeFailure: MetricLabels {
    package static let labelNames = ["reason"]

    /// What has happened, and what to do about it. Nil for connections that end without a word, as those of load
    /// balancers and port scanners do.
    fileprivate var words: (cause: String, remedy: String)? {
        switch self {
        case .timeout, .closed: nil
        case .notTLS:
            ("the client speaks plain HTTP, or another protocol, to a listener with TLS", "have it use https://")
        case .version: ("the client speaks neither TLS 1.2 nor TLS 1.3", "update the client")
        case .parameters:
            (
                "client and server have no cipher, group or signature algorithm in common",
                "compare what the client offers with cipherList and cipherSuites of the listener's tls"
            )
        case .applicationProtocol:
            ("the client offers neither HTTP/1.1 nor HTTP/2 (ALPN)", "have it offer http/1.1 or h2, or nothing")
        case .clientCertificate:
            (
                "the client has shown no certificate of an authority in clientCA",
                "give the client such a certificate, or name its authority in clientCA of the listener's tls"
            )
        case .clientChainTooLarge:
            ("the client has sent a certificate chain of more than 16 KB", "have it send only its own certificate")
        case .refused:
            (
                "the client has ended the handshake; it probably does not trust this server's certificate",
                "see that the certificate is valid for the name that the client asks for, that tls.certificate has the"
                    + " whole chain, and that the client knows the authority"
            )
        case .other: ("the client's part of the handshake broke a rule of TLS", "see which program connects")
        }
    }
}

package enum StatusClass: String, MetricLabels {
    case success = "2xx"
    case redirection = "3xx"
    case clientError = "4xx"
    case serverError = "5xx"

    package static let labelNames = ["class"]

    init(_ status: HTTPStatus) {
        self =
            switch status.code {
            case 200..<300: .success
            case 300..<400: .redirection
            case 400..<500: .clientError
            default: .serverError  // A status ends at 599.
            }
    }
}
