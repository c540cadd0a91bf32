import EventLoops
import FairPlay
import RouteKit
import Synchronization
import Telemetry

/// Says once a day which certificates end soon or have ended, so that a daemon that runs for months says it too.
package final class CertificateWatch: Sendable {
    /// How long before its end a certificate is named, in seconds: 30 days.
    static let notice = CredentialWarning.expiryNotice
    private static let pause: Duration = .seconds(86_400)

    private let certificates: @Sendable () -> [ServedCertificate]
    private let logger: Logger
    private let clock: any WallClock
    private let isStopped = Atomic<Bool>(false)

    package init(_ certificates: @escaping @Sendable () -> [ServedCertificate], logger: Logger, clock: any WallClock) {
        self.certificates = certificates
        self.logger = logger
        self.clock = clock
    }

    /// Looks a first time after a day: the start says it by itself.
    package func start(on loop: LoopContext) {
        _ = loop.execute { [self] in
            _ = loop.schedule(after: Self.pause) { [self] in
                guard !isStopped.load(ordering: .relaxed) else { return }
                look()
                start(on: loop)
            }
        }
    }

    package func stop() { isStopped.store(true, ordering: .relaxed) }

    package func look() {
        let now = clock.wallTime.seconds
        for certificate in certificates().sorted(by: { $0.end < $1.end }) where certificate.end - now <= Self.notice {
            logger.warning(
                certificate.end < now ? "certificate_expired" : "certificate_expiring",
                [
                    .string("kind", certificate.kind.rawValue), .string("name", certificate.name),
                    .integer("days_left", Int((certificate.end - now) / 86_400)),
                ])
        }
    }
}
