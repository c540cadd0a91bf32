import Administration
import HTTPMessages
import HTTPServing
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

@Suite struct HealthTests {
    /// The degraded parts, as the test sets them.
    private final class Parts: Sendable {
        let now = Mutex<[Degradation]>([])

        func set(_ degradations: [Degradation]) { now.withLock { $0 = degradations } }

        var source: DegradationSource { DegradationSource([{ [self] in now.withLock { $0 } }]) }
    }

    private let parts = Parts()

    private func degradation(_ part: DegradedPart, stops: Bool) -> Degradation {
        Degradation(part: part, cause: "because of \(part.rawValue)", stopsLicenses: stops)
    }

    private func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    /// A node that can issue any license at all is ready for requests, and reports on the admin listener which parts
    /// are degraded.
    @Test(arguments: DegradedPart.allCases)
    func wantsRequestsWhileItCanIssueAnyLicense(part: DegradedPart) {
        let health = Health(degradations: parts.source)
        health.setReady(true)
        let id = RequestID(1)
        for stops in [false, true, false] {
            parts.set([degradation(part, stops: stops)])
            let status: HTTPStatus = stops ? .serviceUnavailable : .ok
            #expect(health.readyResponse(id).status == status && health.detailedReadyResponse(id).status == status)
            #expect(text(health.readyResponse(id)) == (stops ? "not ready\n" : "ready\n"))
            #expect(text(health.detailedReadyResponse(id)).hasSuffix("degraded: \(part.rawValue)\n"))
        }
        parts.set([])
        #expect(text(health.detailedReadyResponse(id)) == "ready\n")
        health.setReady(false)
        #expect(health.readyResponse(id).status == .serviceUnavailable)
    }

    /// What operators see agrees with `/readyz`, and says what to do.
    @Test(arguments: DegradedPart.allCases, [false, true])
    func explainsItsCondition(part: DegradedPart, stops: Bool) {
        let health = Health(degradations: parts.source)
        let now = (wall: WallTime(seconds: 1000), monotonic: MonotonicTime(nanoseconds: 0))
        #expect(!health.condition(now: now).isReady && !health.condition(now: now).isStopping)
        health.setReady(true)
        parts.set([degradation(part, stops: stops)])
        let condition = health.condition(now: now)
        #expect(condition.isReady == !stops)
        #expect(condition.readiness == (stops ? "not ready: no license can be issued: \(part.rawValue)" : "ready"))
        #expect(condition.degraded.map(\.name) == [part.rawValue])
        #expect(condition.degraded.allSatisfy { $0.cause == "because of \(part.rawValue)" && $0.remedy.hasSuffix(".") })
        health.setReady(false)
        #expect(health.condition(now: now).isStopping)
    }

    @Test func namesEachPartOnceAndInOneOrder() {
        let health = Health(degradations: parts.source)
        health.setReady(true)
        parts.set([
            degradation(.credentials, stops: false), degradation(.ledger, stops: true),
            degradation(.postgreSQL, stops: false), degradation(.ledger, stops: false),
        ])
        let response = health.detailedReadyResponse(RequestID(1))
        #expect(text(response) == "not ready\ndegraded: postgresql ledger credentials\n")
    }

    @Test func countsEveryPartAtAllTimes() throws {
        let metrics = ServiceMetrics(registry: MetricsRegistry(), rsaOperations: RSAOperationCount())
        metrics.register(parts.source)
        for degraded in [nil] + DegradedPart.allCases.map(Optional.some) {
            parts.set(degraded.map { [degradation($0, stops: false)] } ?? [])
            let text = try MetricsText(parsing: metrics.registry.render())
            for part in DegradedPart.allCases {
                #expect(text["latchkey_degraded{part=\"\(part.rawValue)\"}"] == (part == degraded ? 1 : 0))
            }
        }
    }

    @Test func logsWhatBeginsAndWhatEnds() {
        let sink = MemoryLogSink()
        let logger = Logger(level: .info, sink: sink)
        let log = DegradationLog(parts.source, logger: logger)
        log.look()
        parts.set([degradation(.ledger, stops: true)])
        for _ in 0..<3 { log.look() }
        parts.set([])
        for _ in 0..<3 { log.look() }
        logger.flush()
        let lines = sink.lines
        #expect(lines.count == 2)
        #expect(lines.first?.contains(#""event":"degraded""#) == true)
        #expect(lines.first?.contains("because of ledger") == true)
        #expect(lines.last?.contains(#""event":"recovered""#) == true)
    }

    /// The second in which something began is the same in every answer, wherever in a second the answers are.
    @Test func tellsOneBeginning() {
        let began = WallTime(seconds: 1000, nanoseconds: 700_000_000)
        for milliseconds in stride(from: Int64(0), to: 3000, by: 50) {
            let total = Int64(began.nanoseconds) / 1_000_000 + milliseconds
            let now = WallTime(seconds: 1000 + total / 1000, nanoseconds: UInt32(total % 1000) * 1_000_000)
            #expect(now.second(before: .milliseconds(milliseconds)) == 1000)
        }
    }
}
