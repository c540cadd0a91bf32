import CommandLineKit
import FairPlay
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import Telemetry

/// All metrics of the daemon. Labels are closed sets: no subject, asset or device is ever one.
final class ServiceMetrics: Sendable {
    let registry: MetricsRegistry
    private let issuedVersion1: Counter
    private let issuedVersion2: Counter
    private let issuedVersion3: Counter
    private let syncReports: Counter
    private let repeatedLicenses: Counter
    private let requests: MetricFamily<RequestLabels, Counter>
    /// The counter that most requests use, looked up once.
    private let issuedRaw: Counter
    private let sessionReports: MetricFamily<ReportOutcome, Counter>
    private let refusals: MetricFamily<ProblemCode, Counter>
    private let licenseDuration: Histogram
    private let responses: MetricFamily<StatusClass, Counter>
    private let responseDurations: MetricFamily<StatusClass, Histogram>
    /// The metrics of the status class that most requests have, looked up once.
    private let successes: Counter
    private let successDurations: Histogram
    private let connections: Gauge
    private let refusedConnections: MetricFamily<HTTPConnectionRefusal, Counter>
    private let refusedInputs: Counter
    private let abuses: MetricFamily<ConnectionAbuse, Counter>
    private let handshakes: MetricFamily<HandshakeResult, Counter>
    private let failedHandshakes: MetricFamily<TLSHandshakeFailure, Counter>
    /// Counted by the gates of the admin listeners.
    let refusedAdminTokens: MetricFamily<AdminGate.TokenRefusal, Counter>
    /// Counted by the gate of packagers.
    let refusedPackagerCredentials: MetricFamily<PackagerGate.CredentialRefusal, Counter>
    private let lastReload: Gauge
    private let lastReloadTime: Gauge
    /// Noted by all that refuse.
    let refusalCounts = RefusalCounts()
    /// Noted by the parts of the pipeline in which requests wait.
    let overload = OverloadCounts()

    init(registry: MetricsRegistry, rsaOperations: RSAOperationCount) {
        self.registry = registry
        let issued = registry.counters(
            "latchkey_licenses_issued_total", help: "Licences that were issued, by SPC version.", by: IssuedLabels.self)
        issuedVersion1 = issued[.version1]
        issuedVersion2 = issued[.version2]
        issuedVersion3 = issued[.version3]
        syncReports = registry.counter(
            "latchkey_sync_reports_total", help: "Accepted reports of devices about their stored keys.")
        repeatedLicenses = registry.counter(
            "latchkey_licenses_repeated_total",
            help: "Of the issued licences, those that were answers to copies of a request.")
        requests = registry.counters(
            "latchkey_license_requests_total",
            help: "SPCs, and requests refused as a whole, by the shape of their request and their outcome.",
            by: RequestLabels.self)
        issuedRaw = requests[RequestLabels(.raw, .issued)]
        sessionReports = registry.counters(
            "latchkey_session_reports_total",
            help: "Playback sessions that devices report as ended, and reports that name none, by outcome.",
            by: ReportOutcome.self)
        refusals = registry.counters(
            "latchkey_licenses_refused_total", help: "Licence requests that were refused, by code.",
            by: ProblemCode.self)
        refusalCounts.register(in: registry)
        licenseDuration = registry.histogram(
            "latchkey_license_duration_seconds",
            help: "Time from a whole licence request to its licence.", bounds: Histogram.requestDurationBounds)
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
        refusedAdminTokens = registry.counters(
            "latchkey_admin_tokens_refused_total",
            help: "Refused tokens of admin listeners: wrong, or not checked because of earlier wrong ones.",
            by: AdminGate.TokenRefusal.self)
        refusedPackagerCredentials = registry.counters(
            "latchkey_packager_credentials_refused_total",
            help: "Refused secrets of packagers: wrong, or not checked because of earlier wrong ones.",
            by: PackagerGate.CredentialRefusal.self)
        lastReload = registry.gauge(
            "latchkey_config_last_reload_successful", help: "Whether the last reload, or the start, succeeded.")
        lastReload.set(1)
        lastReloadTime = registry.gauge(
            "latchkey_config_last_reload_success_timestamp_seconds", help: "When a reload last succeeded; 0 for never.")
        registry.sample(
            "latchkey_rsa_operations_total", help: "RSA private operations.", isCounter: true
        ) { Double(rsaOperations.value) }
        registry.sample(
            "latchkey_rsa_batches_total", help: "Batches in which RSA private operations were run.", isCounter: true
        ) { Double(rsaOperations.batchCount) }
        registry.sample(
            "latchkey_rsa_accelerated_operations_total", help: "RSA private operations that an accelerator computed.",
            isCounter: true
        ) { Double(rsaOperations.acceleratedCount) }
        registry.sample(
            "latchkey_rsa_accelerated_batches_total", help: "Batches of the accelerator, of at most eight operations.",
            isCounter: true
        ) { Double(rsaOperations.acceleratedBatchCount) }
        let overload = overload
        registry.sample("latchkey_overload_waiting", help: "Requests that wait for the overall rate.") {
            Double(overload.waiting)
        }
        registry.sample(
            "latchkey_overload_waited_total", help: "Requests that had to wait for the overall rate.", isCounter: true
        ) { Double(overload.waited) }
        registry.sample(
            "latchkey_overload_refused_total",
            help: "Requests that were refused because they had waited too long, or found no room to wait.",
            isCounter: true
        ) { Double(overload.refused) }
        registry.information(
            "latchkey_build_info", help: "The version of the daemon.", labels: [("version", LatchkeyVersion.current)])
        registry.sample(
            "latchkey_memory_locked", help: "Whether the memory for keys at rest is locked, so that it is not swapped."
        ) { SecretMemory.isLocked ? 1 : 0 }
        ProcessMetrics.register(in: registry)
    }

