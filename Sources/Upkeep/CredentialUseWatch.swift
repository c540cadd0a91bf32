package import FairPlay
import Synchronization
package import Telemetry

/// Knows when each credential was last used, although a request only counts: whenever it looks, a count that has grown
/// since the last look means a use at this time.
///
/// It looks every few seconds and before each answer with metrics, so a time is late by at most `pause`.
package final class CredentialUseWatch: Sendable {
    package static let pause: Duration = .seconds(10)

    private struct Seen {
        var count: UInt64
        /// In seconds since 1970.
        var lastUse: Int64?
    }

    private let credentials: @Sendable () -> CredentialSet
    private let clock: any WallClock
    /// By the name of the credential; only of those that are configured.
    private let seen = Mutex<[String: Seen]>([:])

    package init(_ credentials: @escaping @Sendable () -> CredentialSet, clock: any WallClock) {
        self.credentials = credentials
        self.clock = clock
    }

    /// Brings the times up to date, and gives them by the names of the credentials that were used since the start.
    @discardableResult
    package func look() -> [String: Int64] {
        let now = clock.wallTime.seconds
        let counts = credentials().credentials.map { ($0.name, $0.use.requestCount) }
        return seen.withLock { seen in
            var next: [String: Seen] = [:]
            for (name, count) in counts {
                // A credential that was away for a while counts from 0 again.
                let before = seen[name].flatMap { $0.count <= count ? $0 : nil } ?? Seen(count: 0)
                next[name] = count > before.count ? Seen(count: count, lastUse: now) : before
            }
            seen = next
            return next.compactMapValues(\.lastUse)
        }
    }

    package func register(in registry: MetricsRegistry) {
        registry.series(
            "latchkey_credential_requests_total",
            help: "SPCs with a good token that name a credential, by credential.", isCounter: true,
            labels: ["credential"]
        ) { [credentials] in
            credentials().credentials.map { ([$0.name], Double($0.use.requestCount)) }
        }
        registry.series(
            "latchkey_credential_last_use_timestamp_seconds",
            help: "When an SPC named a credential last, to 10 s; absent if none has since the start.", isCounter: false,
            labels: ["credential"]
        ) { [self] in
            look().map { ([$0.key], Double($0.value)) }
        }
    }
}
