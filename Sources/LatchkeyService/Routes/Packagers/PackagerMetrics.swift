import Administration
import Synchronization
import Telemetry

/// What packagers ask for and get. The names of packagers come from the configuration alone, so that the number of
/// series is bounded; a packager that is taken out keeps its own until the daemon ends.
final class PackagerMetrics: Sendable {
    enum Interface: String, Sendable, CaseIterable {
        case speke1 = "speke-1.0"
        case speke20 = "speke-2.0"
        case speke21 = "speke-2.1"
        /// `/v1/keys`, with every format of the answer.
        case keys
    }

    enum Outcome: String, Sendable, CaseIterable {
        case served
        case refused
        /// Refused by a rate, or because too many requests wait.
        case slowed
        /// Not served because of a fault of ours.
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

    func register(in registry: MetricsRegistry) {
        registry.series(
            "latchkey_packager_requests_total", help: "Requests of packagers, by interface and outcome.",
            isCounter: true, labels: ["packager", "interface", "outcome"]
        ) { [self] in
            requests.withLock { $0 }
                .map { ([$0.packager, $0.interface.rawValue, $0.outcome.rawValue], Double($1)) }
        }
        registry.series(
            "latchkey_packager_keys_total",
            help: "Content keys that packagers were given, by what became of the request.",
            isCounter: true, labels: ["packager", "outcome"]
        ) { [self] in
            keys.withLock { $0 }.map { ([$0.packager, $0.outcome.rawValue], Double($1)) }
        }
    }

    func asked(_ packager: String, _ interface: Interface, _ outcome: Outcome) {
        requests.withLock { $0[Request(packager: packager, interface: interface, outcome: outcome), default: 0] += 1 }
    }

    func gave(_ packager: String, found count: Int) {
        keys.withLock { $0[Key(packager: packager, outcome: .found), default: 0] += UInt64(count) }
    }

    func gave(_ packager: String, _ outcomes: [DeliveredKey.Outcome]) {
        keys.withLock { keys in
            // Nearly always all of them are the same.
            var rest = outcomes[...]
            while let outcome = rest.first {
                let count = rest.prefix { $0 == outcome }.count
                keys[Key(packager: packager, outcome: outcome), default: 0] += UInt64(count)
                rest = rest.dropFirst(count)
            }
        }
    }
}
