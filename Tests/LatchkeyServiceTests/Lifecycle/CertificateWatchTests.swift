import KeyCrypto
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

@Suite struct CertificateWatchTests {
    private static let now: Int64 = 1_800_000_000

    private func lines(_ certificates: [ServedCertificate]) -> [String] {
        let sink = MemoryLogSink()
        let clock = ManualClock(wallTime: WallTime(seconds: Self.now))
        CertificateWatch({ certificates }, logger: Logger(level: .info, sink: sink, clock: clock), clock: clock).look()
        return sink.lines
    }

    @Test func namesCertificatesThatEndWithinThirtyDaysOrHaveEnded() {
        let notice = CertificateWatch.notice
        let found = lines([
            ServedCertificate(kind: .tls, name: "public[0]", end: Self.now + notice),
            ServedCertificate(kind: .tls, name: "admin[0]", end: Self.now + notice + 1),
            ServedCertificate(kind: .fairPlay, name: "main-2048", end: Self.now - 86_400),
        ])
        #expect(found.count == 2)
        #expect(found[0].contains(#""certificate_expired""#) && found[0].contains(#""name":"main-2048""#))
        #expect(found[0].contains(#""days_left":-1"#))
        #expect(found[1].contains(#""certificate_expiring""#) && found[1].contains(#""name":"public[0]""#))
    }

    /// The metric asks at each scrape, so a certificate that was replaced shows its new end, and one that is gone shows
    /// none.
    @Test func theMetricIsOfWhatIsServedNow() {
        let metrics = ServiceMetrics(registry: MetricsRegistry(), rsaOperations: .init())
        let served = Mutex([
            ServedCertificate(kind: .tls, name: "public[0]", end: 20),
            ServedCertificate(kind: .tls, name: "public[0]", end: 10),
        ])
        metrics.register(certificates: { served.withLock { $0 } })
        let series = #"latchkey_certificate_expiry_timestamp_seconds{kind="tls",name="public[0]"} "#
        #expect(metrics.registry.render().contains(series + "10"))
        served.withLock { $0 = [] }
        #expect(!metrics.registry.render().contains(series))
    }
}
