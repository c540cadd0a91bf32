import HTTPMessages
import HTTPServing
import Telemetry

/// Counts what all listeners see: connections, handshakes and responses.
final class HTTPMetrics: Sendable {
    let connections: Gauge
    let shortages = ConnectionShortages()
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

    init(in registry: MetricsRegistry) {
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

    /// The number of responses whose status is of a class.
    func responses(of statusClass: StatusClass) -> Counter { responses[statusClass] }
}

extension HTTPMetrics: HTTPServerObserver {
    func handshakeFinished(_ peer: HTTPPeer, after duration: Duration) {
        handshakes[peer.tls?.isResumed == true ? .resumed : .full].increment()
    }

    func handshakeFailed(_ peer: HTTPPeer, because reason: TLSHandshakeFailure) {
        failedHandshakes[reason].increment()
    }

    func connectionOpened(_ peer: HTTPPeer) {
        connections.add(1)
    }

    func connectionClosed(_ peer: HTTPPeer, after duration: Duration) {
        connections.add(-1)
    }

    func connectionRefused(_ peer: HTTPPeer?, because reason: HTTPConnectionRefusal) {
        refusedConnections[reason].increment()
        shortages.note(peer, reason)
    }

    func requestFinished(_ peer: HTTPPeer, method: HTTPMethod, status: HTTPStatus, after duration: Duration) {
        let statusClass = StatusClass(status)
        (statusClass == .success ? successes : responses[statusClass]).increment()
        (statusClass == .success ? successDurations : responseDurations[statusClass]).observe(duration)
    }

    func inputRefused(_ peer: HTTPPeer, _ problem: HTTPProblem) {
        refusedInputs.increment()
    }

    func connectionAbused(_ peer: HTTPPeer, _ abuse: ConnectionAbuse) {
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
}

enum StatusClass: String, MetricLabels {
    case success = "2xx"
    case redirection = "3xx"
    case clientError = "4xx"
    case serverError = "5xx"

    static let labelNames = ["class"]

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
