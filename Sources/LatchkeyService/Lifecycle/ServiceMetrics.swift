import AdminRoutes
import CommandLineKit
import FairPlay
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import PlayerRoutes
import RouteKit
import Telemetry

/// All metrics of the daemon. Labels are closed sets: no subject, asset or device is ever one.
final class ServiceMetrics: Sendable {
    let registry: MetricsRegistry
    let http: HTTPMetrics
    let player: PlayerMetrics
    /// Counted by the gates of the admin listeners.
    let refusedAdminTokens: MetricFamily<AdminGate.TokenRefusal, Counter>
    private let lastReload: Gauge
    private let lastReloadTime: Gauge
    /// Noted by all that refuse.
    let refusalCounts = RefusalCounts()
    /// Noted by the public routes.
    let preflights = RefusedPreflights()
    /// Noted by the parts of the pipeline in which requests wait.
    let overload = OverloadCounts()

    init(registry: MetricsRegistry, rsaOperations: RSAOperationCount) {
        self.registry = registry
        http = HTTPMetrics(in: registry)
        player = PlayerMetrics(in: registry)
        refusedAdminTokens = AdminGate.refusedTokens(in: registry)
        refusalCounts.register(in: registry)
        preflights.register(in: registry)
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

    /// Registers the degradations. Each part has a sample at all times, also if it works.
    func register(_ degradations: DegradationSource) {
        registry.samples(
            "latchkey_degraded", help: "Whether a part of the daemon does not work now.", label: "part",
            DegradedPart.allCases.map { part in
                (part.rawValue, { degradations.current.contains { $0.part == part } ? 1 : 0 })
            })
    }

    func register(_ health: Health) {
        registry.sample("latchkey_ready", help: "Whether the node is ready, as /readyz says it.") {
            health.isReadyNow ? 1 : 0
        }
        registry.sample("latchkey_drained", help: "Whether an operator has ordered that the node is not ready.") {
            health.drain == nil ? 0 : 1
        }
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
        func rate(_ statusClass: StatusClass) -> HistorySource { rate(http.responses(of: statusClass)) }
        var sources: [HistorySeries: HistorySource] = [
            .licensesV1: rate(player.issuedVersion1), .licensesV2: rate(player.issuedVersion2),
            .licensesV3: rate(player.issuedVersion3),
            .licensesRepeated: rate(player.repeatedLicenses), .latencyMedian: .quantile(0.5, player.licenseDuration),
            .latency99: .quantile(0.99, player.licenseDuration), .http2xx: rate(.success), .http3xx: rate(.redirection),
            .http4xx: rate(.clientError), .http5xx: rate(.serverError),
            .connections: .level { [http] in Double(http.connections.value) },
        ]
        let groups = Dictionary(grouping: ProblemCode.allCases, by: \.historySeries)
        for (series, codes) in groups { sources[series] = refusalRate(of: codes) }
        sources[.refusals] = refusalRate(of: ProblemCode.allCases)
        return sources
    }

    private func refusalRate(of codes: [ProblemCode]) -> HistorySource {
        let counters = codes.map { player.refusals[$0] }
        return .rate { counters.reduce(0) { $0 + Double($1.value) } }
    }
}
