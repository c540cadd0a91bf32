import FairPlay
package import RouteKit
package import Telemetry

/// Says once a day which certificates end soon or have ended, so that a daemon that runs for months says it too.
package final class CertificateWatch: Sendable {
    /// How long before its end a certificate is named, in seconds: 30 days.
    static let notice = CredentialWarning.expiryNotice
    /// The time between two looks, and before the first one: the start says it by itself.
    package static let pause: Duration = .seconds(86_400)

    private let certificates: @Sendable () -> [ServedCertificate]
    private let logger: Logger
    private let clock: any WallClock

    package init(_ certificates: @escaping @Sendable () -> [ServedCertificate], logger: Logger, clock: any WallClock) {
        self.certificates = certificates
        self.logger = logger
        self.clock = clock
    }

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
