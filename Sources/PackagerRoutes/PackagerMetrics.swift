import Administration
import Synchronization
package import Telemetry

/// Counts the requests of packagers, and the keys that they get.
///
/// The names of packagers come only from the configuration, so the number of series is bounded. A packager that is
/// removed from the configuration keeps its series until the daemon ends.
package final class PackagerMetrics: Sendable {
    package enum Interface: String, Sendable, CaseIterable {
        case speke1 = "speke-1.0"
        case speke20 = "speke-2.0"
        case speke21 = "speke-2.1"
        /// `/v1/keys`, with every format of the answer.
        case keys
    }

    package enum Outcome: String, Sendable, CaseIterable {
        case served
        case refused
        /// Refused by a rate limit, or because too many requests wait.
        case slowed
        /// Not served because of a fault of the server.
        case failed
    }

    private struct Request: Hashable {
        let packager: String
        let interface: Interface
        let outcome: Outcome
    }

    private struct Key: Hashable {
        let packager: String
        let outcome: DeliveredKey.Outcome
    }

    private let requests = Mutex<[Request: UInt64]>([:])
    private let keys = Mutex<[Key: UInt64]>([:])
    /// Counted by the gate.
    package let refusedCredentials: MetricFamily<PackagerGate.CredentialRefusal, Counter>

    package init(in registry: MetricsRegistry) {
        refusedCredentials = registry.counters(
            "latchkey_packager_credentials_refused_total",
            help: "Wrong secrets of packagers; those over the limit of their network are slowed.",
            by: PackagerGate.CredentialRefusal.self)
        registry.series(
            "latchkey_packager_requests_total", help: "Requests of packagers, by interface and outcome.",
            isCounter: true, labels: ["packager", "interface", "outcome"]
        ) { [self] in
            requests.withLock { $0 }
                .map { ([$0.packager, $0.interface.rawValue, $0.outcome.rawValue], Double($1)) }
        }
        registry.series(
            "latchkey_packager_keys_total",
            help: "Content keys that packagers were given, by outcome.",
            isCounter: true, labels: ["packager", "outcome"]
        ) { [self] in
            keys.withLock { $0 }.map { ([$0.packager, $0.outcome.rawValue], Double($1)) }
        }
    }

    package func asked(_ packager: String, _ interface: Interface, _ outcome: Outcome) {
        requests.withLock { $0[Request(packager: packager, interface: interface, outcome: outcome), default: 0] += 1 }
    }

    func gave(_ packager: String, found count: Int) {
        keys.withLock { $0[Key(packager: packager, outcome: .found), default: 0] += UInt64(count) }
    }

    func gave(_ packager: String, _ outcomes: [DeliveredKey.Outcome]) {
        keys.withLock { keys in
            // Counts runs of equal outcomes: nearly always all of them are equal.
            var rest = outcomes[...]
            while let outcome = rest.first {
                let count = rest.prefix { $0 == outcome }.count
                keys[Key(packager: packager, outcome: outcome), default: 0] += UInt64(count)
                rest = rest.dropFirst(count)
            }
        }
    }
}