    /// Registers the counts that licensing itself keeps.
    func register(_ shared: SharedLicensing) {
        registry.sample(
            "latchkey_spc_copies_total", help: "Repeated SPCs that were opened without an RSA operation.",
            isCounter: true
        ) { Double(shared.copyCount) }
        registry.show(
            shared.unwrapTimes.waits, "latchkey_rsa_wait_duration_seconds",
            help: "Time that SPCs wait before their batch of RSA private operations begins.")
        registry.show(
            shared.unwrapTimes.batches, "latchkey_rsa_batch_duration_seconds",
            help: "Time of a batch of RSA private operations.")
    }

    /// Registers how often the wall clock was stepped.
    func register(clockSteps: Counter) {
        registry.sample(
            "latchkey_clock_steps_total", help: "Steps of the wall clock since the daemon started.", isCounter: true
        ) { Double(clockSteps.value) }
    }

    /// Registers the hits and misses of caches.
    func register(caches: [(name: String, count: CacheCount)]) {
        registry.series(
            "latchkey_cache_lookups_total", help: "Look-ups in caches: hits and misses.", isCounter: true,
            labels: ["cache", "result"]
        ) {
            caches.flatMap { name, count in
                [([name, "hit"], Double(count.hitCount)), ([name, "miss"], Double(count.missCount))]
            }
        }
    }

    /// Registers when the served certificates expire. Each scrape asks again, so the value follows a reload.
    func register(certificates: @escaping @Sendable () -> [ServedCertificate]) {
        registry.series(
            "latchkey_certificate_expiry_timestamp_seconds", help: "When a served certificate expires.",
            isCounter: false, labels: ["kind", "name"]
        ) {
            // If a listener has several certificates, the one that expires first counts.
            let ends = Dictionary(certificates().map { ([$0.kind.rawValue, $0.name], $0.end) }, uniquingKeysWith: min)
            return ends.map { ($0.key, Double($0.value)) }
        }
    }

    func issued(_ version: SPCVersion, _ form: MessageForm, isRepeated: Bool, after duration: Duration) {
        (form == .raw ? issuedRaw : requests[RequestLabels(form, .issued)]).increment()
        if isRepeated { repeatedLicenses.increment() }
        switch version {
        case .v1: issuedVersion1.increment()
        case .v2: issuedVersion2.increment()
        case .v3: issuedVersion3.increment()
        }
        licenseDuration.observe(duration)
    }

    /// Registers the degradations. Each part has a sample at all times, also if it works.
    func register(_ degradations: DegradationSource) {
        registry.samples(
            "latchkey_degraded", help: "Whether a part of the daemon does not work now.", label: "part",
            DegradedPart.allCases.map { part in
                (part.rawValue, { degradations.current.contains { $0.part == part } ? 1 : 0 })
            })
    }

    func register(_ health: Health) {
        registry.sample("latchkey_drained", help: "Whether an operator has ordered that the node is not ready.") {
            health.drain == nil ? 0 : 1
        }
    }

    func acceptedSyncReport(_ form: MessageForm) {
        syncReports.increment()
        accepted(form)
    }

    /// Counts an SPC that was answered without a licence, because it asks for none.
    func accepted(_ form: MessageForm) {
        requests[RequestLabels(form, .accepted)].increment()
    }

    func refused(_ code: ProblemCode, _ form: MessageForm) {
        refused(code)
        requests[RequestLabels(form, .refused)].increment()
    }

    /// Counts a refusal at an address that takes no SPCs.
    func refused(_ code: ProblemCode) {
        refusals[code].increment()
    }

    func noted(_ outcome: ReportOutcome) {
        sessionReports[outcome].increment()
    }
}

extension ServiceMetrics {
    func reloadFailed() {
        lastReload.set(0)
    }

    /// Notes a successful reload. `time` is in seconds since 1970.
    func reloadSucceeded(at time: Int64) {
        lastReload.set(1)
        lastReloadTime.set(time)
    }
}

extension ServiceMetrics {
    /// The series of the operator's plots whose numbers are counted here.
    var historySources: [HistorySeries: HistorySource] {
        func rate(_ counter: Counter) -> HistorySource { .rate { Double(counter.value) } }
        func rate(_ classOfStatus: StatusClass) -> HistorySource { rate(responses[classOfStatus]) }
        var sources: [HistorySeries: HistorySource] = [
            .licensesV1: rate(issuedVersion1), .licensesV2: rate(issuedVersion2), .licensesV3: rate(issuedVersion3),
            .licensesRepeated: rate(repeatedLicenses), .latencyMedian: .quantile(0.5, licenseDuration),
            .latency99: .quantile(0.99, licenseDuration), .http2xx: rate(.success), .http3xx: rate(.redirection),
            .http4xx: rate(.clientError), .http5xx: rate(.serverError),
            .connections: .level { [connections] in Double(connections.value) },
        ]
        let groups = Dictionary(grouping: ProblemCode.allCases, by: \.historySeries)
        for (series, codes) in groups { sources[series] = refusalRate(of: codes) }
        sources[.refusals] = refusalRate(of: ProblemCode.allCases)
        return sources
    }

    private func refusalRate(of codes: [ProblemCode]) -> HistorySource {
        let counters = codes.map { refusals[$0] }
        return .rate { counters.reduce(0) { $0 + Double($1.value) } }
    }
}

extension ServiceMetrics: HTTPServerObserver {
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

private struct RequestLabels: MetricLabels {
    enum Outcome: String, CaseIterable {
        case issued, accepted, refused
    }

    static let labelNames = ["shape", "outcome"]
    static let allCases = MessageForm.allCases.flatMap { form in Outcome.allCases.map { RequestLabels(form, $0) } }

    let form: MessageForm
    let outcome: Outcome

    init(_ form: MessageForm, _ outcome: Outcome) {
        self.form = form
        self.outcome = outcome
    }

    var labelValues: [String] { [form.rawValue, outcome.rawValue] }
}

private enum IssuedLabels: String, MetricLabels {
    case version1 = "1"
    case version2 = "2"
    case version3 = "3"

    static let labelNames = ["spc_version"]
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

extension ProblemCode: MetricLabels {
    static let labelNames = ["code"]
}

private enum StatusClass: String, MetricLabels {
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
